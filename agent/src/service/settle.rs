//! What is known of a run now: its receipt, and, while there is none, what its owner and its keeper left behind. A run that turns out
//! to have ended is sealed before anybody is told. Source: *Requests, retries, and records*; lifecycle, *Recovery*.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::classify::{self, Classified};
use super::core::Core;
use super::watch::View;
use crate::contract::ids::RunId;
use crate::contract::outcome::{Mode, Outcome, RecordChanged};
use crate::contract::reason::Reason;
use crate::contract::result::{ResultFacts, RunResult, Technical};
use crate::flow::report::Binding;
use crate::flow::run_dir::RunDir;
use crate::flow::{approval, decisions};
use crate::lifecycle::StoreFault;
use crate::lifecycle::crash::{Point, pass};
use crate::lifecycle::events::EventKind;
use crate::lifecycle::executor::ExecutorStatus;
use crate::lifecycle::facts::LifecycleFacts;
use crate::lifecycle::gate::ledger_forbids;
use crate::lifecycle::project::{project_ended, record_of};
use crate::lifecycle::sealed::SealedResult;
use crate::lifecycle::store::{Action, Known, Receipt, ReceiptRead, Sealing};
use crate::lifecycle::types::{Code, Permission, Phase};
use crate::runs::StoreError;
use crate::runs::dispatch::{ExitFacts, FlowEnd, Keeper};
use crate::runs::lock::StripeGuard;
use crate::runs::record::owner::this_host;
use crate::runs::record::{RecordRead, StoredResult};

const RUN_ID_SHA256: &str = "run_id_sha256";
pub(super) const REPORT_SHA256: &str = "report_sha256";
const WORKFLOW_CONTRACT: &str = "workflow_contract_sha256";
const BUNDLE_CONTENT: &str = "bundle_content_digest";

/// What an action came to, before it is sealed.
pub struct Ending {
    pub reason: Reason,
    pub facts: ResultFacts,
    pub permission: Option<Permission>,
    pub code: Option<Code>,
    pub executor_started: bool,
    pub executor_end: Option<ExecutorStatus>,
    pub started_at: Option<String>,
    pub binding: Binding,
}

impl Ending {
    /// Nothing was started, for this reason.
    pub fn not_started(reason: Reason) -> Self {
        Self {
            reason,
            facts: ResultFacts::default(),
            permission: Some(Permission::Allow),
            code: None,
            executor_started: false,
            executor_end: None,
            started_at: None,
            binding: Binding::default(),
        }
    }

    /// It may have been started, and nobody can say how it ended.
    pub fn interrupted() -> Self {
        let executor_end = Some(ExecutorStatus::Incomplete);
        Self { executor_started: true, executor_end, ..Self::not_started(Reason::Interrupted) }
    }

    pub fn of(classified: Classified, exit: &ExitFacts) -> Self {
        Self {
            facts: classified.facts,
            executor_started: exit.end != FlowEnd::NeverStarted,
            executor_end: Some(classified.status),
            started_at: exit.started_at.clone(),
            binding: classified.binding,
            ..Self::not_started(classified.reason)
        }
    }
}

impl Core {
    /// What a waiting call is shown.
    pub fn look(&self, run_id: &RunId) -> View {
        self.settle(None, run_id).unwrap_or_else(|fault| {
            tracing::warn!("a run can't be looked at: {fault}");
            View::Unreadable
        })
    }

    /// Whether a run has ended in a reason that allows a new attempt.
    pub fn is_retryable(&self, held: Option<&StripeGuard>, run_id: &RunId) -> Result<bool, StoreError> {
        Ok(matches!(self.settle(held, run_id)?, View::Ended(result) if result.reason.allows_new_attempt()))
    }

    pub(super) fn settle(&self, held: Option<&StripeGuard>, run_id: &RunId) -> Result<View, StoreError> {
        Ok(match self.settled(held, run_id)? {
            View::Ended(result) if self.is_doubted(&result) => View::Ended(Arc::new(doubted(&result))),
            view => view,
        })
    }

    /// The report that says "nothing written" is older than a decision that may be acting in the app. Told, never stored: Flow's next
    /// report is the run's result. Source: *A re-read never turns a reviewed run into a retryable result*.
    fn is_doubted(&self, result: &RunResult) -> bool {
        let run_dir = |run_id| RunDir::open(&self.store.root().run_dir(run_id));
        result.reason.row().record_changed == RecordChanged::No
            && result.run_id.as_ref().is_some_and(|run_id| decisions::delivery_is_open(&run_dir(run_id)))
    }

