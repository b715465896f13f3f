//! The real Flow: where it is on this machine, and what a process needs that starts it.

mod set_up;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::run::subject::split;

pub use set_up::{Recipe, SetUpFault, set_up};

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
            .map(|words| Self { words, python: None, browsers: None, bundle: None })
            .or_else(|| Self::set_up_in(folder))
    }

    fn set_up_in(folder: &Path) -> Option<Self> {
        let ready = ready_in(folder)?;
        (ready.recipe == Recipe::embedded().digest()).then(|| Self {
            words: vec![folder.join("venv/bin/openadapt-flow").display().to_string()],
            python: Some(folder.join("venv/bin/python")),
            browsers: Some(folder.join("browsers")),
            bundle: Some(folder.join("bundle")),
        })
    }

    /// A Flow that has recorded its workflow in this folder, now or before.
    pub fn recorded_in(folder: &Path, words: &[String], python: &Path) -> Result<Self, SetUpFault> {
        let flow = Self {
            words: words.to_vec(),
            python: Some(python.to_owned()),
            browsers: Some(folder.join("browsers")),
            bundle: Some(folder.join("bundle")),
        };
        if !folder.join("bundle").is_dir() {
            std::fs::create_dir_all(folder)?;
            set_up::record(folder, python)?;
        }
        Ok(flow)
    }

    /// What its processes find in their environment.
    pub fn environment(&self) -> Vec<(String, String)> {
        let browsers = self.browsers.iter().map(|folder| ("PLAYWRIGHT_BROWSERS_PATH", folder.display().to_string()));
        let never = ("OPENADAPT_FLOW_NO_AUTO_INSTALL", "1".to_owned());
        browsers.chain([never]).map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

/// Nothing where nothing was set up to its end.
pub fn ready_in(folder: &Path) -> Option<Ready> {
    serde_json::from_slice(&std::fs::read(folder.join(READY)).ok()?).ok()
}
