//! The real Flow: where it is on this machine, and what a process needs that starts it.

mod carried;
mod set_up;
mod windowless;

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::run::subject::split;

pub use set_up::{Recipe, SetUpFault, prepare_named, set_up};

/// Names another Flow than the one that was set up here.
const VARIABLE: &str = "OPENADAPT_FLOW";
const READY: &str = "ready.json";

/// A Flow that can be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RealFlow {
    /// The words that start it.
    pub words: Vec<String>,
    /// The interpreter that it runs under, where it was set up here.
    pub python: Option<PathBuf>,
    /// Where its Playwright finds a browser; nothing: where Playwright looks by itself.
    pub browsers: Option<PathBuf>,
    /// A bundle that it made of the clinic.
    pub bundle: Option<PathBuf>,
    /// The bridge that the agent carries for it, once somebody asked for it.
    pub carried: Option<String>,
}

/// What was set up, and how long each part took.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ready {
    /// Of the pinned requirements and the script, so that a change of either sets up anew.
    pub recipe: String,
    pub flow_version: String,
    pub browser: String,
    /// By part, in seconds.
    pub seconds: std::collections::BTreeMap<String, f64>,
}

impl RealFlow {
    /// The one that the environment names, else the one that was set up in this folder.
    pub fn find(folder: &Path) -> Option<Self> {
        let named = std::env::var(VARIABLE).ok().and_then(|named| split(&named)).filter(|words| !words.is_empty());
        named
            .map(|words| Self { words, python: None, browsers: None, bundle: None, carried: None })
            .or_else(|| Self::set_up_in(folder))
    }

    fn set_up_in(folder: &Path) -> Option<Self> {
        let ready = ready_in(folder)?;
        (ready.recipe == Recipe::embedded().digest()).then(|| Self {
            words: vec![folder.join("venv/bin/openadapt-flow").display().to_string()],
            python: Some(folder.join("venv/bin/python")),
            browsers: Some(folder.join("browsers")),
            bundle: Some(folder.join("bundle")),
            carried: None,
        })
    }

    /// One that somebody names, made ready beside `folder`: a browser that it can open, and a bundle that it records itself.
    pub fn of_command(words: Vec<String>, python: Option<PathBuf>, folder: &Path) -> Result<Self, SetUpFault> {
        let python = python.or_else(|| interpreter_of(&words)).ok_or(SetUpFault::NoInterpreter)?;
        let digest =
            Sha256::new().chain_update(words.join("\0")).chain_update(python.as_os_str().as_encoded_bytes()).finalize();
        let name: String = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
        let own = folder.with_file_name(format!("real-flow-{name}"));
        prepare_named(&own, &python, Recipe::embedded())?;
        Ok(Self {
            words,
            python: Some(python),
            browsers: Some(own.join("browsers")),
            bundle: Some(own.join("bundle")),
            carried: None,
        })
    }

    /// Has the agent tell which bridge it carries. Without it there are no standard runs.
    pub fn ask_for_the_bridge(&mut self, agent: &[String]) -> io::Result<()> {
        self.carried = match &self.python {
            Some(python) => carried::carried_by(agent, python)?,
            None => None,
        };
        Ok(())
    }

    /// What its processes find in their environment.
    pub fn environment(&self) -> Vec<(String, String)> {
        let windowless = |folder: &PathBuf| windowless::of(folder).unwrap_or_else(|_| folder.clone());
        let browsers = self.browsers.iter().map(windowless);
        let browsers = browsers.map(|folder| ("PLAYWRIGHT_BROWSERS_PATH", folder.display().to_string()));
        let never = ("OPENADAPT_FLOW_NO_AUTO_INSTALL", "1".to_owned());
        browsers.chain([never]).map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

/// The interpreter of `PY -m openadapt_flow`, or of a script whose first line names one.
fn interpreter_of(words: &[String]) -> Option<PathBuf> {
    match words {
        [python, flag, _] if flag == "-m" => Some(PathBuf::from(python)),
        [script] => {
            let text = std::fs::read_to_string(script).ok()?;
            let named = text.lines().next()?.strip_prefix("#!")?.trim();
            named.contains("python").then(|| PathBuf::from(named))
        }
        _ => None,
    }
}

/// Nothing where nothing was set up to its end.
pub fn ready_in(folder: &Path) -> Option<Ready> {
    serde_json::from_slice(&std::fs::read(folder.join(READY)).ok()?).ok()
}
