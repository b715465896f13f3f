//! Clients and checkers of other people, each pinned, each driving the real agent over real stdio.

pub mod list;
pub mod seen;
pub mod setup;
pub mod tee;
pub mod world;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tokio::process::Command;
use tokio::time::timeout;

use crate::run::subject::Subject;
use list::{Client, Runner};
use setup::Setup;
use world::World;

/// The slowest takes a few seconds on an idle machine.
const LIMIT: Duration = Duration::from_secs(150);

/// How one client fared.
#[derive(Debug)]
pub enum Fared {
    /// What it said of what it saw, in words.
    Well(String),
    /// It, or what crossed the wire meanwhile, wasn't as it should be.
    Badly(Vec<String>),
    /// This machine has not what it needs.
    CouldNotRun(String),
}

/// Where everything lies.
pub struct Places {
    /// This folder's scripts and lock files.
    pub scripts: PathBuf,
    /// Where they are set up.
    pub target: PathBuf,
    /// Where transcripts are kept.
    pub transcripts: PathBuf,
}

/// Runs one client, and keeps what was said on the wire and by itself.
pub async fn run(client: &Client, setup: &mut Setup, places: &Places, subject: &Subject) -> io::Result<Fared> {
    let program = match setup.of(&client.runner, places) {
        Ok(program) => program,
        Err(reason) => return Ok(Fared::CouldNotRun(reason)),
    };
    let world = World::create(subject)?;
    let wire = places.transcripts.join(format!("{}.wire.jsonl", client.name));
    fs::create_dir_all(&places.transcripts)?;
    // A transcript is of one run.
    let _not_there = fs::remove_file(&wire);
    let mut command = Command::new(&program);
    command
        .args(client.words)
        .current_dir(folder_of(&client.runner, places))
        .env("SERVER_COMMAND", serde_json::to_string(&world.command(&wire)?)?)
        .env("CLIENT_NAME", client.name)
        .env("HOME", world.home())
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .kill_on_drop(true);
    if let Some(folder) = program.parent() {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let paths = std::iter::once(folder.to_owned()).chain(std::env::split_paths(&path));
        command.env("PATH", std::env::join_paths(paths).map_err(io::Error::other)?);
    }
    let Ok(output) = timeout(LIMIT, command.output()).await else {
        return Ok(Fared::Badly(vec![format!("it did not end within {} s", LIMIT.as_secs())]));
    };
    let output = output?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complained = String::from_utf8_lossy(&output.stderr).into_owned();
    fs::write(places.transcripts.join(format!("{}.txt", client.name)), format!("{said}\n-- stderr --\n{complained}"))?;
    let told: Option<Value> = said.lines().rev().find_map(|line| serde_json::from_str(line).ok());
    let mut problems = Vec::new();
    if !output.status.success() {
        let last = complained.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        problems.push(format!("it ended with {}: {last}", output.status));
    }
    let told = told.unwrap_or_default();
    problems.extend(client.wants.iter().filter_map(|wanted| wanted.missing_in(&told)));
    problems.extend(seen::problems(&fs::read_to_string(&wire).unwrap_or_default()));
    Ok(if problems.is_empty() { Fared::Well(client.summary(&told)) } else { Fared::Badly(problems) })
}

fn folder_of(runner: &Runner, places: &Places) -> PathBuf {
    match runner {
        Runner::Python(_) => places.scripts.join("python"),
        Runner::Node => places.target.join("node"),
    }
}

/// The folder that holds the scripts: beside this crate's manifest.
pub fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("clients")
}
