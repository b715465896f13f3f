//! A prepared engine and its app. Whoever has the turn has both to itself; runs take their turns in the order in which they came.

use std::path::{Path, PathBuf};

use tokio::sync::{Mutex, MutexGuard};

use super::app::{App, AppCommand, url_at};
use super::case::query;
use super::clinic;
pub use super::clinic::Unreachable;
use super::engine::Prepared;
use crate::contract::sandbox::{SandboxCase, SandboxEngine};
use crate::flow::command::{FlowCommand, FlowSettings};

/// A port of this computer that only the system could open: nothing listens there.
const NOBODY: u16 = 1;

#[derive(Debug)]
pub struct Stage {
    engine: SandboxEngine,
    prepared: Prepared,
    headed: bool,
    command: AppCommand,
    app: Mutex<Option<App>>,
}

/// The right to use the app, until it is dropped.
pub struct Turn<'a> {
    stage: &'a Stage,
    app: MutexGuard<'a, Option<App>>,
}

impl Stage {
    pub fn new(engine: SandboxEngine, prepared: Prepared, headed: bool, command: AppCommand, app: App) -> Self {
        Self { engine, prepared, headed, command, app: Mutex::new(Some(app)) }
    }

    pub fn engine(&self) -> SandboxEngine {
        self.engine
    }

    pub fn bundle(&self) -> &Path {
        &self.prepared.bundle
    }

    pub async fn turn(&self) -> Turn<'_> {
        Turn { app: self.app.lock().await, stage: self }
    }

    fn command_at(&self, url: String) -> FlowCommand {
        let headed = self.headed.then(|| "--headed".to_owned());
        let extra = ["--profile".to_owned(), "standard".to_owned()].into_iter().chain(headed).collect();
        FlowCommand::of_words(
            self.prepared.command.clone(),
            FlowSettings { url: Some(url), extra, ..FlowSettings::default() },
        )
    }
}

impl Turn<'_> {
    /// Makes the app ready for one run of this case, and gives back the command that plays it. Nothing was sent where that fails.
    pub async fn set(&mut self, case: SandboxCase) -> Result<FlowCommand, Unreachable> {
        let Some(query) = query(case) else {
            // Asked all the same: a result never says more than what was found out.
            let _ = clinic::is_reachable(NOBODY).await;
            return Err(Unreachable);
        };
        let port = self.running().await?;
        if clinic::made_ready(port).await.is_err() {
            self.end_app().await;
            return Err(Unreachable);
        }
        Ok(self.stage.command_at(format!("{}{query}", url_at(port))))
    }

    /// The app's port. One that has ended is started again.
    async fn running(&mut self) -> Result<u16, Unreachable> {
        if let Some(app) = self.app.as_mut()
            && !app.has_ended()
        {
            return Ok(app.port());
        }
        *self.app = None;
        let command = self.stage.command.clone();
        let started = tokio::task::spawn_blocking(move || command.start()).await;
        let app = started.ok().and_then(Result::ok).ok_or(Unreachable)?;
        Ok(self.app.insert(app).port())
    }

    /// What doesn't answer is ended, so that the next run finds a new one.
    async fn end_app(&mut self) {
        if let Some(mut app) = self.app.take() {
            let _ = tokio::task::spawn_blocking(move || app.end()).await;
        }
    }
}

/// Where the engine keeps what it prepares, below the runs folder.
pub fn folder_in(runs_dir: &Path) -> PathBuf {
    runs_dir.join("sandbox-app")
}
