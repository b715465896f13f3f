//! Which program is the bridge, and how long it may take.

use std::path::PathBuf;
use std::time::Duration;

use crate::refusal::Refusal;

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
    /// A command of its own, or else Flow's with the word `bridge`.
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
            None => flow.iter().cloned().chain(["bridge".to_owned()]).collect(),
        };
        if let Some(file) = &deployment.file {
            words.extend(["--deployment".to_owned(), file.to_string_lossy().into_owned()]);
            words.extend(deployment.url.iter().flat_map(|url| ["--url".to_owned(), url.clone()]));
        }
        Ok(Self { words, decision_within })
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
    fn an_address_goes_with_a_deployment_only() {
        let url = Some("http://127.0.0.1:1/".to_owned());
        let alone = Deployment { file: None, url: url.clone() };
        assert_eq!(words(Some("b"), &alone).as_deref(), Ok("b"));
        let both = Deployment { file: Some("/d.yaml".into()), url };
        assert_eq!(words(Some("b"), &both).as_deref(), Ok("b|--deployment|/d.yaml|--url|http://127.0.0.1:1/"));
    }
}
