//! The stand-in's own settings: flags before the verb, else the environment.

use std::path::{Path, PathBuf};

use crate::journal::Journal;
use crate::script::{SCRIPT, Script, ScriptError};

/// Where the script, the journal and the control folder are.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    pub script: Option<PathBuf>,
    pub journal: Option<PathBuf>,
    pub control: Option<PathBuf>,
}

/// Takes the leading settings off a command line.
pub fn settings(args: &[String]) -> Result<(Settings, &[String]), String> {
    let mut settings = Settings {
        script: from_env("FLOW_FAKE_SCRIPT"),
        journal: from_env("FLOW_FAKE_JOURNAL"),
        control: from_env("FLOW_FAKE_CONTROL"),
    };
    let mut rest = args;
    while let Some((first, after)) = rest.split_first() {
        let (name, attached) = match first.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (first.as_str(), None),
        };
        let slot = match name {
            "--script" => &mut settings.script,
            "--journal" => &mut settings.journal,
            "--control" => &mut settings.control,
            _ => break,
        };
        let (value, next) = match (attached, after.split_first()) {
            (Some(value), _) => (value, after),
            (None, Some((value, next))) => (value.as_str(), next),
            (None, None) => return Err(format!("argument {name}: expected one argument")),
        };
        *slot = Some(PathBuf::from(value));
        rest = next;
    }
    Ok((settings, rest))
}

impl Settings {
    /// The script that is set, else the one beside the bundle's workflow, else none.
    pub fn load_script(&self, bundle: Option<&Path>) -> Result<Option<Script>, ScriptError> {
        let beside = bundle.map(|bundle| bundle.join(SCRIPT)).filter(|path| path.is_file());
        let Some(path) = self.script.clone().or(beside) else { return Ok(None) };
        let text =
            std::fs::read(&path).map_err(|error| ScriptError::Unreadable(format!("{}: {error}", path.display())))?;
        Script::parse(&text).map(Some)
    }

    pub fn open_journal(&self) -> Result<Journal, ScriptError> {
        Journal::open(self.journal.as_deref()).map_err(|source| ScriptError::Io { name: "journal", source })
    }
}

fn from_env(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}
