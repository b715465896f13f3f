//! What a call comes to: validate, gate, run, wait. Transport-free, and the only owner of the run store.

mod begin;
mod classify;
mod core;
pub mod decisions;
mod describer;
mod history;
mod legacy;
mod open;
mod play;
mod reviewed;
mod settle;
mod takeover;
mod watch;

use std::path::Path;
use std::sync::Arc;

use tokio::process::{Child, Command};

use crate::bridge::arguments::{GetRunArguments, RunWorkflowArguments};
use crate::bridge::host::{Form, FormAnswer};
use crate::cli::ServeOptions;
use crate::contract::ids::RunId;
use crate::contract::outcome::Mode;
use crate::contract::reason::Reason;
use crate::contract::result::RunResult;
use crate::lifecycle::crash::{Point, pass};
use crate::lifecycle::executor::StartToken;
use crate::lifecycle::review::CancelOnDrop;
use crate::refusal::Refusal;
use crate::runs::StoreError;
use crate::sandbox::Sandbox;
use crate::workflows::Catalog;
use begin::{Begun, Caller};
pub use core::Core;
use watch::{View, Watch};

pub use legacy::{LeftBehind, OlderRun};

/// A run can't be answered for: the store can't be read or written.
#[derive(Debug, thiserror::Error)]
pub enum RunFault {
    #[error("nothing was started: {0}")]
    NotStarted(StoreError),
    #[error("what became of the run isn't known: {0}")]
    NotKnown(StoreError),
}

impl RunFault {
    /// What the operator can do.
    pub fn hint(&self) -> &'static str {
        let (Self::NotStarted(fault) | Self::NotKnown(fault)) = self;
        fault.hint()
    }
}

/// The service of one server.
pub struct Service {
    core: Arc<Core>,
    watch: Arc<Watch>,
}

impl Service {
    pub fn open(options: &ServeOptions) -> Result<Self, Refusal> {
        let core = Arc::new(Core::open(options)?);
        let (looking, sweeping) = (Arc::clone(&core), Arc::clone(&core));
        std::thread::spawn(move || sweeping.recover());
        Ok(Self { watch: Watch::new(Arc::new(move |run_id: &RunId| looking.look(run_id))), core })
    }

    /// The entry that decisions about paused runs go through. Blocks.
    pub fn decisions(&self) -> Arc<Core> {
        Arc::clone(&self.core)
    }

    pub fn catalog(&self) -> &Catalog {
        self.core.catalog()
    }

    pub fn runs_enabled(&self) -> bool {
        self.core.runs_enabled()
    }

    /// Runs are possible now: the server was started for them, and no operator has switched all of them off.
    pub fn runs_offered(&self) -> bool {
        self.core.runs_offered()
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
    /// When the store can't be read or written, with what that means for the run.
    pub async fn run_workflow(
        &self,
        arguments: RunWorkflowArguments,
        shows_forms: bool,
        answer: Option<FormAnswer>,
    ) -> Result<Ran, RunFault> {
        let wait = arguments.wait;
        let given_up = CancelOnDrop::default();
        let caller = Caller { shows_forms, answer, canceled: given_up.flag() };
        // A task of its own: a call that is given up meanwhile leaves no intent without a keeper behind.
        let begun = tokio::spawn(begin(Arc::clone(&self.core), Arc::clone(&self.watch), arguments, caller));
        let begun = begun.await.map_err(|fault| RunFault::NotStarted(lost_thread(fault)))?;
        let (run_id, replayed) = match begun.map_err(RunFault::NotStarted)? {
            Going::Answer(result) => return Ok(Ran::Result(result)),
            Going::Ask(form) => return Ok(Ran::Ask(form)),
            Going::On { run_id, replayed } => (run_id, replayed),
        };
        let view = self.watch.wait(&run_id, wait, !replayed).await;
        let known = self.result_of(&run_id, view).await.map_err(RunFault::NotKnown)?;
        let mut result = known.unwrap_or_else(|| self.core.unfinished(&run_id));
        result.replayed = replayed;
        // The answer is known and sealed; only a death can keep it back.
        let _ = pass(Point::RespondBefore);
        Ok(Ran::Result(Box::new(result)))
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

/// What a call of run_workflow comes to.
pub enum Ran {
    Result(Box<RunResult>),
    /// A person must say yes first.
    Ask(Box<Form>),
}

/// A call that has begun.
enum Going {
    Answer(Box<RunResult>),
    Ask(Box<Form>),
    On { run_id: RunId, replayed: bool },
}

async fn begin(
    core: Arc<Core>,
    watch: Arc<Watch>,
    arguments: RunWorkflowArguments,
    caller: Caller,
) -> Result<Going, StoreError> {
    let beginning = Arc::clone(&core);
    let begun = if core.reviewer().is_some() {
        // A reviewer may take its time, and the threads for what blocks are few.
        let (sender, receiver) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || sender.send(beginning.begin(&arguments, &caller)));
        receiver.await.map_err(|_| std::io::Error::other("a worker of the server was lost"))??
    } else {
        tokio::task::spawn_blocking(move || beginning.begin(&arguments, &caller)).await.map_err(lost_thread)??
    };
    let on = |run_id, replayed| Ok(Going::On { run_id, replayed });
    match begun {
        Begun::Answer(result) => Ok(Going::Answer(result)),
        Begun::Ask(form) => Ok(Going::Ask(form)),
        Begun::Replay(run_id) => on(run_id, true),
        Begun::Over(run_id) => on(run_id, false),
        Begun::Dispatched(run_id, token) => {
            let keeper = spawn_keeper(&core, &run_id, token);
            watch.tend(&run_id, kept(core, run_id.clone(), keeper));
            on(run_id, false)
        }
        Begun::Cast(part) => {
            let run_id = part.run_id().clone();
            play::play(core, &watch, *part);
            on(run_id, false)
        }
    }
}

/// Starts the one executor of runs. It takes the token of a committed dispatch, and nothing else makes one.
fn spawn_keeper(core: &Core, run_id: &RunId, _: StartToken) -> std::io::Result<Child> {
    let keeper = keeper_command().arg(crate::keeper::WORD).arg(core.dispatch_folder(run_id)).spawn();
    // A fault that a test asks for here can't undo the start; a death can.
    let _ = pass(Point::DispatchAfterSpawn);
    keeper
}

/// Waits for the keeper's end. One that never claimed its dispatch never will.
async fn kept(core: Arc<Core>, run_id: RunId, keeper: std::io::Result<Child>) {
    if let Ok(child) = keeper {
        ended(child).await;
    }
    let _ = tokio::task::spawn_blocking(move || core.take_back_unclaimed(&run_id)).await;
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
