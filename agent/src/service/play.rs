//! Sandbox runs. What is simulated is over when it begins; what runs on the app waits for the engine, then for its turn, and is
//! dispatched as any run. Source: *Sandbox*.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::begin::Begun;
use super::classify::Classified;
use super::core::Core;
use super::watch::Watch;
use crate::contract::ids::RunId;
use crate::contract::reason::Reason;
use crate::contract::result::ResultFacts;
use crate::contract::sandbox::{SandboxCase, SandboxFacts};
use crate::flow::command::FlowCommand;
use crate::flow::report::Binding;
use crate::runs::StoreError;
use crate::runs::gate::{Ask, Started};
use crate::runs::record::RecordRead;
use crate::sandbox::{Chosen, Sandbox, Stage, Unreachable, case_of, params, simulated};
use crate::workflows::CheckedInputs;

/// A run that passed the gate, and what it plays.
#[derive(Debug, Clone)]
pub struct Part {
    ask: Ask,
    started: Started,
    case: SandboxCase,
    params: BTreeMap<String, String>,
}

impl Part {
    pub fn run_id(&self) -> &RunId {
        &self.started.run_id
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

    /// The part of a run whose attempt is reserved.
    pub(super) fn cast(&self, sandbox: &Sandbox, ask: Ask, started: Started, inputs: &CheckedInputs) -> Begun {
        let case = case_of(inputs).unwrap_or(SandboxCase::Normal);
        let part = Part { ask, started, case, params: params(inputs) };
        match sandbox.chosen_now() {
            Some(chosen @ Chosen::Simulated { .. }) => {
                self.conclude(&part.started.run_id, &at_once(sandbox, &chosen, case));
                Begun::Over(part.started.run_id)
            }
            _ => Begun::Cast(Box::new(part)),
        }
    }

    /// Writes down the end of a run that was never dispatched.
    fn conclude(&self, run_id: &RunId, end: &Classified) {
        let written = self.store.read(run_id).and_then(|read| match read {
            RecordRead::Valid(record) if record.result().is_none() => self.write_down(None, &record, end).map(drop),
            _ => Ok(()),
        });
        if let Err(fault) = written {
            tracing::warn!("the end of a sandbox run couldn't be written down: {fault}");
            self.revoke_unclaimed(run_id);
        }
    }

    /// The inputs go to the engine, which has the app at the address in `flow`.
    fn send_on_stage(&self, part: &Part, sandbox: &Sandbox, stage: &Stage, flow: &FlowCommand) {
        let facts = sandbox.facts(Some(part.case));
        self.dispatch(&part.ask, &part.started, (flow, stage.bundle()), &part.params, Some(facts));
    }
}

/// Plays a part whether anybody waits for it or not.
pub fn play(core: Arc<Core>, watch: &Arc<Watch>, part: Part) {
    let Some(sandbox) = core.sandbox().map(Arc::clone) else { return };
    let run_id = part.started.run_id.clone();
    sandbox.begins(&run_id, part.case);
    // A task of its own: the turn is kept to the engine's end, whatever becomes of those who look on.
    let playing = tokio::spawn(async move {
        let run_id = part.started.run_id.clone();
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
        return blocking(core, move |core| core.conclude(&part.started.run_id, &end)).await;
    };
    let mut turn = stage.turn().await;
    match turn.set(part.case).await {
        Err(Unreachable) => {
            let end = ended(Reason::AppUnreachable, facts(sandbox, &chosen, part.case));
            blocking(core, move |core| core.conclude(&part.started.run_id, &end)).await;
        }
        Ok(flow) => {
            let run_id = part.started.run_id.clone();
            let (stage, sandbox) = (Arc::clone(stage), Arc::clone(sandbox));
            blocking(core, move |core| core.send_on_stage(&part, &sandbox, &stage, &flow)).await;
            super::kept(Arc::clone(core), run_id.clone(), super::spawn_keeper(core, &run_id)).await;
        }
    }
    drop(turn);
}

/// The end of a run that nothing is started for.
fn at_once(sandbox: &Sandbox, chosen: &Chosen, case: SandboxCase) -> Classified {
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

fn ended(reason: Reason, facts: ResultFacts) -> Classified {
    Classified { reason, facts, binding: Binding::default() }
}

async fn blocking(core: &Arc<Core>, work: impl FnOnce(&Core) + Send + 'static) {
    let core = Arc::clone(core);
    // Lost only with the server; what isn't written down then is found out by the next one.
    let _ = tokio::task::spawn_blocking(move || work(&core)).await;
}
