//! Sets up the real Flow in a folder: a virtual environment with the pinned packages, the system's browser, and a bundle of the clinic.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Instant;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{READY, Ready};
use crate::run::clinic::Clinic;

/// What is installed, and the program that makes it ready.
#[derive(Debug, Clone, Copy)]
pub struct Recipe {
    requirements: &'static str,
    prepare: &'static str,
}

#[derive(Debug, thiserror::Error)]
pub enum SetUpFault {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("{what} ended with {status}")]
    Failed { what: &'static str, status: ExitStatus },
    #[error("the interpreter of this Flow can't be told from its command")]
    NoInterpreter,
    #[error("no Chromium was found")]
    NoBrowser,
    #[error("the script that prepares Flow said something that can't be read")]
    Garbled,
}

const NO_BROWSER: i32 = 3;

impl Recipe {
    pub fn embedded() -> Self {
        Self {
            requirements: include_str!("../../real-flow/requirements.txt"),
            prepare: include_str!("../../real-flow/prepare.py"),
        }
    }

    pub fn digest(self) -> String {
        let digest =
            Sha256::new().chain_update(self.requirements).chain_update([0]).chain_update(self.prepare).finalize();
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Everything that is missing, in order; nothing that is there already.
pub fn set_up(folder: &Path, python: &str, recipe: Recipe) -> Result<Ready, SetUpFault> {
    if let Some(ready) = super::ready_in(folder).filter(|ready| ready.recipe == recipe.digest()) {
        return Ok(ready);
    }
    fs::create_dir_all(folder)?;
    let mut seconds = BTreeMap::new();
    let own_python = folder.join("venv/bin/python");
    timed(&mut seconds, "environment", || {
        succeed("python -m venv", Command::new(python).args(["-m", "venv", "--clear"]).arg(folder.join("venv")))
    })?;
    let requirements = folder.join("requirements.txt");
    fs::write(&requirements, recipe.requirements)?;
    timed(&mut seconds, "packages", || {
        let mut pip = Command::new(&own_python);
        succeed("pip install", pip.args(["-m", "pip", "install", "--quiet", "--requirement"]).arg(&requirements))
    })?;
    let prepared = prepare(folder, &own_python, recipe)?;
    let text = |key: &str| prepared[key].as_str().map(str::to_owned).ok_or(SetUpFault::Garbled);
    let parts = prepared["seconds"].as_object().ok_or(SetUpFault::Garbled)?;
    seconds.extend(parts.iter().filter_map(|(part, took)| Some((part.clone(), took.as_f64()?))));
    let ready =
        Ready { recipe: recipe.digest(), flow_version: text("flow_version")?, browser: text("browser")?, seconds };
    fs::write(folder.join(READY), serde_json::to_string_pretty(&ready).map_err(|_| SetUpFault::Garbled)?)?;
    Ok(ready)
}

/// A browser and a bundle for a Flow that was installed elsewhere; nothing where they are there for this version already.
pub fn prepare_named(folder: &Path, python: &Path, recipe: Recipe) -> Result<Ready, SetUpFault> {
    if let Some(ready) = super::ready_in(folder).filter(|ready| ready.recipe == recipe.digest()) {
        return Ok(ready);
    }
    fs::create_dir_all(folder)?;
    let prepared = prepare(folder, python, recipe)?;
    let text = |key: &str| prepared[key].as_str().map(str::to_owned).ok_or(SetUpFault::Garbled);
    let ready = Ready {
        recipe: recipe.digest(),
        flow_version: text("flow_version")?,
        browser: text("browser")?,
        seconds: BTreeMap::new(),
    };
    fs::write(folder.join(READY), serde_json::to_string_pretty(&ready).map_err(|_| SetUpFault::Garbled)?)?;
    Ok(ready)
}

fn prepare(folder: &Path, python: &Path, recipe: Recipe) -> Result<Value, SetUpFault> {
    let clinic = Clinic::start(&folder.join("clinic.jsonl"), false)?;
    let output = Command::new(python)
        .args(["-c", recipe.prepare, "--url", &clinic.url, "--browsers"])
        .arg(folder.join("browsers"))
        .arg("--bundle")
        .arg(folder.join("bundle"))
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()?;
    drop(clinic);
    fs::remove_file(folder.join("clinic.jsonl"))?;
    match output.status.code() {
        Some(0) => {
            let said = String::from_utf8_lossy(&output.stdout).lines().last().map(str::to_owned).unwrap_or_default();
            serde_json::from_str(&said).map_err(|_| SetUpFault::Garbled)
        }
        Some(NO_BROWSER) => Err(SetUpFault::NoBrowser),
        _ => Err(SetUpFault::Failed { what: "the script that prepares Flow", status: output.status }),
    }
}

fn succeed(what: &'static str, command: &mut Command) -> Result<(), SetUpFault> {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status()?;
    if status.success() { Ok(()) } else { Err(SetUpFault::Failed { what, status }) }
}

fn timed<T>(
    seconds: &mut BTreeMap<String, f64>,
    part: &str,
    work: impl FnOnce() -> Result<T, SetUpFault>,
) -> Result<T, SetUpFault> {
    let began = Instant::now();
    let done = work()?;
    seconds.insert(part.to_owned(), began.elapsed().as_secs_f64());
    Ok(done)
}
