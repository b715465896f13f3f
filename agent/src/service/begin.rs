//! What happens before anything runs: the checks in their order, the decision, the attempt's reservation, and the dispatch intent.
//! Source: *Requests, retries, and records*; lifecycle, *The one entry*.

use serde_json::Value;

use super::core::Core;
use super::history::{Ask, History};
use super::settle::Ending;
use super::watch::View;
use crate::bridge::arguments::RunWorkflowArguments;
use crate::contract::ids::RunId;
use crate::contract::invalid_input::InvalidInput;
use crate::contract::reason::Reason;
use crate::contract::result::{ResultFacts, RunResult};
use crate::lifecycle::StoreFault;
use crate::lifecycle::canonical::{self, run_operation};
use crate::lifecycle::contracts::Tool;
use crate::lifecycle::crash::{Point, pass};
use crate::lifecycle::executor::StartToken;
use crate::lifecycle::gate::{Decision, Known, Standing, Work, decide};
use crate::lifecycle::machine::{Ready, Reserved, Started};
use crate::lifecycle::policy::{self, InForce, Rules};
use crate::lifecycle::project::project_running;
use crate::lifecycle::store::{Action, Dispatch, NewAction, Revalidation};
use crate::lifecycle::types::{Code, Origin, Permission};
use crate::runs::StoreError;
use crate::runs::dispatch::{Order, Origin as OrderOrigin};
use crate::runs::ledger::Reservation;
use crate::runs::lock::StripeGuard;
use crate::runs::record::AttemptOf;
use crate::runs::request_hash::{Attempt, Era, RequestHash};
use crate::workflows::{CheckedInputs, Omitted, Workflow};

/// What a call of run_workflow begins.
pub enum Begun<Token = StartToken> {
    /// It is answered already.
    Answer(Box<RunResult>),
    /// The answer is this earlier run's.
    Replay(RunId),
    /// The intent is committed; its keeper may be started.
    Dispatched(RunId, Token),
}

/// A call that may be run, before its request is looked at.
struct Admitted<'a> {
    workflow: &'a Workflow,
    inputs: CheckedInputs,
    args_digest: String,
}

/// A call that was refused before its request was looked at.
struct Refused {
    reason: Reason,
    code: Option<Code>,
    /// The catalogue's name; a name that isn't in it is never repeated.
    workflow: Option<String>,
    invalid_inputs: Vec<InvalidInput>,
}

impl Core {
    pub fn begin(&self, arguments: &RunWorkflowArguments) -> Result<Begun, StoreError> {
        let policy = self.in_force()?;
        match self.admitted(arguments, &policy) {
            Ok(admitted) => self.through_the_gate(arguments, &admitted, &policy),
            Err(refused) => self.refused(arguments, refused, &policy),
        }
    }

