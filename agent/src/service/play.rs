//! Sandbox runs. What is simulated is over when it begins; what runs on the app waits for the engine, then for its turn, and is
//! dispatched as any run. Source: *Sandbox*.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::begin::Begun;
use super::core::Core;
use super::open::Scene;
use super::settle::Ending;
use super::watch::Watch;
use crate::contract::ids::RunId;
use crate::contract::reason::Reason;
use crate::contract::result::ResultFacts;
use crate::contract::sandbox::{SandboxCase, SandboxFacts};
use crate::flow::command::FlowCommand;
use crate::lifecycle::executor::{ExecutorStatus, StartToken};
use crate::lifecycle::machine::{Ready, Reserved};
use crate::runs::StoreError;
use crate::runs::lock::StripeGuard;
use crate::sandbox::{Chosen, Sandbox, Stage, Unreachable, case_of, params, simulated};
use crate::workflows::CheckedInputs;

/// A run whose attempt is reserved, and what it plays.
#[derive(Debug)]
pub struct Part {
    reserved: Reserved,
    case: SandboxCase,
    params: BTreeMap<String, String>,
    control_seq: i64,
}

impl Part {
    pub fn run_id(&self) -> &RunId {
        self.reserved.action().run_id()
    }
}

impl Core {
    /// The sandbox's facts of a run that has no result yet, as far as anything tells them.
    pub(super) fn sandbox_of(&self, run_id: &RunId) -> Result<Option<SandboxFacts>, StoreError> {
        let playing = self.sandbox().and_then(|sandbox| sandbox.facts_of(run_id));
        if playing.is_some() {
            return Ok(playing);
        }
        Ok(self.store.dispatch().intent(run_id)?.and_then(|intent| intent.order.of.sandbox))
    }

    /// The part of a run whose attempt is reserved. From here on it is known to be played, so that nobody takes it for abandoned.
    pub(super) fn cast(
        &self,
        held: &StripeGuard,
        sandbox: &Sandbox,
        reserved: Reserved,
        inputs: &CheckedInputs,
        control_seq: i64,
    ) -> Result<Begun, StoreError> {
        let case = case_of(inputs).unwrap_or(SandboxCase::Normal);
        let part = Part { reserved, case, params: params(inputs), control_seq };
        match sandbox.chosen_now() {
            Some(chosen @ Chosen::Simulated { .. }) => {
                let run_id = part.run_id().clone();
                self.seal_and_tell(Some(held), part.reserved.action(), at_once(sandbox, &chosen, case))?;
                Ok(Begun::Over(run_id))
            }
            _ => {
                sandbox.begins(part.run_id(), case);
                Ok(Begun::Cast(Box::new(part)))
            }
        }
    }

    /// Seals the end of a run that was never dispatched.
    fn conclude(&self, part: &Part, ending: Ending) {
        if let Err(fault) = self.seal_and_tell(None, part.reserved.action(), ending) {
            tracing::warn!("the end of a sandbox run couldn't be written down: {fault}");
        }
    }

    /// The inputs go to the engine, which has the app at the address in `flow`.
    fn send_on_stage(&self, part: Part, sandbox: &Sandbox, stage: &Stage, flow: &FlowCommand) -> Option<StartToken> {
        let action = part.reserved.action();
        let workflow = self.catalog.by_name(action.workflow.as_deref()?)?;
        let scene = Scene {
            workflow,
            flow,
            bundle: stage.bundle(),
            params: &part.params,
            url: None,
            sandbox: Some(sandbox.facts(Some(part.case))),
            control_seq: part.control_seq,
        };
        match self.dispatch(None, Ready::Attempt(part.reserved), &scene) {
            Ok(dispatched) => dispatched.ok(),
            Err(fault) => {
                tracing::warn!("a sandbox run couldn't be dispatched: {fault}");
                None
            }
        }
    }
}

/// Plays a part whether anybody waits for it or not.
pub fn play(core: Arc<Core>, watch: &Arc<Watch>, part: Part) {
    let Some(sandbox) = core.sandbox().map(Arc::clone) else { return };
    let run_id = part.run_id().clone();
    // A task of its own: the turn is kept to the engine's end, whatever becomes of those who look on.
    let playing = tokio::spawn(async move {
        let run_id = part.run_id().clone();
        played(&core, &sandbox, part).await;
        sandbox.is_over(&run_id);
    });
    watch.tend(&run_id, async move {
        let _ = playing.await;
    });
}

async fn played(core: &Arc<Core>, sandbox: &Arc<Sandbox>, part: Part) {
    let chosen = sandbox.chosen().await;
    let Chosen::Staged(stage) = &chosen else {
        let end = at_once(sandbox, &chosen, part.case);
        return blocking(core, move |core| core.conclude(&part, end)).await.unwrap_or_default();
    };
    let mut turn = stage.turn().await;
    match turn.set(part.case).await {
        Err(Unreachable) => {
            let end = ended(Reason::AppUnreachable, facts(sandbox, &chosen, part.case));
            blocking(core, move |core| core.conclude(&part, end)).await;
        }
        Ok(flow) => {
            let run_id = part.run_id().clone();
            let (stage, sandbox) = (Arc::clone(stage), Arc::clone(sandbox));
            let token = blocking(core, move |core| core.send_on_stage(part, &sandbox, &stage, &flow)).await.flatten();
            if let Some(token) = token {
                super::kept(Arc::clone(core), run_id.clone(), super::spawn_keeper(core, &run_id, token)).await;
            }
        }
    }
    drop(turn);
}

/// The end of a run that nothing is started for.
fn at_once(sandbox: &Sandbox, chosen: &Chosen, case: SandboxCase) -> Ending {
    let (reason, own) = match chosen {
        Chosen::Simulated { .. } => simulated(case),
        Chosen::Unavailable(_) | Chosen::Staged(_) => (Reason::WorkflowUnavailable, ResultFacts::default()),
    };
    ended(reason, ResultFacts { sandbox: facts(sandbox, chosen, case).sandbox, ..own })
}

fn facts(sandbox: &Sandbox, chosen: &Chosen, case: SandboxCase) -> ResultFacts {
    let mut facts = chosen.facts(sandbox.choice());
    facts.case = Some(case);
    ResultFacts { sandbox: Some(facts), ..ResultFacts::default() }
}

/// What is played counts as started; what has no engine or no app doesn't.
fn ended(reason: Reason, facts: ResultFacts) -> Ending {
    let started = !matches!(reason, Reason::AppUnreachable | Reason::WorkflowUnavailable);
    let executor_end = started.then_some(ExecutorStatus::Completed);
    Ending { facts, executor_started: started, executor_end, ..Ending::not_started(reason) }
}

async fn blocking<T: Send + 'static>(core: &Arc<Core>, work: impl FnOnce(&Core) -> T + Send + 'static) -> Option<T> {
    let core = Arc::clone(core);
    // Lost only with the server; what isn't written down then is found out by the next one.
    tokio::task::spawn_blocking(move || work(&core)).await.ok()
}
