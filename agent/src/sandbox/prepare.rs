//! Finding out which engine plays the sandbox, and preparing it. Blocks: everything here runs on a thread of its own.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::time::Duration;

use super::app::{App, AppCommand, url_at};
use super::engine::{Engine, Prepared};
use super::leash::Leash;
use super::stage::{Stage, folder_in};
use super::{EngineChoice, SandboxSettings, programs};
use crate::contract::sandbox::{Lacking, SandboxEngine};
use crate::flow::bridge::command::{BridgeCommand, Deployment};

/// How Flow is called where nobody says otherwise.
const FLOW: &str = "openadapt-flow";

/// The programs that a run on the real app needs.
#[derive(Debug, Clone)]
pub struct Programs {
    /// The most real one first.
    bridges: Vec<BridgeCommand>,
    app: AppCommand,
}

impl Programs {
    /// Finds them without starting any.
    pub fn find(settings: &SandboxSettings) -> Result<Self, Lacking> {
        let bridges: Vec<_> = match &settings.bridge {
            Some(named) => Some(named.clone()).into_iter().collect(),
            None => {
                let wanted = |engine| !matches!(settings.choice, EngineChoice::Named(named) if named != engine);
                let real = real_flow().filter(|_| wanted(SandboxEngine::Flow));
                let stand_in = stand_in().filter(|_| wanted(SandboxEngine::Driven));
                real.into_iter().chain(stand_in).collect()
            }
        };
        let is_there = |bridge: &BridgeCommand| bridge.words().first().is_some_and(|word| programs::is_there(word));
        let bridges: Vec<_> = bridges.into_iter().filter(is_there).collect();
        if bridges.is_empty() {
            return Err(Lacking::NoEngine);
        }
        let app = AppCommand::find(settings.app.as_deref(), settings.port).ok_or(Lacking::NoApp)?;
        Ok(Self { bridges, app })
    }
}

/// One whose interpreter can't be told isn't started to find out: it may be anything.
fn real_flow() -> Option<BridgeCommand> {
    BridgeCommand::carried(&[FLOW.to_owned()], Duration::ZERO)
}

fn stand_in() -> Option<BridgeCommand> {
    let words = [programs::ours("flow-fake")?.to_string_lossy().into_owned()];
    BridgeCommand::new(None, &words, &Deployment::default(), Duration::ZERO).ok()
}

/// Starts engine and app and has the workflow prepared, by the first engine that can. Two servers on one folder prepare one after
/// the other.
///
/// # Errors
/// What the last of the engines lacks.
pub fn prepare(
    programs: &Programs,
    settings: &SandboxSettings,
    runs_dir: &Path,
    leash: &Leash,
) -> Result<Stage, Lacking> {
    let mut app = None;
    let mut lacking = Lacking::NoEngine;
    for bridge in &programs.bridges {
        match Engine::greet(bridge, leash)
            .and_then(|engine| prepared(&engine, &programs.app, &mut app, settings, runs_dir))
        {
            Ok((engine, prepared)) => {
                let app = app.ok_or(Lacking::AppNotStarted)?;
                return Ok(Stage::new(engine, prepared, settings.headed, programs.app.clone(), app));
            }
            Err(missing) => lacking = missing,
        }
    }
    Err(lacking)
}

fn prepared(
    engine: &Engine,
    command: &AppCommand,
    app: &mut Option<App>,
    settings: &SandboxSettings,
    runs_dir: &Path,
) -> Result<(SandboxEngine, Prepared), Lacking> {
    if matches!(settings.choice, EngineChoice::Named(named) if named != engine.is()) {
        return Err(Lacking::NoEngine);
    }
    if app.is_none() {
        *app = Some(command.start().map_err(|_| Lacking::AppNotStarted)?);
    }
    let url = app.as_ref().map(|app| url_at(app.port())).ok_or(Lacking::AppNotStarted)?;
    let folder = folder_in(runs_dir);
    let _alone = alone_in(&folder).map_err(|_| Lacking::EngineFailed)?;
    Ok((engine.is(), engine.prepare(&folder, &url, settings.headed)?))
}

/// The system lets go of it when the file is closed, whatever the end.
fn alone_in(folder: &Path) -> io::Result<File> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let lock = File::options().create(true).truncate(false).write(true).open(folder.join("prepare.lock"))?;
    lock.lock()?;
    Ok(lock)
}