    fn admitted<'a>(&'a self, arguments: &RunWorkflowArguments, policy: &InForce) -> Result<Admitted<'a>, Refused> {
        let workflow = self.catalog.by_name(&arguments.workflow).ok_or(Refused::of(Reason::UnknownWorkflow))?;
        let refused = |reason| Refused { workflow: Some(workflow.name().to_owned()), ..Refused::of(reason) };
        workflow.recheck().map_err(|_| refused(Reason::WorkflowUnavailable))?;
        let rules = Rules {
            hard_constraint: None,
            has_authority: policy.has_authority,
            outside_mode: !self.runs_enabled(),
            denied: policy.denies(workflow.name(), &workflow.public_id),
            asks: false,
        };
        if let policy::Decision::Deny(reason, code) = policy::decide(rules) {
            return Err(Refused { code, ..refused(reason) });
        }
        let given = Value::Object(arguments.inputs.clone());
        let inputs = workflow
            .card
            .inputs
            .check(&given, Omitted::Refused)
            .map_err(|problems| Refused { invalid_inputs: problems, ..refused(Reason::InvalidInput) })?;
        let operation = run_operation(
            Tool::RunWorkflow,
            &workflow.public_id,
            workflow.digest(),
            inputs.rendered(),
            self.flow.url(),
        );
        // Too large to be shown to a reviewer as a whole; without one it still has its own digest.
        let args_digest = canonical::digest_of_any_size(self.store.key(), &operation);
        Ok(Admitted { workflow, inputs, args_digest })
    }

    /// A refusal is recorded under a run id of its own. A request that is known is answered all the same: its earlier
    /// attempt may have saved, and "nothing was written" would be heard as being about the work.
    fn refused(
        &self,
        arguments: &RunWorkflowArguments,
        refused: Refused,
        policy: &InForce,
    ) -> Result<Begun, StoreError> {
        let fingerprint = self.store.fingerprint(&arguments.workflow, &arguments.inputs);
        let history = self.history(&RequestHash::of(&arguments.request_id))?;
        for run_id in history.runs_of(&fingerprint) {
            if !self.is_retryable(None, run_id)? {
                return Ok(Begun::Replay(run_id.clone()));
            }
        }
        let facts = ResultFacts { invalid_inputs: refused.invalid_inputs, ..ResultFacts::default() };
        self.refuse(arguments, refused.workflow, refused.reason, refused.code, facts, policy)
    }

    /// A complete decision, with a receipt that says that nothing was started.
    fn refuse(
        &self,
        arguments: &RunWorkflowArguments,
        workflow: Option<String>,
        reason: Reason,
        code: Option<Code>,
        facts: ResultFacts,
        policy: &InForce,
    ) -> Result<Begun, StoreError> {
        let prepared = self.actions().prepare(&NewAction {
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
        let ending = Ending { facts, code, permission: permission_of_refusal(reason), ..Ending::not_started(reason) };
        self.close(None, prepared.action(), ending)
    }

    /// Seals an action that comes to nothing, and answers with it.
    fn close(&self, held: Option<&StripeGuard>, action: &Action, ending: Ending) -> Result<Begun, StoreError> {
        Ok(Begun::Answer(Box::new(self.seal_and_tell(held, action, ending)?)))
    }

    fn through_the_gate(
        &self,
        arguments: &RunWorkflowArguments,
        admitted: &Admitted<'_>,
        policy: &InForce,
    ) -> Result<Begun, StoreError> {
        let ask = Ask {
            request_id: arguments.request_id.clone(),
            fingerprint: self.store.fingerprint(admitted.workflow.name(), admitted.inputs.values()),
            workflow: admitted.workflow.name().to_owned(),
            mode: self.mode(),
        };
        let hash = RequestHash::of(&ask.request_id);
        let held = self.store.lock_request(&ask.request_id)?;
        let mut history = self.history(&hash)?;
        loop {
            let standing = self.standing(&held, &ask, &history)?;
            let known = match (history.is_empty(), &standing) {
                (true, _) => Known::Unseen,
                (false, standing) => Known::Seen {
                    work: if history.is_of(&ask.fingerprint) { Work::Same } else { Work::Other },
                    attempts: history.runs().len(),
                    standing: if standing.is_some() { Standing::Settled } else { Standing::ProvedNothingWritten },
                },
            };
            match (decide(known), standing) {
                (Decision::Conflict, _) => {
                    let facts =
                        ResultFacts { first_run_id: history.runs().first().cloned(), ..ResultFacts::default() };
                    drop(held);
                    return self.refuse(arguments, Some(ask.workflow), Reason::RequestIdConflict, None, facts, policy);
                }
                (Decision::RetryLimit, _) => {
                    drop(held);
                    let facts = ResultFacts::default();
                    return self.refuse(arguments, Some(ask.workflow), Reason::RetryLimit, None, facts, policy);
                }
                (Decision::Replay, Some(run_id)) => return Ok(Begun::Replay(run_id)),
                (Decision::Replay, None) => return Err(StoreFault::Damaged.into()),
                (Decision::Start(attempt), _) => {
                    if self.adopt_owner(&held, &ask, attempt, &mut history)? {
                        continue;
                    }
                    if let Some(begun) = self.open_attempt(&held, &ask, attempt, admitted, policy, &mut history)? {
                        return Ok(begun);
                    }
                }
            }
        }
    }

    /// `None` when another agent reserved the key at the same moment; its run is in the history then.
    fn open_attempt(
        &self,
        held: &StripeGuard,
        ask: &Ask,
        attempt: Attempt,
        admitted: &Admitted<'_>,
        policy: &InForce,
        history: &mut History,
    ) -> Result<Option<Begun>, StoreError> {
        let ledger = self.ledger()?;
        let ledger_key = RequestHash::of(&ask.request_id).ledger_key(attempt, Era::Ours);
        let authorized = self.actions().prepare_allowed(&NewAction {
            run_id: RunId::random(),
            tool: Tool::RunWorkflow,
            origin: Origin::McpAgent,
            policy_version: policy.version,
            args_digest: admitted.args_digest.clone(),
            conditions_digest: self.conditions(admitted.workflow, policy),
            request_id: Some(ask.request_id.clone()),
            workflow: Some(ask.workflow.clone()),
            mode: ask.mode,
            attempt: Some(AttemptOf { attempt, ledger_key: ledger_key.clone(), fingerprint: ask.fingerprint.clone() }),
        })?;
        let run_id = authorized.action().run_id().clone();
        let not_reserved = || Ending { code: Some(Code::NotReserved), ..Ending::not_started(Reason::PlatformError) };
        match ledger.reserve(&ledger_key, &run_id) {
            Ok(Reservation::Reserved) => {}
            Ok(Reservation::Owned { run_id: owner }) if owner == run_id => {}
            Ok(Reservation::Owned { run_id: owner }) => {
                self.seal_and_tell(Some(held), authorized.action(), not_reserved())?;
                self.adopt(held, ask, attempt, Some(&owner), history)?;
                return Ok(None);
            }
            Err(fault) => {
                tracing::warn!("an attempt couldn't be reserved, so nothing was started: {fault}");
                return self.close(Some(held), authorized.action(), not_reserved()).map(Some);
            }
        }
        let unreserved = authorized.action().clone();
        let counted = pass(Point::ReserveAfterLedger).map_err(StoreFault::from);
        match counted.and_then(|()| self.actions().reserve(authorized)) {
            Ok(reserved) => self.dispatch(held, ask, admitted, policy, reserved).map(Some),
            Err(fault) => {
                tracing::warn!("an attempt couldn't be counted, so nothing was started: {fault}");
                self.close(Some(held), &unreserved, not_reserved()).map(Some)
            }
        }
    }

    /// Everything is looked at once more, and the intent is committed. What can't be committed, or handed to a keeper, is proven not to
    /// have started.
    fn dispatch(
        &self,
        held: &StripeGuard,
        ask: &Ask,
        admitted: &Admitted<'_>,
        policy: &InForce,
        reserved: Reserved,
    ) -> Result<Begun, StoreError> {
        let action = reserved.action().clone();
        let stale = |code| Ending {
            code: Some(code),
            permission: Some(Permission::Deny),
            ..Ending::not_started(Reason::PolicyRefused)
        };
        let now = self.in_force()?;
        if admitted.workflow.recheck().is_err() {
            return self.close(Some(held), &action, stale(Code::PermissionStale));
        }
        let conditions = self.conditions(admitted.workflow, &now);
        let still = Revalidation { control_seq: policy.control_seq, conditions_digest: &conditions };
        match self.actions().commit_dispatch(Ready::Attempt(reserved), still) {
            Ok(Dispatch::Started(started)) => self.hand_over(held, ask, &admitted.inputs, admitted.workflow, started),
            Ok(Dispatch::Stale(code)) => self.close(Some(held), &action, stale(code)),
            Err(fault) => {
                tracing::warn!("a run couldn't be dispatched, so nothing was started: {fault}");
                let ending = Ending { code: Some(Code::IntentRevoked), ..Ending::not_started(Reason::PlatformError) };
                match self.actions().find(action.run_id())? {
                    Some(known) if !known.action.dispatched => self.close(Some(held), &known.action, ending),
                    // Committed after all: nobody was told the token, so nobody can claim it.
                    _ => self.take_back(held, action.run_id()),
                }
            }
        }
    }

    fn hand_over(
        &self,
        held: &StripeGuard,
        ask: &Ask,
        inputs: &CheckedInputs,
        workflow: &Workflow,
        started: Started,
    ) -> Result<Begun, StoreError> {
        let (action, token) = started.into_parts();
        let (dispatch, run_id) = (self.store.dispatch(), action.run_id().clone());
        let run_dir = self.store.root().run_dir(&run_id);
        let order = Order {
            argv: self.flow.for_run(&workflow.bundle_dir, &run_dir, &dispatch.params_file(&run_id)),
            run_dir,
            time_limit_ms: u64::try_from(self.timeout.as_millis()).unwrap_or(u64::MAX),
            of: OrderOrigin {
                request_id: Some(ask.request_id.clone()),
                workflow: Some(ask.workflow.clone()),
                mode: ask.mode,
                started_at: action.started_at.clone(),
                attempt: action.attempt.clone(),
            },
            run_id: run_id.clone(),
        };
        let params = serde_json::to_vec(inputs.rendered()).unwrap_or_default();
        if let Err(fault) = dispatch.order(order, self.store.server_id(), &token, Some(&params)) {
            tracing::warn!("a run couldn't be handed to a keeper, so nothing was started: {fault}");
            return self.take_back(held, &run_id);
        }
        if let Err(fault) = project_running(&self.store, &action) {
            tracing::warn!("a record of a run that has begun couldn't be written; it is written when it ends: {fault}");
        }
        Ok(Begun::Dispatched(run_id, token))
    }

    fn take_back(&self, held: &StripeGuard, run_id: &RunId) -> Result<Begun, StoreError> {
        self.revoke_unclaimed(Some(held), run_id)?;
        match self.settle(Some(held), run_id)? {
            View::Ended(result) => Ok(Begun::Answer(Box::new(RunResult::clone(&result)))),
            _ => Ok(Begun::Replay(run_id.clone())),
        }
    }
}

/// What a refusal before any attempt says of the permission: a call that can't be understood was never decided about.
const fn permission_of_refusal(reason: Reason) -> Option<Permission> {
    match reason {
        Reason::InvalidInput | Reason::UnknownWorkflow | Reason::WorkflowUnavailable | Reason::AppUnreachable => None,
        _ => Some(Permission::Deny),
    }
}

impl Refused {
    fn of(reason: Reason) -> Self {
        Self { reason, code: None, workflow: None, invalid_inputs: Vec::new() }
    }
}