    fn settled(&self, held: Option<&StripeGuard>, run_id: &RunId) -> Result<View, StoreError> {
        // Each turn is one step of another server further; more of them than this, and somebody is cheating.
        for _ in 0..8 {
            let Some(Known { action, receipt }) = self.actions().find(run_id)? else {
                return self.take_over(held, run_id);
            };
            if !action.tool.is_run() {
                self.settle_decision(&action, receipt.as_ref())?;
                return Ok(View::Unknown);
            }
            let stepped = match receipt {
                Some(ReceiptRead::Valid(receipt)) => match self.reviewed(&action, &receipt) {
                    Some(ending) => self.revise(&action, receipt.revision, &ending),
                    None => return self.told(held, &action, &receipt),
                },
                Some(ReceiptRead::Corrupt { revision }) => {
                    tracing::warn!("a receipt doesn't hold against its digest; the run is told of as unreadable");
                    let code = Some(Code::ReceiptCorrupt);
                    let started = action.claimed;
                    let ending =
                        Ending { code, executor_started: started, ..Ending::not_started(Reason::ResultUnreadable) };
                    self.revise(&action, revision, &ending)
                }
                None => match self.end_of(held, &action)? {
                    End::Moved => continue,
                    End::Reached(ending) => {
                        pass(Point::ExecuteAfterExit).map_err(StoreFault::from)?;
                        match self.seal(&action, &ending) {
                            Err(fault) if action.claimed && !is_lost_race(&fault) => {
                                return Ok(View::Ended(Arc::new(not_recorded(&action, &fault))));
                            }
                            sealed => sealed,
                        }
                    }
                    End::Open => return Ok(self.going(&action)),
                },
            };
            match stepped {
                Ok(()) => {}
                Err(fault) if is_lost_race(&fault) => {}
                Err(fault) => return Err(fault.into()),
            }
        }
        Err(StoreFault::StaleOwner.into())
    }

    /// A receipt stands. What is still to be made of it is made, and it is told.
    fn told(&self, held: Option<&StripeGuard>, action: &Action, receipt: &Receipt) -> Result<View, StoreError> {
        let action = if action.phase == Phase::Projected {
            self.copy_again(held, action, receipt);
            action.clone()
        } else {
            self.finish(held, action)
        };
        let Some(stored) = receipt.run() else { return Ok(View::Unknown) };
        let result = result_of(&action, receipt, stored, self.actions().unknown_before(&action)?);
        let attempted = action.counted_attempt().is_some() && result.reason.allows_new_attempt();
        if attempted && self.ledger_contradicts(&action)? {
            let (lifecycle, sandbox) = (result.facts.lifecycle.clone(), result.facts.sandbox);
            let facts = ResultFacts { lifecycle, sandbox, ..ResultFacts::default() };
            return Ok(View::Ended(Arc::new(RunResult { reason: Reason::ResultUnreadable, facts, ..result })));
        }
        Ok(View::Ended(Arc::new(result)))
    }

    /// A finished run that allows another attempt is believed only while the ledger doesn't speak against it.
    fn ledger_contradicts(&self, action: &Action) -> Result<bool, StoreError> {
        let Some(attempt) = action.counted_attempt() else { return Ok(false) };
        Ok(self.ledger()?.lookup(std::slice::from_ref(&attempt.ledger_key))?.iter().any(ledger_forbids))
    }

    /// Nothing can be proven of a server of another computer.
    pub(super) fn is_elsewhere(&self, action: &Action) -> Result<bool, StoreError> {
        match action.owner.filter(|owner| *owner != self.store.server_id()) {
            Some(owner) => Ok(self.actions().host_of(owner)?.is_some_and(|host| host != this_host())),
            None => Ok(false),
        }
    }

    pub(super) fn is_owner_alive(&self, action: &Action) -> Result<bool, StoreError> {
        match action.owner {
            Some(owner) if owner == self.store.server_id() => Ok(true),
            Some(owner) => Ok(owner.is_alive(self.store.root().servers())?),
            None => Ok(false),
        }
    }

