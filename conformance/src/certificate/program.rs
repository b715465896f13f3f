//! Is this a Flow at all, which version, and which bytes: asked before anything is judged.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::run::variables::hex;

/// A program that was judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// The words that start it, without the folders of this machine.
    pub command: String,
    pub version: String,
    pub sha256: String,
    /// What was digested.
    pub of: String,
}

#[derive(Debug, thiserror::Error)]
pub enum NoProgram {
    #[error("{command} can't be started: {error}")]
    NotStarted { command: String, error: std::io::Error },
    #[error("{command} --version didn't end within {} seconds", PATIENCE.as_secs())]
    Silent { command: String },
    #[error("{command} isn't {name}: --version said {said:?} and ended with {code}")]
    Another { command: String, name: &'static str, said: String, code: String },
    #[error(
        "{command} says that it is openadapt-flow {version}, and doesn't refuse to run a bundle that isn't there: it ended with {code}"
    )]
    RunsAnything { command: String, version: String, code: String },
    #[error("{python} has no openadapt_flow")]
    NoPackage { python: String },
    #[error("{command} is openadapt-flow {version}, and {python} has {other}")]
    OtherPackage { command: String, version: String, python: String, other: String },
    #[error("{program} can't be read: {error}")]
    Unreadable { program: String, error: std::io::Error },
}

/// A Python that has to import everything may take long on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);
const IDENTIFY: &str = include_str!("../../real-flow/identify.py");

#[derive(Deserialize)]
struct Package {
    version: String,
    sha256: String,
}

/// What stands behind the words of a Flow. With an interpreter the package is digested, else the program.
pub fn flow(words: &[String], python: Option<&Path>) -> Result<Program, NoProgram> {
    let version = version(words, "openadapt-flow")?;
    let command = words.join(" ");
    let missing = env::temp_dir().join(format!("no-bundle-{}", uuid::Uuid::new_v4().simple()));
    let refused = ended(words, &["run".to_owned(), missing.display().to_string()])?;
    if refused.code != Some(2) {
        return Err(NoProgram::RunsAnything { command, version, code: refused.told() });
    }
    let Some(python) = python else {
        return Ok(Program { sha256: bytes_of(words)?, of: "the program's bytes".to_owned(), command, version });
    };
    let shown = python.display().to_string();
    let identified = ended(std::slice::from_ref(&shown), &["-c".to_owned(), IDENTIFY.to_owned()])?;
    let package: Package =
        serde_json::from_str(&identified.stdout).map_err(|_| NoProgram::NoPackage { python: shown.clone() })?;
    if package.version != version {
        return Err(NoProgram::OtherPackage { command, version, python: shown, other: package.version });
    }
    Ok(Program { command, version, sha256: package.sha256, of: "the Python files of the installed package".to_owned() })
}

pub fn agent(words: &[String]) -> Result<Program, NoProgram> {
    let version = version(words, "openadapt-agent")?;
    Ok(Program { sha256: bytes_of(words)?, of: "the program's bytes".to_owned(), command: words.join(" "), version })
}

/// The interpreter of a script that names a Python in its first line, or that stands before `-m`.
pub fn python_of(words: &[String]) -> Option<PathBuf> {
    if let Some(at) = words.iter().position(|word| word == "-m")
        && words.get(at + 1).is_some_and(|module| module == "openadapt_flow")
    {
        return found(words.first()?);
    }
    let script = fs::read(found(words.first()?)?).ok()?;
    let first = script.split(|byte| *byte == b'\n').next()?.strip_prefix(b"#!")?;
    let line = std::str::from_utf8(first).ok()?.trim();
    let speaks_of_it = script.windows(14).any(|window| window == b"openadapt_flow");
    (speaks_of_it && line.contains("python") && !line.contains(' ')).then(|| PathBuf::from(line))
}

fn version(words: &[String], name: &'static str) -> Result<String, NoProgram> {
    let said = ended(words, &["--version".to_owned()])?;
    let line = said.stdout.trim();
    let version = line.strip_prefix(name).and_then(|rest| rest.strip_prefix(' ')).map(str::to_owned);
    let plain = |version: &String| {
        version.starts_with(|first: char| first.is_ascii_digit())
            && version.len() < 40
            && !version.contains(char::is_whitespace)
    };
    match version.filter(plain).filter(|_| said.code == Some(0)) {
        Some(version) => Ok(version),
        None => {
            let first: String = line.lines().next().unwrap_or_default().chars().take(80).collect();
            Err(NoProgram::Another { command: words.join(" "), name, said: first, code: said.told() })
        }
    }
}

struct Ended {
    stdout: String,
    code: Option<i32>,
}

impl Ended {
    fn told(&self) -> String {
        self.code.map_or_else(|| "a signal".to_owned(), |code| format!("code {code}"))
    }
}

/// One start to its end, with nothing on stdin.
fn ended(words: &[String], more: &[String]) -> Result<Ended, NoProgram> {
    let command = words.join(" ");
    let not_started = |error| NoProgram::NotStarted { command: command.clone(), error };
    let Some((program, own)) = words.split_first() else {
        return Err(not_started(std::io::Error::other("there are no words")));
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(not_started)?;
    let output = runtime.block_on(async {
        let child = tokio::process::Command::from(Command::new(program))
            .args(own)
            .args(more)
            .env("OPENADAPT_FLOW_NO_AUTO_INSTALL", "1")
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output();
        tokio::time::timeout(PATIENCE, child).await
    });
    match output {
        Err(_) => Err(NoProgram::Silent { command }),
        Ok(Err(error)) => Err(not_started(error)),
        Ok(Ok(output)) => {
            Ok(Ended { stdout: String::from_utf8_lossy(&output.stdout).into_owned(), code: output.status.code() })
        }
    }
}

fn bytes_of(words: &[String]) -> Result<String, NoProgram> {
    let program = words.first().cloned().unwrap_or_default();
    let path = found(&program).unwrap_or_else(|| PathBuf::from(&program));
    let bytes = fs::read(path).map_err(|error| NoProgram::Unreadable { program, error })?;
    Ok(hex(&Sha256::digest(bytes)))
}

/// A program by its path, or on the PATH.
fn found(program: &str) -> Option<PathBuf> {
    if program.contains('/') {
        return Some(PathBuf::from(program));
    }
    env::split_paths(&env::var_os("PATH")?).map(|folder| folder.join(program)).find(|path| path.is_file())
}
