//! What happens before anything runs: the checks in their order, the gate, and the dispatch intent.
//! Source: *Requests, retries, and records*.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::core::Core;
use super::play::Part;
use crate::bridge::arguments::RunWorkflowArguments;
use crate::contract::failed_check::FailedCheck;
use crate::contract::ids::RunId;
use crate::contract::invalid_input::InvalidInput;
use crate::contract::reason::Reason;
use crate::contract::result::{ResultFacts, RunResult};
use crate::contract::sandbox::SandboxFacts;
use crate::flow::command::FlowCommand;
use crate::runs::StoreError;
use crate::runs::clock::utc_now;
use crate::runs::dispatch::{Order, Origin};
use crate::runs::gate::{Ask, Begin, RequestGate, Started};
use crate::runs::record::{AttemptOf, Phase, RunRecord, StoredResult};
use crate::sandbox::case_of;
use crate::workflows::{CheckedInputs, Omitted, Workflow};

/// What a call of run_workflow begins.
pub enum Begun {
    /// It is answered already.
    Answer(Box<RunResult>),
    /// The answer is this earlier run's.
    Replay(RunId),
    /// The intent is committed; its keeper may be started.
    Dispatched(RunId),
    /// It is played in the sandbox, when the engine is ready and its turn has come.
    Cast(Box<Part>),
    /// It was over as it began.
    Over(RunId),
}

impl Core {
    pub fn begin(&self, arguments: &RunWorkflowArguments) -> Result<Begun, StoreError> {
        match self.admitted(arguments) {
            Ok((workflow, inputs)) => self.through_the_gate(arguments, workflow, &inputs),
            Err(refused) => self.refused(arguments, refused),
        }
    }

    fn admitted(&self, arguments: &RunWorkflowArguments) -> Result<(&Workflow, CheckedInputs), Refused> {
        let workflow = self.catalog.by_name(&arguments.workflow).ok_or(Refused::of(Reason::UnknownWorkflow))?;
        let refused = |reason| Refused { reason, workflow: Some(workflow.name().to_owned()), ..Refused::of(reason) };
        workflow.recheck().map_err(|_| refused(Reason::WorkflowUnavailable))?;
        if self.sandbox().is_some_and(|sandbox| !sandbox.is_available()) {
            return Err(refused(Reason::WorkflowUnavailable));
        }
        if !self.runs_enabled() {
            return Err(refused(Reason::RunsDisabled));
        }
        let given = Value::Object(arguments.inputs.clone());
        let inputs = workflow
            .card
            .inputs
            .check(&given, Omitted::Refused)
            .map_err(|problems| Refused { invalid_inputs: problems, ..refused(Reason::InvalidInput) })?;
        if let Some(unready) = self.unready(workflow) {
            return Err(Refused { failed_checks: unready.failed_checks, ..refused(unready.reason) });
        }
        Ok((workflow, inputs))
    }

    /// A refusal is recorded under a run id of its own. A request that is known is answered all the same: its earlier
    /// attempt may have saved, and "nothing was written" would be heard as being about the work.
    fn refused(&self, arguments: &RunWorkflowArguments, refused: Refused) -> Result<Begun, StoreError> {
        let fingerprint = self.store.fingerprint(&arguments.workflow, &arguments.inputs);
        for run_id in self.store.known_runs(&arguments.request_id, &fingerprint)? {
            if !self.is_retryable(None, &run_id)? {
                return Ok(Begun::Replay(run_id));
            }
        }
        let facts = ResultFacts {
            invalid_inputs: refused.invalid_inputs,
            failed_checks: refused.failed_checks,
            ..self.facts_before_a_run(None)
        };
        self.recorded(arguments, refused.workflow, refused.reason, facts)
    }

    fn recorded(
        &self,
        arguments: &RunWorkflowArguments,
        workflow: Option<String>,
        reason: Reason,
        facts: ResultFacts,
    ) -> Result<Begun, StoreError> {
        let run_id = RunId::random();
        let result = RunResult {
            reason,
            run_id: Some(run_id.clone()),
            request_id: Some(arguments.request_id.clone()),
            workflow: workflow.clone(),
            mode: self.mode(),
            replayed: false,
            facts,
        };
        if let Some(stored) = StoredResult::of(&result) {
            let record = RunRecord {
                run_id,
                request_id: Some(arguments.request_id.clone()),
                workflow,
                mode: self.mode(),
                started_at: utc_now(),
                process: self.store.this_process(),
                attempt: None,
                phase: Phase::Running,
                evidence: serde_json::Map::new(),
            };
            self.store.write(&record.finished(stored))?;
        }
        Ok(Begun::Answer(Box::new(result)))
    }

