//! What may begin: the policy in force, its version, and the order in which rules win. Source: lifecycle, *Policy and authority version*.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use super::canonical::open_digest;
use super::store::{Control, Store, StoreFault};
use super::types::Code;
use crate::contract::outcome::Mode;
use crate::contract::reason::Reason;
use crate::flow::canonical::sha256_hex;

/// The policy of one server: how it was started, and what is looked at anew for every call.
#[derive(Debug)]
pub struct Policy {
    /// The effective options, canonical in order.
    options: Value,
    mode: Mode,
    config: Option<PathBuf>,
    /// The effective account has a name. Nobody else could answer for an action.
    has_authority: bool,
    latest: Mutex<Option<Arc<InForce>>>,
}

/// The policy as it stands at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InForce {
    pub version: i64,
    pub control_seq: i64,
    pub config_digest: Option<String>,
    /// An operator has switched all runs off.
    pub all_revoked: bool,
    /// Public names of workflows that an operator has switched off.
    pub revoked: BTreeSet<String>,
    pub has_authority: bool,
}

/// What a decision is made of. Source: lifecycle, B02.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rules {
    /// What can't be done at all, whoever asks.
    pub hard_constraint: Option<Code>,
    pub has_authority: bool,
    /// The server was started without runs.
    pub outside_mode: bool,
    pub denied: Option<Code>,
    /// A yes is asked for first.
    pub asks: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    Deny(Reason, Option<Code>),
    Ask,
    Allow,
}

/// Hard constraint, authority, mode, explicit denial, ask, allow: the first that speaks wins.
pub fn decide(rules: Rules) -> Decision {
    match rules {
        Rules { hard_constraint: Some(code), .. } => Decision::Deny(Reason::PolicyRefused, Some(code)),
        Rules { has_authority: false, .. } => Decision::Deny(Reason::PolicyRefused, Some(Code::AuthorityMissing)),
        Rules { outside_mode: true, .. } => Decision::Deny(Reason::RunsDisabled, None),
        Rules { denied: Some(code), .. } => Decision::Deny(Reason::RunsDisabled, Some(code)),
        Rules { asks: true, .. } => Decision::Ask,
        Rules { .. } => Decision::Allow,
    }
}

impl Policy {
    pub fn new(options: Value, mode: Mode, config: Option<PathBuf>, has_authority: bool) -> Self {
        Self { options, mode, config, has_authority, latest: Mutex::default() }
    }

    /// Looks at the operator's switches and the configuration, and names the version of what they come to.
    pub fn in_force(&self, store: &Store) -> Result<Arc<InForce>, StoreFault> {
        let (control_seq, config_digest) = (store.control_seq()?, self.config_digest());
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*latest
            && (known.control_seq, &known.config_digest) == (control_seq, &config_digest)
        {
            return Ok(Arc::clone(known));
        }
        let off: Vec<Control> = store.controls()?.into_iter().filter(|control| control.disabled).collect();
        let revoked: BTreeSet<String> = off.iter().filter_map(|control| control.workflow.clone()).collect();
        let all_revoked = off.iter().any(|control| control.workflow.is_none());
        let facts = json!({
            "options": self.options,
            "config": config_digest,
            "controls": { "seq": control_seq, "all": all_revoked, "workflows": revoked },
        });
        let version = store.policy_version(&open_digest(&facts), control_seq, self.mode)?;
        let in_force =
            InForce { version, control_seq, config_digest, all_revoked, revoked, has_authority: self.has_authority };
        Ok(Arc::clone(latest.insert(Arc::new(in_force))))
    }

    /// The configuration that Flow would read now.
    pub fn config_digest(&self) -> Option<String> {
        let bytes = std::fs::read(self.config.as_ref()?).unwrap_or_default();
        Some(sha256_hex(&bytes))
    }
}

impl InForce {
    /// Whether an operator has switched off what is to run.
    pub fn denies(&self, workflow: &str, public_id: &str) -> Option<Code> {
        if self.all_revoked {
            return Some(Code::RunsRevoked);
        }
        let named = self.revoked.contains(workflow) || self.revoked.contains(public_id);
        named.then_some(Code::WorkflowRevoked)
    }

    /// What was true of the surroundings of a decision: two decisions under equal conditions can be compared.
    pub fn conditions(&self, bundle: Option<&str>, flow: &str) -> String {
        conditions(bundle, self.config_digest.as_deref(), flow, self.version)
    }
}

/// The digest of bundle, configuration, Flow's command and policy version.
pub fn conditions(bundle: Option<&str>, config: Option<&str>, flow: &str, version: i64) -> String {
    open_digest(&json!({ "bundle": bundle, "config": config, "flow": flow, "policy_version": version }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// B02: for each pair of rules in conflict the earlier one wins.
    #[test]
    fn the_earlier_rule_wins_over_every_later_one() {
        let steps: [fn(&mut Rules); 5] = [
            |rules| rules.hard_constraint = Some(Code::ReviewTooLarge),
            |rules| rules.has_authority = false,
            |rules| rules.outside_mode = true,
            |rules| rules.denied = Some(Code::RunsRevoked),
            |rules| rules.asks = true,
        ];
        let alone = |step: fn(&mut Rules)| {
            let mut rules = Rules { has_authority: true, ..Rules::default() };
            step(&mut rules);
            (rules, decide(rules))
        };
        for (index, earlier) in steps.iter().enumerate() {
            for later in &steps[index + 1..] {
                let (mut rules, expected) = alone(*earlier);
                later(&mut rules);
                assert_eq!(decide(rules), expected, "{rules:?}");
            }
        }
        assert_eq!(decide(Rules { has_authority: true, ..Rules::default() }), Decision::Allow);
    }
}