    /// How an action without a receipt has ended.
    fn end_of(&self, held: Option<&StripeGuard>, action: &Action) -> Result<End, StoreError> {
        if self.is_elsewhere(action)? {
            return Ok(End::Open);
        }
        let alive = self.is_owner_alive(action)?;
        Ok(match action.phase {
            Phase::Claimed => self.end_of_claimed(action)?.map_or(End::Open, End::reached),
            Phase::Waiting | Phase::Authorized if !self.actions().wait_is_over(action)? => End::Open,
            Phase::Waiting => {
                let (code, permission) = (Some(Code::FallbackExpired), Some(Permission::Deny));
                End::reached(Ending { code, permission, ..Ending::not_started(Reason::PolicyRefused) })
            }
            Phase::Dispatched if alive => End::Open,
            _ if alive && !self.is_abandoned(held, action) => End::Open,
            Phase::Dispatched => {
                self.revoke(action)?;
                End::Moved
            }
            _ => match self.find_reservation(action) {
                // Another look at the same moment has counted it.
                Err(StoreError::Actions(fault)) if is_lost_race(&fault) => End::Moved,
                found => {
                    found?;
                    let code = Some(Code::NotDispatched);
                    End::reached(Ending { code, ..Ending::not_started(Reason::PlatformError) })
                }
            },
        })
    }

    /// An action of this server on its way to its dispatch, of which nobody is working: who is holds the request's stripe, unless it
    /// waits for its turn in the sandbox.
    fn is_abandoned(&self, held: Option<&StripeGuard>, action: &Action) -> bool {
        let playing = self.sandbox().is_some_and(|sandbox| sandbox.facts_of(action.run_id()).is_some());
        held.is_some() && action.owner == Some(self.store.server_id()) && !playing
    }

    fn end_of_claimed(&self, action: &Action) -> Result<Option<Ending>, StoreError> {
        let (dispatch, run_id) = (self.store.dispatch(), action.run_id());
        let token = action.token.as_deref().unwrap_or_default();
        Ok(match dispatch.keeper(run_id, token)? {
            Keeper::Alive => None,
            Keeper::Gone => Some(Ending::interrupted()),
            Keeper::Exited(facts) => {
                let run_dir = self.store.root().run_dir(run_id);
                let classified = classify::first(run_id, &run_dir, &facts, || dispatch.printed(run_id));
                Some(Ending::of(classified, &facts))
            }
        })
    }

    /// Takes back a dispatch that no keeper has claimed. One that was claimed is its keeper's.
    pub(super) fn revoke_unclaimed(&self, held: Option<&StripeGuard>, run_id: &RunId) -> Result<(), StoreError> {
        if let Some(Known { action, receipt: None }) = self.actions().find(run_id)?
            && action.phase == Phase::Dispatched
        {
            self.revoke(&action)?;
            self.settled(held, run_id)?;
        }
        Ok(())
    }

    fn revoke(&self, action: &Action) -> Result<(), StoreError> {
        let ending = Ending { code: Some(Code::IntentRevoked), ..Ending::not_started(Reason::PlatformError) };
        self.actions().revoke(action, &self.sealing(action, &ending)?)?;
        Ok(())
    }

    /// An attempt whose server died between the ledger and the count has its key, and counts.
    fn find_reservation(&self, action: &Action) -> Result<(), StoreError> {
        let Some(attempt) = action.attempt.as_ref().filter(|_| !action.reserved) else { return Ok(()) };
        let found = self.ledger()?.lookup(std::slice::from_ref(&attempt.ledger_key))?;
        if found.iter().any(|found| found.owner() == Some(action.run_id())) {
            self.actions().count_attempt(action)?;
        }
        Ok(())
    }

    fn reviewed(&self, action: &Action, receipt: &Receipt) -> Option<Ending> {
        let result = receipt.run().filter(|result| result.reason.outcome() == Outcome::NeedsReview)?;
        let known = Classified {
            reason: result.reason,
            facts: result.facts.clone(),
            binding: binding_of(&receipt.evidence),
            status: receipt.executor_end.unwrap_or(ExecutorStatus::Completed),
        };
        let run_dir = self.store.root().run_dir(action.run_id());
        let decided = classify::again(action.run_id(), &run_dir, &known)?;
        (decided.reason != known.reason).then(|| Ending {
            facts: decided.facts,
            executor_started: true,
            executor_end: Some(decided.status),
            started_at: receipt.started_at.clone(),
            binding: decided.binding,
            ..Ending::not_started(decided.reason)
        })
    }

    pub(super) fn going(&self, action: &Action) -> View {
        let run_dir = RunDir::open(&self.store.root().run_dir(action.run_id()));
        let waiting_for_approval = approval::waiting_until(&run_dir, jiff::Timestamp::now()).is_some();
        View::Running { waiting_for_approval }
    }

