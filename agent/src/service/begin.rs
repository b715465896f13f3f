//! What happens before anything runs: the checks in their order, the request's gate, and what is refused there.
//! Source: *Requests, retries, and records*; lifecycle, *The one entry*.

use serde_json::{Map, Value};

use super::core::Core;
use super::history::{Ask, History};
use super::open::Opened;
use super::play::Part;
use super::settle::Ending;
use crate::bridge::arguments::RunWorkflowArguments;
use crate::bridge::host::{Form, FormAnswer};
use crate::contract::failed_check::FailedCheck;
use crate::contract::ids::RunId;
use crate::contract::invalid_input::InvalidInput;
use crate::contract::reason::Reason;
use crate::contract::result::{ResultFacts, RunResult};
use crate::lifecycle::StoreFault;
use crate::lifecycle::canonical::{self, run_operation};
use crate::lifecycle::contracts::Tool;
use crate::lifecycle::executor::StartToken;
use crate::lifecycle::gate::{Decision, Known, Standing, Work, decide};
use crate::lifecycle::policy::{self, InForce, Rules};
use crate::lifecycle::review::Canceled;
use crate::lifecycle::store::{Action, NewAction};
use crate::lifecycle::types::{Code, Origin, Permission};
use crate::runs::StoreError;
use crate::runs::lock::StripeGuard;
use crate::runs::request_hash::RequestHash;
use crate::sandbox::case_of;
use crate::workflows::{CheckedInputs, Workflow};

/// What a call of run_workflow begins.
pub enum Begun {
    /// It is answered already.
    Answer(Box<RunResult>),
    /// The answer is this earlier run's.
    Replay(RunId),
    /// The intent is committed; its keeper may be started.
    Dispatched(RunId, StartToken),
    /// It is played in the sandbox, when the engine is ready and its turn has come.
    Cast(Box<Part>),
    /// It was over as it began.
    Over(RunId),
    /// A person has to say yes first.
    Ask(Box<Form>),
}

/// Who calls, as far as a decision depends on it.
#[derive(Debug, Clone, Default)]
pub struct Caller {
    /// The client can show a form to a person.
    pub shows_forms: bool,
    /// What became of a form that an earlier turn of this call showed.
    pub answer: Option<FormAnswer>,
    pub canceled: Canceled,
}

/// A call that may be run, before its request is looked at.
pub struct Admitted<'a> {
    pub workflow: &'a Workflow,
    pub inputs: CheckedInputs,
    /// The exact work.
    pub operation: Value,
    pub args_digest: String,
}

/// A call that was refused before its request was looked at.
struct Refused {
    reason: Reason,
    code: Option<Code>,
    /// The catalogue's name; a name that isn't in it is never repeated.
    workflow: Option<String>,
    invalid_inputs: Vec<InvalidInput>,
    failed_checks: Vec<FailedCheck>,
}

impl Core {
    pub fn begin(&self, arguments: &RunWorkflowArguments, caller: &Caller) -> Result<Begun, StoreError> {
        let policy = self.in_force()?;
        match self.admitted(arguments, &policy) {
            Ok(admitted) => self.through_the_gate(arguments, &admitted, &policy, caller),
            Err(refused) => self.refused(arguments, refused, &policy),
        }
    }

