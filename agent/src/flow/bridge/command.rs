//! Which program is the bridge, and how long it may take.

use std::path::PathBuf;
use std::time::Duration;

use super::interpreter::interpreter_of;
use crate::refusal::Refusal;

/// What Flow's own interpreter is given to run. Source: docs/flow-bridge.md.
const PROGRAM: &str = include_str!("flow_bridge.py");

/// How the bridge is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BridgeCommand {
    words: Vec<String>,
    decision_within: Duration,
}

/// What a bridge needs to go on in the app.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Deployment {
    pub file: Option<PathBuf>,
    pub url: Option<String>,
}

impl BridgeCommand {
    /// A command of its own; or else the program that is part of this one, run by Flow's interpreter; or else, where Flow is no
    /// Python program, Flow's command with the word `bridge`.
    pub fn new(
        named: Option<&str>,
        flow: &[String],
        deployment: &Deployment,
        decision_within: Duration,
    ) -> Result<Self, Refusal> {
        let mut words = match named {
            Some(named) => shlex::split(named).filter(|words| !words.is_empty()).ok_or_else(|| {
                Refusal::new("--flow-bridge isn't a command", "write it as you would in a shell, with quotes closed")
            })?,
            None => Self::carried(flow, decision_within)
                .map_or_else(|| flow.iter().cloned().chain(["bridge".to_owned()]).collect(), |carried| carried.words),
        };
        if let Some(file) = &deployment.file {
            words.extend(["--deployment".to_owned(), file.to_string_lossy().into_owned()]);
            words.extend(deployment.url.iter().flat_map(|url| ["--url".to_owned(), url.clone()]));
        }
        Ok(Self { words, decision_within })
    }

    /// The program that is part of this one, for a Flow whose interpreter can be told.
    pub fn carried(flow: &[String], decision_within: Duration) -> Option<Self> {
        let interpreter = interpreter_of(flow, std::env::var_os("PATH").as_deref())?;
        let words = interpreter.into_iter().chain(["-c", PROGRAM, "bridge"].map(str::to_owned)).collect();
        Some(Self { words, decision_within })
    }

    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// After this long without an answer a decision has failed.
    pub fn decision_within(&self) -> Duration {
        self.decision_within
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WITHIN: Duration = Duration::from_secs(1);

    fn of(flow: &[&str]) -> Vec<String> {
        let flow: Vec<_> = flow.iter().map(|word| (*word).to_owned()).collect();
        BridgeCommand::new(None, &flow, &Deployment::default(), WITHIN).unwrap().words
    }

    fn words(named: Option<&str>, deployment: &Deployment) -> Result<String, Refusal> {
        let flow = ["python".to_owned(), "-m".to_owned(), "flow".to_owned()];
        BridgeCommand::new(named, &flow, deployment, WITHIN).map(|command| command.words.join("|"))
    }

    #[test]
    fn the_bridge_is_flows_own_unless_another_is_named() {
        assert_eq!(words(None, &Deployment::default()).as_deref(), Ok("python|-m|flow|bridge"));
        assert_eq!(words(Some("'a b' c"), &Deployment::default()).as_deref(), Ok("a b|c"));
        assert!(words(Some(" "), &Deployment::default()).is_err());
    }

    #[test]
    fn a_flow_that_python_runs_is_spoken_for_by_the_program_that_is_part_of_this_one() {
        let words = of(&["/v/bin/python", "-m", "openadapt_flow"]);
        assert_eq!(words.iter().map(String::as_str).collect::<Vec<_>>(), ["/v/bin/python", "-c", PROGRAM, "bridge"]);
        // Longer than this a single word may not be.
        assert!(PROGRAM.len() < 128 << 10);
    }

    #[test]
    fn an_address_goes_with_a_deployment_only() {
        let url = Some("http://127.0.0.1:1/".to_owned());
        let alone = Deployment { file: None, url: url.clone() };
        assert_eq!(words(Some("b"), &alone).as_deref(), Ok("b"));
        let both = Deployment { file: Some("/d.yaml".into()), url };
        assert_eq!(words(Some("b"), &both).as_deref(), Ok("b|--deployment|/d.yaml|--url|http://127.0.0.1:1/"));
    }
}