    /// A word that isn't terminal is never sealed.
    fn sealing(&self, action: &Action, ending: &Ending) -> Result<Sealing, StoreFault> {
        let mut facts = ending.facts.clone();
        if action.mode == Mode::Sandbox && facts.sandbox.is_none() {
            // What can't be read isn't told.
            facts.sandbox = self.sandbox_of(action.run_id()).ok().flatten();
        }
        let result = RunResult { facts, ..rendered(action, ending.reason) };
        Ok(Sealing {
            permission: ending.permission,
            result: SealedResult::Run(StoredResult::of(&result).ok_or(StoreFault::BindingMismatch)?),
            code: ending.code,
            executor_started: ending.executor_started,
            executor_end: ending.executor_end,
            started_at: ending.started_at.clone(),
            evidence: evidence_of(&ending.binding),
        })
    }

    fn seal(&self, action: &Action, ending: &Ending) -> Result<(), StoreFault> {
        self.actions().record(action, &self.sealing(action, ending)?)
    }

    fn revise(&self, action: &Action, before: i64, ending: &Ending) -> Result<(), StoreFault> {
        self.actions().revise(action, before, &self.sealing(action, ending)?)
    }

    /// Seals an action of this call, and tells what it came to.
    pub(super) fn seal_and_tell(
        &self,
        held: Option<&StripeGuard>,
        action: &Action,
        ending: Ending,
    ) -> Result<RunResult, StoreError> {
        self.seal(action, &ending)?;
        match self.settled(held, action.run_id())? {
            View::Ended(result) => Ok(RunResult::clone(&result)),
            _ => Err(StoreFault::StaleOwner.into()),
        }
    }

    /// A refusal of this call, sealed as a whole.
    pub(super) fn refuse_and_tell(&self, draft: &Action, ending: &Ending) -> Result<RunResult, StoreError> {
        self.actions().refuse(draft, &self.sealing(draft, ending)?)?;
        match self.settled(None, draft.run_id())? {
            View::Ended(result) => Ok(RunResult::clone(&result)),
            _ => Err(StoreFault::StaleOwner.into()),
        }
    }

    /// Checkpoint and projection, under the stripe, so that an older copy never comes after a newer one. A step that fails changes
    /// nothing of the result and is tried again at the next look.
    fn finish(&self, held: Option<&StripeGuard>, seen: &Action) -> Action {
        let finished = self.finished(held, seen);
        finished.unwrap_or_else(|(kind, fault)| {
            tracing::warn!("a run that has ended isn't copied everywhere yet; it is tried again: {fault}");
            // Nothing depends on it being noted.
            let _ = self.actions().note(seen, kind);
            seen.clone()
        })
    }

    /// A record that was lost or changed since is made again. What an older agent wrote stays to the letter while it can be believed.
    fn copy_again(&self, held: Option<&StripeGuard>, action: &Action, receipt: &Receipt) {
        let done = || -> Result<(), StoreError> {
            let read = self.store.read(action.run_id())?;
            match &read {
                RecordRead::Valid(record) if action.is_imported() || **record == record_of(action, Some(receipt)) => {
                    return Ok(());
                }
                RecordRead::Valid(_) | RecordRead::Missing => {}
                RecordRead::Corrupt => self.store.set_aside(action.run_id())?,
            }
            let _guard = match held {
                Some(_) => None,
                None => Some(self.store.lock_run(action.run_id(), action.request_id.as_ref())?),
            };
            project_ended(&self.store, || self.ledger(), action, receipt)
        };
        if let Err(fault) = done() {
            tracing::warn!("a record that was lost can't be written again now: {fault}");
        }
    }

    fn finished(&self, held: Option<&StripeGuard>, seen: &Action) -> Result<Action, (EventKind, StoreError)> {
        let checkpoint = |fault: StoreError| (EventKind::CheckpointFailed, fault);
        let projection = |fault: StoreError| (EventKind::ProjectionFailed, fault);
        let again = || -> Result<(Action, Receipt), StoreError> {
            match self.actions().find(seen.run_id())? {
                Some(Known { action, receipt: Some(ReceiptRead::Valid(receipt)) }) => Ok((action, *receipt)),
                _ => Err(StoreFault::StaleOwner.into()),
            }
        };
        let _guard = match held {
            Some(_) => None,
            None => Some(self.store.lock_run(seen.run_id(), seen.request_id.as_ref()).map_err(checkpoint)?),
        };
        let (action, _) = again().map_err(checkpoint)?;
        if action.phase == Phase::Recorded {
            self.actions().checkpoint(&action, None).map_err(|fault| checkpoint(fault.into()))?;
        }
        let (action, receipt) = again().map_err(checkpoint)?;
        if action.phase == Phase::Checkpointed {
            project_ended(&self.store, || self.ledger(), &action, &receipt).map_err(projection)?;
            let dispatch = self.store.dispatch();
            let discarded = dispatch.discard_params(action.run_id());
            discarded
                .and_then(|()| dispatch.discard_fragments(action.run_id()))
                .map_err(|fault| projection(fault.into()))?;
            self.actions().mark_projected(&action).map_err(|fault| projection(fault.into()))?;
        }
        again().map(|(action, _)| action).map_err(projection)
    }

