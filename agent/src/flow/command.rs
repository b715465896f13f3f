//! Flow's command line for one run. What the operator fixed at start can't be changed by a call.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::refusal::Refusal;

/// What the operator fixed for every run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FlowSettings {
    pub url: Option<String>,
    pub config: Option<PathBuf>,
    pub policy: Option<String>,
    pub approval_mode: Option<String>,
    pub extra: Vec<String>,
}

/// The program that is started, and what every run is started with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowCommand {
    words: Vec<String>,
    settings: FlowSettings,
}

/// Flags that the agent sets itself, and the one that no run path passes. Source: *Modes and tool registration*, "No run path
/// passes --approve-unverified-writes".
const RESERVED: [&str; 11] = [
    "--run-dir",
    "--params-file",
    "--param",
    "--url",
    "--config",
    "--policy",
    "--approval-mode",
    "--approve-unverified-writes",
    "--dry-run",
    "--explain",
    "--cloud-execution-id",
];
/// Flow's parser accepts any unambiguous beginning of a flag; shorter ones than this are ambiguous or mean help.
const SHORTEST_ABBREVIATION: usize = "--a".len();

impl FlowCommand {
    pub fn new(words: &str, settings: FlowSettings) -> Result<Self, Refusal> {
        let words = shlex::split(words).filter(|words| !words.is_empty()).ok_or_else(|| {
            Refusal::new("--flow-cli isn't a command", "write it as you would in a shell, with quotes closed")
        })?;
        if let Some(flag) = settings.extra.iter().find_map(|word| reserved(word)) {
            return Err(Refusal::new(
                format!("--extra-run-arg may not carry {flag}: the agent sets that itself or never passes it"),
                "use serve's own flag of that name where there is one",
            ));
        }
        Ok(Self { words, settings })
    }

    /// The command of an engine that named its words itself.
    pub fn of_words(words: Vec<String>, settings: FlowSettings) -> Self {
        Self { words, settings }
    }

    /// The words that start Flow, before its verb.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// What the operator fixed, for the digest of the policy.
    pub fn facts(&self) -> Value {
        let settings = &self.settings;
        json!({
            "words": self.words,
            "url": settings.url,
            "config": settings.config,
            "policy": settings.policy,
            "approval_mode": settings.approval_mode,
            "extra": settings.extra,
        })
    }

    pub fn url(&self) -> Option<&str> {
        self.settings.url.as_deref()
    }

    pub fn config(&self) -> Option<&Path> {
        self.settings.config.as_deref()
    }

    pub fn settings(&self) -> &FlowSettings {
        &self.settings
    }

    pub fn approval_mode(&self) -> Option<&str> {
        self.settings.approval_mode.as_deref()
    }

    /// Whether this Flow lists `--approval-mode` among the flags of `run`. One that can't be asked has none.
    pub fn knows_approval_modes(&self) -> bool {
        let Some((program, arguments)) = self.words.split_first() else { return false };
        let help = Command::new(program).args(arguments).args(["run", "--help"]).stdin(Stdio::null()).output();
        help.is_ok_and(|help| String::from_utf8_lossy(&help.stdout).contains("--approval-mode"))
    }

    /// The command for one run.
    pub fn for_run(&self, bundle: &Path, run_dir: &Path, params_file: &Path) -> Vec<String> {
        let url = self.settings.url.as_deref().map(url_word);
        self.with_url_word(bundle, run_dir, params_file, url)
    }

    /// The command for one run whose address isn't the operator's: `url_word` takes the whole place of it.
    pub fn for_run_elsewhere(
        &self,
        bundle: &Path,
        run_dir: &Path,
        params_file: &Path,
        url_word: String,
    ) -> Vec<String> {
        self.with_url_word(bundle, run_dir, params_file, Some(url_word))
    }

    /// The command that asks whether the operator's policy certifies a bundle; `None` where there is none to ask about.
    pub fn for_certify(&self, bundle: &Path) -> Option<Vec<String>> {
        let settings = &self.settings;
        let policy = settings.policy.as_ref().map(|policy| format!("--policy={policy}"));
        let by = policy.or_else(|| settings.config.as_deref().map(|file| format!("--config={}", text(file))))?;
        Some([self.words.as_slice(), &["certify".to_owned(), text(bundle), by]].concat())
    }

