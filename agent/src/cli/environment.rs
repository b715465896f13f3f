//! `serve --from-env`: what an MCP bundle's start line says with environment variables instead of flags.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::serve_options::Flags;
use crate::refusal::Refusal;
use crate::variable::{self, said};

const BUNDLES_DIR: &str = "OPENADAPT_AGENT_BUNDLES_DIR";
const ALLOW_RUN: &str = "OPENADAPT_AGENT_ALLOW_RUN";
const ALLOW_ATTENDED_ACTIONS: &str = "OPENADAPT_AGENT_ALLOW_ATTENDED_ACTIONS";
const DEPLOYMENT_CONFIG: &str = "OPENADAPT_AGENT_DEPLOYMENT_CONFIG";
const POLICY: &str = "OPENADAPT_AGENT_POLICY";
const HEADED: &str = "OPENADAPT_AGENT_HEADED";

const NAMES: [&str; 6] = [BUNDLES_DIR, ALLOW_RUN, ALLOW_ATTENDED_ACTIONS, DEPLOYMENT_CONFIG, POLICY, HEADED];

/// The variables that `--from-env` reads and that say something.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment(BTreeMap<&'static str, String>);

impl Environment {
    pub fn of_this_process() -> Self {
        Self::read(variable::of_this_process)
    }

    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Self {
        Self(NAMES.iter().filter_map(|name| Some((*name, said(&variable(name)?)?.to_owned()))).collect())
    }

    /// The flags with what the environment adds to them. A flag that was given stands.
    pub fn added_to(&self, mut flags: Flags) -> Result<Flags, Refusal> {
        flags.bundles = flags.bundles.or_else(|| self.0.get(BUNDLES_DIR).map(PathBuf::from));
        if flags.bundles.is_none() {
            return Err(Refusal::new(
                format!("--from-env was given, and {BUNDLES_DIR} isn't set"),
                "set it to the folder of compiled workflows",
            ));
        }
        flags.config = flags.config.or_else(|| self.0.get(DEPLOYMENT_CONFIG).map(PathBuf::from));
        flags.policy = flags.policy.or_else(|| self.0.get(POLICY).cloned());
        flags.allow_run |= self.switch(ALLOW_RUN)?;
        flags.allow_attended_actions |= self.switch(ALLOW_ATTENDED_ACTIONS)?;
        if self.switch(HEADED)? {
            flags.headed = true;
        }
        Ok(flags)
    }

    fn switch(&self, name: &str) -> Result<bool, Refusal> {
        match self.0.get(name).map(|value| value.to_ascii_lowercase()).as_deref() {
            None | Some("0" | "false" | "no" | "off") => Ok(false),
            Some("1" | "true" | "yes" | "on") => Ok(true),
            Some(_) => Err(Refusal::new(
                format!("{name} says neither yes nor no"),
                "write true or false; 1, yes, on, 0, no and off do as well",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> Environment {
        Environment::read(|name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn what_nobody_chose_says_nothing() {
        for nothing in ["", "  ", "${user_config.policy}"] {
            assert_eq!(environment(&[(POLICY, nothing)]), Environment::default(), "{nothing:?}");
        }
    }

    #[test]
    fn a_switch_is_yes_or_no_in_any_spelling_and_nothing_else() {
        for (word, yes) in [("1", true), ("TRUE", true), ("Yes", true), ("on", true), ("0", false), ("off", false)] {
            assert_eq!(environment(&[(ALLOW_RUN, word)]).switch(ALLOW_RUN).unwrap(), yes, "{word}");
        }
        assert!(!environment(&[]).switch(ALLOW_RUN).unwrap());
        let refusal = environment(&[(ALLOW_RUN, "maybe-s3cret")]).switch(ALLOW_RUN).unwrap_err();
        assert!(!refusal.to_string().contains("s3cret") && refusal.to_string().contains(ALLOW_RUN));
    }
}