    /// Ends what dead servers left open. Nothing is started by it.
    pub(super) fn recover_open(&self) -> Result<(), StoreError> {
        for run_id in self.actions().open_runs()? {
            pass(Point::RecoverEach).map_err(StoreFault::from)?;
            if let Err(fault) = self.settle(None, &run_id) {
                tracing::warn!("a run that a dead server left can't be settled now: {fault}");
            }
        }
        // Inputs that nobody needs any more, those of writers that died half-way among them.
        for (run_id, name) in self.store.dispatch().with_params()? {
            if !matches!(self.settle(None, &run_id)?, View::Running { .. } | View::Unreadable) {
                self.store.dispatch().discard_file(&name)?;
            }
        }
        Ok(())
    }
}

/// What is known of the end of an action without a receipt.
enum End {
    /// It goes on, or nothing can be proven.
    Open,
    Reached(Box<Ending>),
    /// This look, or another one, has just changed it: what stands now is looked at again.
    Moved,
}

impl End {
    fn reached(ending: Ending) -> Self {
        Self::Reached(Box::new(ending))
    }
}

/// Somebody else took the step first; what stands now is looked at again.
fn is_lost_race(fault: &StoreFault) -> bool {
    matches!(fault, StoreFault::StaleOwner | StoreFault::ReceiptConflict)
}

/// The result of a run, told from its receipt: sentences come from the reason.
fn result_of(action: &Action, receipt: &Receipt, stored: &StoredResult, related_unknown: bool) -> RunResult {
    let reason = stored.reason;
    let mut lifecycle = LifecycleFacts { related_unknown, ..LifecycleFacts::of(action, Some(receipt)) };
    lifecycle.waits_in_flow(reason);
    let facts = ResultFacts { lifecycle: Some(lifecycle), ..stored.facts.clone() };
    RunResult { facts, ..rendered(action, reason) }
}

/// The result is known to nobody for certain until it is written down: it is looked up again at the next call.
fn not_recorded(action: &Action, fault: &StoreFault) -> RunResult {
    let hint = fault.hint();
    tracing::warn!("the result of a run can't be written down now; it is looked up again: {fault}; hint: {hint}");
    let lifecycle = LifecycleFacts { code: Some(Code::RecordFailed), ..LifecycleFacts::of(action, None) };
    let facts = ResultFacts { lifecycle: Some(lifecycle), ..ResultFacts::default() };
    RunResult { facts, ..rendered(action, Reason::ResultUnreadable) }
}

fn rendered(action: &Action, reason: Reason) -> RunResult {
    RunResult {
        reason,
        run_id: Some(action.run_id().clone()),
        request_id: action.request_id.clone(),
        workflow: action.workflow.clone(),
        mode: action.mode,
        replayed: false,
        facts: ResultFacts::default(),
    }
}

fn doubted(result: &RunResult) -> RunResult {
    let facts = ResultFacts { technical: Technical::default(), ..result.facts.clone() };
    RunResult { reason: Reason::SaveNotConfirmed, facts, ..result.clone() }
}

pub(super) fn evidence_of(binding: &Binding) -> Map<String, Value> {
    let digests = [
        (REPORT_SHA256, &binding.file_sha256),
        (RUN_ID_SHA256, &binding.run_id_sha256),
        (WORKFLOW_CONTRACT, &binding.workflow_contract_sha256),
        (BUNDLE_CONTENT, &binding.bundle_content_digest),
    ];
    digests.into_iter().filter_map(|(key, digest)| Some((key.to_owned(), digest.clone()?.into()))).collect()
}

fn binding_of(evidence: &Map<String, Value>) -> Binding {
    let digest = |key| evidence.get(key).and_then(Value::as_str).map(str::to_owned);
    Binding {
        file_sha256: digest(REPORT_SHA256),
        run_id_sha256: digest(RUN_ID_SHA256),
        workflow_contract_sha256: digest(WORKFLOW_CONTRACT),
        bundle_content_digest: digest(BUNDLE_CONTENT),
    }
}