    fn through_the_gate(
        &self,
        arguments: &RunWorkflowArguments,
        workflow: &Workflow,
        inputs: &CheckedInputs,
    ) -> Result<Begun, StoreError> {
        let ask = Ask {
            request_id: arguments.request_id.clone(),
            fingerprint: self.store.fingerprint(workflow.name(), inputs.values()),
            workflow: workflow.name().to_owned(),
            mode: self.mode(),
        };
        let ledger = self.ledger()?;
        let gate = RequestGate::new(&self.store, &ledger);
        let begin = gate.begin(&ask, |guard, run_id| self.is_retryable(Some(guard), run_id))?;
        let name = Some(ask.workflow.clone());
        let known = || self.facts_before_a_run(Some(inputs));
        match begin {
            Begin::Conflict { first_run_id } => {
                let facts = ResultFacts { first_run_id: Some(first_run_id), ..known() };
                self.recorded(arguments, name, Reason::RequestIdConflict, facts)
            }
            Begin::RetryLimit => self.recorded(arguments, name, Reason::RetryLimit, known()),
            Begin::Replay { run_id, .. } => Ok(Begun::Replay(run_id)),
            Begin::Abandoned { run_id, fault } => {
                tracing::warn!("an attempt couldn't be reserved, so nothing was started: {fault}");
                self.revoke_unclaimed(&run_id);
                Ok(Begun::Replay(run_id))
            }
            Begin::Start(started) => Ok(match self.sandbox() {
                Some(sandbox) => self.cast(sandbox, ask, started, inputs),
                None => {
                    self.dispatch(&ask, &started, (&self.flow, &workflow.bundle_dir), inputs.rendered(), None);
                    Begun::Dispatched(started.run_id)
                }
            }),
        }
    }

    fn facts_before_a_run(&self, inputs: Option<&CheckedInputs>) -> ResultFacts {
        let sandbox = self.sandbox().map(|sandbox| sandbox.facts(inputs.and_then(case_of)));
        ResultFacts { sandbox, ..ResultFacts::default() }
    }

    /// An intent that can't be committed is revoked, which proves that nothing was started.
    pub(super) fn dispatch(
        &self,
        ask: &Ask,
        started: &Started,
        (flow, bundle): (&FlowCommand, &Path),
        params: &BTreeMap<String, String>,
        sandbox: Option<SandboxFacts>,
    ) {
        let dispatch = self.store.dispatch();
        let run_id = started.run_id.clone();
        let run_dir = self.store.root().run_dir(&run_id);
        let order = Order {
            argv: flow.for_run(bundle, &run_dir, &dispatch.params_file(&run_id)),
            run_dir,
            time_limit_ms: u64::try_from(self.timeout.as_millis()).unwrap_or(u64::MAX),
            of: Origin {
                request_id: Some(ask.request_id.clone()),
                workflow: Some(ask.workflow.clone()),
                mode: ask.mode,
                started_at: started.started_at.clone(),
                attempt: Some(AttemptOf {
                    attempt: started.attempt,
                    ledger_key: started.ledger_key.clone(),
                    fingerprint: ask.fingerprint.clone(),
                }),
                sandbox,
            },
            run_id: started.run_id.clone(),
        };
        let params = serde_json::to_vec(params).unwrap_or_default();
        if let Err(fault) = dispatch.commit(order, self.store.server_id(), Some(&params)) {
            tracing::warn!("a run couldn't be dispatched, so nothing was started: {fault}");
            self.revoke_unclaimed(&run_id);
        }
    }
}

/// A call that was refused before the gate.
struct Refused {
    reason: Reason,
    /// The catalogue's name; a name that isn't in it is never repeated.
    workflow: Option<String>,
    invalid_inputs: Vec<InvalidInput>,
    failed_checks: Vec<FailedCheck>,
}

impl Refused {
    fn of(reason: Reason) -> Self {
        Self { reason, workflow: None, invalid_inputs: Vec::new(), failed_checks: Vec::new() }
    }
}