    fn admitted<'a>(&'a self, arguments: &RunWorkflowArguments, policy: &InForce) -> Result<Admitted<'a>, Refused> {
        let workflow = self.catalog.by_name(&arguments.workflow).ok_or(Refused::of(Reason::UnknownWorkflow))?;
        let refused = |reason| Refused { workflow: Some(workflow.name().to_owned()), ..Refused::of(reason) };
        workflow.recheck().map_err(|_| refused(Reason::WorkflowUnavailable))?;
        if self.sandbox().is_some_and(|sandbox| !sandbox.is_available()) {
            return Err(refused(Reason::WorkflowUnavailable));
        }
        let rules = Rules {
            has_authority: policy.has_authority,
            outside_mode: !self.runs_enabled(),
            denied: policy.denies(workflow.name(), &workflow.public_id),
            asks: self.reviewer().is_some(),
            ..Rules::default()
        };
        if let policy::Decision::Deny(reason, code) = policy::decide(rules) {
            return Err(Refused { code, ..refused(reason) });
        }
        let given = Value::Object(arguments.inputs.clone());
        let inputs = workflow
            .card
            .inputs
            .check(&given, self.omitted())
            .map_err(|problems| Refused { invalid_inputs: problems, ..refused(Reason::InvalidInput) })?;
        if let Some(unready) = self.unready(workflow) {
            return Err(Refused { failed_checks: unready.failed_checks, ..refused(unready.reason) });
        }
        let operation = run_operation(
            Tool::RunWorkflow,
            &workflow.public_id,
            workflow.digest(),
            inputs.rendered(),
            self.flow.url(),
        );
        let args_digest = canonical::digest_of_any_size(self.store.key(), &operation);
        Ok(Admitted { workflow, inputs, operation, args_digest })
    }

    /// A refusal is recorded under a run id of its own. A request that is known is answered all the same: its earlier
    /// attempt may have saved, and "nothing was written" would be heard as being about the work.
    fn refused(
        &self,
        arguments: &RunWorkflowArguments,
        refused: Refused,
        policy: &InForce,
    ) -> Result<Begun, StoreError> {
        let history = self.history(&RequestHash::of(&arguments.request_id))?;
        let filled = self.filled_in(arguments);
        for inputs in [&arguments.inputs].into_iter().chain(&filled) {
            let fingerprint = self.store.fingerprint(&arguments.workflow, inputs);
            for run_id in history.runs_of(&fingerprint) {
                if !self.is_retryable(None, run_id)? {
                    return Ok(Begun::Replay(run_id.clone()));
                }
            }
        }
        let facts = ResultFacts {
            invalid_inputs: refused.invalid_inputs,
            failed_checks: refused.failed_checks,
            ..self.facts_before_a_run(None)
        };
        let ending = Ending { facts, code: refused.code, ..Ending::not_started(refused.reason) };
        self.refuse(arguments, refused.workflow, ending, policy)
    }

    /// What an earlier attempt was asked for, where recorded values stood in for inputs that were left out.
    fn filled_in(&self, arguments: &RunWorkflowArguments) -> Option<Map<String, Value>> {
        let workflow = self.catalog.by_name(&arguments.workflow)?;
        let checked = workflow.card.inputs.check(&Value::Object(arguments.inputs.clone()), self.omitted()).ok()?;
        Some(checked.values().clone()).filter(|filled| *filled != arguments.inputs)
    }

    /// A complete decision, with a receipt that says that nothing was started.
    fn refuse(
        &self,
        arguments: &RunWorkflowArguments,
        workflow: Option<String>,
        ending: Ending,
        policy: &InForce,
    ) -> Result<Begun, StoreError> {
        let draft = self.actions().draft(&NewAction {
            run_id: RunId::random(),
            tool: Tool::RunWorkflow,
            origin: Origin::McpAgent,
            policy_version: policy.version,
            args_digest: String::new(),
            conditions_digest: String::new(),
            request_id: Some(arguments.request_id.clone()),
            workflow,
            mode: self.mode(),
            attempt: None,
        })?;
        let permission = permission_of_refusal(ending.reason);
        self.refuse_and_tell(&draft, &Ending { permission, ..ending }).map(|result| Begun::Answer(Box::new(result)))
    }

    /// Seals an action that comes to nothing, and answers with it.
    pub(super) fn close(
        &self,
        held: Option<&StripeGuard>,
        action: &Action,
        ending: Ending,
    ) -> Result<Begun, StoreError> {
        Ok(Begun::Answer(Box::new(self.seal_and_tell(held, action, ending)?)))
    }

    fn through_the_gate(
        &self,
        arguments: &RunWorkflowArguments,
        admitted: &Admitted<'_>,
        policy: &InForce,
        caller: &Caller,
    ) -> Result<Begun, StoreError> {
        let ask = Ask {
            request_id: arguments.request_id.clone(),
            fingerprint: self.store.fingerprint(admitted.workflow.name(), admitted.inputs.values()),
            workflow: admitted.workflow.name().to_owned(),
            mode: self.mode(),
        };
        let refused = |held: StripeGuard, reason, facts| {
            // The refusal is an action of its own, under a stripe of its own.
            drop(held);
            let ending = Ending { facts, ..Ending::not_started(reason) };
            self.refuse(arguments, Some(ask.workflow.clone()), ending, policy)
        };
        let held = self.store.lock_request(&ask.request_id)?;
        let mut history = self.history(&RequestHash::of(&ask.request_id))?;
        loop {
            let standing = self.standing(&held, &ask, &history)?;
            match (decide(known(&ask, &history, standing.as_ref())), standing) {
                (Decision::Conflict, _) => {
                    let first_run_id = history.runs().first().cloned();
                    let facts = ResultFacts { first_run_id, ..self.facts_before_a_run(Some(&admitted.inputs)) };
                    return refused(held, Reason::RequestIdConflict, facts);
                }
                (Decision::RetryLimit, _) => {
                    let facts = self.facts_before_a_run(Some(&admitted.inputs));
                    return refused(held, Reason::RetryLimit, facts);
                }
                (Decision::Replay, Some(run_id)) => return Ok(Begun::Replay(run_id)),
                (Decision::Replay, None) => return Err(StoreFault::Damaged.into()),
                (Decision::Start(attempt), _) => {
                    if self.adopt_owner(&held, &ask, attempt, &mut history)? {
                        continue;
                    }
                    match self.open_attempt(&held, &ask, attempt, admitted, policy, caller)? {
                        Opened::Begun(begun) => return Ok(begun),
                        Opened::Anothers(owner) => self.adopt(&held, &ask, attempt, Some(&owner), &mut history)?,
                    }
                }
            }
        }
    }

    pub(super) fn facts_before_a_run(&self, inputs: Option<&CheckedInputs>) -> ResultFacts {
        let sandbox = self.sandbox().map(|sandbox| sandbox.facts(inputs.and_then(case_of)));
        ResultFacts { sandbox, ..ResultFacts::default() }
    }
}

fn known(ask: &Ask, history: &History, settled: Option<&RunId>) -> Known {
    if history.is_empty() {
        return Known::Unseen;
    }
    Known::Seen {
        work: if history.is_of(&ask.fingerprint) { Work::Same } else { Work::Other },
        attempts: history.runs().len(),
        standing: if settled.is_some() { Standing::Settled } else { Standing::ProvedNothingWritten },
    }
}

/// What a refusal before any attempt says of the permission: a call that can't be understood was never decided about.
pub(super) const fn permission_of_refusal(reason: Reason) -> Option<Permission> {
    match reason {
        Reason::InvalidInput | Reason::UnknownWorkflow | Reason::WorkflowUnavailable | Reason::AppUnreachable => None,
        _ => Some(Permission::Deny),
    }
}

impl Refused {
    fn of(reason: Reason) -> Self {
        Self { reason, code: None, workflow: None, invalid_inputs: Vec::new(), failed_checks: Vec::new() }
    }
}