    fn with_url_word(
        &self,
        bundle: &Path,
        run_dir: &Path,
        params_file: &Path,
        url_word: Option<String>,
    ) -> Vec<String> {
        let mut argv = self.words.clone();
        argv.extend(["run".to_owned(), text(bundle), "--run-dir".to_owned(), text(run_dir)]);
        argv.extend(["--params-file".to_owned(), text(params_file)]);
        argv.extend(url_word);
        let settings = &self.settings;
        let fixed = [
            ("--config", settings.config.as_deref().map(text)),
            ("--policy", settings.policy.clone()),
            ("--approval-mode", settings.approval_mode.clone()),
        ];
        for (flag, value) in fixed {
            argv.extend(value.map(|value| format!("{flag}={value}")));
        }
        argv.extend(settings.extra.iter().cloned());
        argv
    }
}

/// One word, so that no address can be read as a flag.
pub fn url_word(url: &str) -> String {
    format!("--url={url}")
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn reserved(word: &str) -> Option<&'static str> {
    let flag = word.split('=').next().unwrap_or_default();
    let abbreviates = |known: &&str| flag.len() >= SHORTEST_ABBREVIATION && known.starts_with(flag);
    RESERVED.into_iter().find(abbreviates)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_extra(word: &str) -> Result<FlowCommand, Refusal> {
        FlowCommand::new("flow", FlowSettings { extra: vec![word.to_owned()], ..FlowSettings::default() })
    }

    #[test]
    fn a_run_is_started_with_what_the_operator_fixed() {
        let settings = FlowSettings {
            url: Some("http://127.0.0.1:1/".to_owned()),
            config: Some("/c.yaml".into()),
            policy: Some("clinical-write".to_owned()),
            approval_mode: Some("each_item".to_owned()),
            extra: vec!["--durable".to_owned()],
        };
        let command = FlowCommand::new("'a program' -m flow", settings);
        let argv = command.map(|command| command.for_run(Path::new("/b"), Path::new("/r"), Path::new("/p")));
        let expected = "a program|-m|flow|run|/b|--run-dir|/r|--params-file|/p|--url=http://127.0.0.1:1/|--config=/c.yaml\
                        |--policy=clinical-write|--approval-mode=each_item|--durable";
        assert_eq!(argv.map(|argv| argv.join("|")), Ok(expected.to_owned()));
    }

    #[test]
    fn an_address_of_a_call_takes_the_place_of_the_operators() {
        let settings = FlowSettings { url: Some("http://127.0.0.1:1/".to_owned()), ..FlowSettings::default() };
        let command = FlowCommand::new("flow", settings);
        let paths = [Path::new("/b"), Path::new("/r"), Path::new("/p")];
        let argv = command.map(|it| it.for_run_elsewhere(paths[0], paths[1], paths[2], "@word".to_owned()).join("|"));
        assert_eq!(argv, Ok("flow|run|/b|--run-dir|/r|--params-file|/p|@word".to_owned()));
    }

    #[test]
    fn a_bundle_is_certified_under_the_policy_or_else_the_deployment_file() {
        let words = |policy: Option<&str>, config: Option<&str>| {
            let settings = FlowSettings {
                policy: policy.map(str::to_owned),
                config: config.map(PathBuf::from),
                ..FlowSettings::default()
            };
            let command = FlowCommand::new("flow -x", settings);
            command.map(|command| command.for_certify(Path::new("/b")).map(|words| words.join("|")))
        };
        assert_eq!(words(None, None), Ok(None));
        assert_eq!(words(Some("p"), Some("/c")), Ok(Some("flow|-x|certify|/b|--policy=p".to_owned())));
        assert_eq!(words(None, Some("/c")), Ok(Some("flow|-x|certify|/b|--config=/c".to_owned())));
    }

    #[test]
    fn no_extra_word_reaches_a_flag_that_the_agent_owns_even_abbreviated() {
        for word in
            ["--approve-unverified-writes", "--approve", "--run-dir=/x", "--params-f", "--par", "--explain", "--dry"]
        {
            assert!(with_extra(word).is_err(), "{word}");
        }
        for word in ["--durable", "--profile=standard", "--allow-unencrypted", "value", "-x"] {
            assert!(with_extra(word).is_ok(), "{word}");
        }
    }

    #[test]
    fn a_command_with_an_open_quote_or_no_word_is_refused() {
        assert!(FlowCommand::new("'open", FlowSettings::default()).is_err());
        assert!(FlowCommand::new("  ", FlowSettings::default()).is_err());
    }
}
