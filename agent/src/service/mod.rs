//! What a call comes to: validate, gate, run, wait. Transport-free, and the only owner of the run store.

mod begin;
mod classify;
mod core;
mod describer;
mod play;
mod settle;
mod watch;

use std::path::Path;
use std::sync::Arc;

use tokio::process::{Child, Command};

use crate::bridge::arguments::{GetRunArguments, RunWorkflowArguments};
use crate::cli::ServeOptions;
use crate::contract::ids::RunId;
use crate::contract::outcome::Mode;
use crate::contract::reason::Reason;
use crate::contract::result::RunResult;
use crate::refusal::Refusal;
use crate::runs::StoreError;
use crate::sandbox::Sandbox;
use crate::workflows::Catalog;
use begin::Begun;
use core::Core;
use play::Part;
use watch::{View, Watch};

/// The service of one server.
pub struct Service {
    core: Arc<Core>,
    watch: Arc<Watch>,
}

impl Service {
    pub fn open(options: &ServeOptions) -> Result<Self, Refusal> {
        let core = Arc::new(Core::open(options)?);
        let (looking, sweeping) = (Arc::clone(&core), Arc::clone(&core));
        std::thread::spawn(move || sweeping.sweep());
        Ok(Self { watch: Watch::new(Arc::new(move |run_id: &RunId| looking.look(run_id))), core })
    }

    pub fn catalog(&self) -> &Catalog {
        self.core.catalog()
    }

    pub fn runs_enabled(&self) -> bool {
        self.core.runs_enabled()
    }

    pub fn mode(&self) -> Mode {
        self.core.mode()
    }

    pub fn sandbox(&self) -> Option<&Sandbox> {
        self.core.sandbox().map(Arc::as_ref)
    }

    /// The canonical runs folder.
    pub fn runs_dir(&self) -> &Path {
        self.core.runs_dir()
    }

    /// The name under which the catalogue has the workflow of a run. Reads the run's record.
    pub fn workflow_of(&self, run_id: &RunId) -> Option<&str> {
        self.core.workflow_of(run_id)
    }

    /// # Errors
    /// When the store can't be read or written, so that nothing is known of the request. Nothing was started then.
    pub async fn run_workflow(&self, arguments: RunWorkflowArguments) -> Result<RunResult, StoreError> {
        let wait = arguments.wait;
        // A task of its own: a call that is given up meanwhile leaves no intent without a keeper behind.
        let begun = tokio::spawn(begin(Arc::clone(&self.core), Arc::clone(&self.watch), arguments));
        let (run_id, replayed) = match begun.await.map_err(lost_thread)?? {
            Begun::Answer(result) => return Ok(*result),
            Begun::Replay(run_id) => (run_id, true),
            Begun::Dispatched(run_id) | Begun::Over(run_id) => (run_id, false),
            Begun::Cast(part) => (part.run_id().clone(), false),
        };
        let view = self.watch.wait(&run_id, wait, !replayed).await;
        let mut result = self.result_of(&run_id, view).await?.unwrap_or_else(|| self.core.unfinished(&run_id));
        result.replayed = replayed;
        Ok(result)
    }

    /// `None` for a run that nobody was ever told of.
    ///
    /// # Errors
    /// When the store can't be read.
    pub async fn get_run(&self, arguments: GetRunArguments) -> Result<Option<RunResult>, StoreError> {
        let view = self.watch.wait(&arguments.run_id, arguments.wait, false).await;
        self.result_of(&arguments.run_id, view).await
    }

    async fn result_of(&self, run_id: &RunId, view: View) -> Result<Option<RunResult>, StoreError> {
        let reason = match view {
            View::Ended(result) => return Ok(Some(RunResult::clone(&result))),
            View::Unknown => return Ok(None),
            View::Running { waiting_for_approval: true } => Reason::WaitingForApproval,
            View::Running { waiting_for_approval: false } => Reason::Running,
            View::Unreadable => return Err(std::io::Error::other("the run's record can't be read").into()),
        };
        let (core, run_id) = (Arc::clone(&self.core), run_id.clone());
        let going_on = tokio::task::spawn_blocking(move || core.going_on(&run_id, reason)).await;
        going_on.map_err(lost_thread)?.map(Some)
    }
}

async fn begin(core: Arc<Core>, watch: Arc<Watch>, arguments: RunWorkflowArguments) -> Result<Begun, StoreError> {
    let beginning = Arc::clone(&core);
    let begun = tokio::task::spawn_blocking(move || beginning.begin(&arguments)).await.map_err(lost_thread)??;
    match &begun {
        Begun::Dispatched(run_id) => {
            let keeper = spawn_keeper(&core, run_id);
            watch.tend(run_id, kept(core, run_id.clone(), keeper));
        }
        Begun::Cast(part) => play::play(core, &watch, Part::clone(part)),
        Begun::Answer(_) | Begun::Replay(_) | Begun::Over(_) => {}
    }
    Ok(begun)
}

fn spawn_keeper(core: &Core, run_id: &RunId) -> std::io::Result<Child> {
    keeper_command().arg(crate::keeper::WORD).arg(core.dispatch_folder(run_id)).spawn()
}

/// Waits for the keeper's end. One that never claimed its dispatch never will.
async fn kept(core: Arc<Core>, run_id: RunId, keeper: std::io::Result<Child>) {
    if let Ok(child) = keeper {
        ended(child).await;
    }
    let _ = tokio::task::spawn_blocking(move || core.revoke_unclaimed(&run_id)).await;
}

/// The program itself, whatever has become of its file since it was started.
fn keeper_command() -> Command {
    let program = if cfg!(target_os = "linux") { Ok("/proc/self/exe".into()) } else { std::env::current_exe() };
    let mut command = Command::new(program.unwrap_or_else(|_| "openadapt-agent".into()));
    let nothing = std::process::Stdio::null;
    command.stdin(nothing()).stdout(nothing()).stderr(nothing());
    command
}

async fn ended(mut child: Child) {
    // Whether it could be waited for or not: what it left behind is looked at next.
    let _ = child.wait().await;
}

fn lost_thread(_: tokio::task::JoinError) -> StoreError {
    std::io::Error::other("a worker of the server was lost").into()
}
