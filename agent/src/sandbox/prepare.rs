//! Finding out which engine plays the sandbox, and preparing it. Blocks: everything here runs on a thread of its own.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::time::Duration;

use super::app::AppCommand;
use super::clinic::Clinic;
use super::engine::Engine;
use super::stage::{Stage, folder_in};
use super::{EngineChoice, SandboxSettings, programs};
use crate::contract::sandbox::{Lacking, SandboxEngine};
use crate::flow::bridge::command::{BridgeCommand, Deployment};

/// The programs that a run on the real app needs.
#[derive(Debug, Clone)]
pub struct Programs {
    bridge: BridgeCommand,
    app: AppCommand,
}

impl Programs {
    /// Finds them without starting any.
    pub fn find(settings: &SandboxSettings) -> Result<Self, Lacking> {
        let bridge = match &settings.bridge {
            Some(named) => named.words().first().filter(|word| programs::is_there(word)).map(|_| named.clone()),
            None => programs::ours("flow-fake").and_then(|program| {
                let words = [program.to_string_lossy().into_owned()];
                BridgeCommand::new(None, &words, &Deployment::default(), Duration::ZERO).ok()
            }),
        };
        Ok(Self {
            bridge: bridge.ok_or(Lacking::NoEngine)?,
            app: AppCommand::find(settings.app.as_deref(), settings.port).ok_or(Lacking::NoApp)?,
        })
    }
}

/// Starts engine and app and has the workflow prepared. Two servers on one folder prepare one after the other.
pub fn prepare(programs: &Programs, settings: &SandboxSettings, runs_dir: &Path) -> Result<Stage, Lacking> {
    let engine = Engine::greet(&programs.bridge)?;
    if engine.is() != SandboxEngine::Driven || wants_another(settings.choice, engine.is()) {
        return Err(Lacking::NoEngine);
    }
    let app = programs.app.start().map_err(|_| Lacking::AppNotStarted)?;
    let clinic = Clinic::new().map_err(|_| Lacking::AppNotStarted)?;
    let folder = folder_in(runs_dir);
    let _alone = alone_in(&folder).map_err(|_| Lacking::EngineFailed)?;
    let prepared = engine.prepare(&folder, &app.url(), settings.headed)?;
    Ok(Stage::new(engine.is(), prepared, settings.headed, programs.app.clone(), clinic, app))
}

fn wants_another(choice: EngineChoice, is: SandboxEngine) -> bool {
    matches!(choice, EngineChoice::Named(named) if named != is)
}

/// The system lets go of it when the file is closed, whatever the end.
fn alone_in(folder: &Path) -> io::Result<File> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let lock = File::options().create(true).truncate(false).write(true).open(folder.join("prepare.lock"))?;
    lock.lock()?;
    Ok(lock)
}
