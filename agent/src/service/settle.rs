//! What is known of a run now: its record, and, while that says running, what its owner and its keeper left behind.
//! A run that turns out to have ended is written down before anybody is told. Source: *Requests, retries, and records*.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::classify::{self, Classified};
use super::core::Core;
use super::watch::View;
use crate::contract::evidence::TransactionOutcome;
use crate::contract::ids::RunId;
use crate::contract::outcome::{Mode, Outcome, RecordChanged};
use crate::contract::reason::Reason;
use crate::contract::result::{ResultFacts, RunResult, Technical};
use crate::flow::report::Binding;
use crate::flow::run_dir::RunDir;
use crate::flow::{approval, decisions};
use crate::runs::StoreError;
use crate::runs::clock::utc_now;
use crate::runs::dispatch::{DispatchState, Revocation};
use crate::runs::gate::RequestGate;
use crate::runs::ledger::Lookup;
use crate::runs::lock::StripeGuard;
use crate::runs::record::owner::Liveness;
use crate::runs::record::{Phase, Process, RecordRead, RunRecord, StoredResult};

const RUN_ID_SHA256: &str = "run_id_sha256";
const REPORT_SHA256: &str = "report_sha256";
const WORKFLOW_CONTRACT: &str = "workflow_contract_sha256";
const BUNDLE_CONTENT: &str = "bundle_content_digest";

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

    fn settle(&self, held: Option<&StripeGuard>, run_id: &RunId) -> Result<View, StoreError> {
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
        let record = match self.store.read(run_id)? {
            RecordRead::Valid(record) => record,
            read => return self.without_record(held, run_id, &read),
        };
        let end = match record.result() {
            Some(result) if result.reason.outcome() == Outcome::NeedsReview => match self.reviewed(&record, result) {
                Some(decided) => decided,
                None => return Ok(ended(&record, result)),
            },
            Some(result) => return self.finished(&record, result),
            None => match self.end_of(&record)? {
                Some(end) => end,
                None => return Ok(self.going(&record)),
            },
        };
        self.write_down(held, &record, &end)
    }

    /// A finished run that allows another attempt is believed only while the ledger doesn't speak against it.
    fn finished(&self, record: &RunRecord, result: &StoredResult) -> Result<View, StoreError> {
        let attempted = record.attempt.is_some() && result.reason.allows_new_attempt();
        if attempted {
            let ledger = self.ledger()?;
            if RequestGate::new(&self.store, &ledger).ledger_contradicts(record)? {
                let facts = ResultFacts { sandbox: result.facts.sandbox, ..ResultFacts::default() };
                let doubted = RunResult { facts, ..rendered(record, Reason::ResultUnreadable) };
                return Ok(View::Ended(Arc::new(doubted)));
            }
        }
        Ok(ended(record, result))
    }

    /// How a run that is recorded as running has ended; `None` while it goes on.
    fn end_of(&self, record: &RunRecord) -> Result<Option<Classified>, StoreError> {
        let dispatch = self.store.dispatch();
        let liveness = record.process.liveness(self.store.root().servers())?;
        if !matches!(record.process, Process::Server { .. }) {
            let gone = matches!(liveness, Liveness::Dead | Liveness::Unprovable);
            return Ok(gone.then(interrupted));
        }
        if liveness == Liveness::Elsewhere {
            return Ok(None);
        }
        Ok(match dispatch.state(&record.run_id)? {
            DispatchState::NoIntent | DispatchState::Unclaimed if liveness == Liveness::Alive => None,
            DispatchState::NoIntent | DispatchState::Unclaimed => {
                match dispatch.revoke(&record.run_id, self.store.server_id())? {
                    Revocation::Revoked => Some(never_started()),
                    // The keeper was quicker; the next look sees what it does.
                    Revocation::KeeperClaimed => None,
                }
            }
            DispatchState::Revoked => Some(never_started()),
            DispatchState::KeeperAlive => None,
            DispatchState::KeeperDied => Some(interrupted()),
            DispatchState::Exited(facts) => {
                let run_dir = self.store.root().run_dir(&record.run_id);
                let printed = || dispatch.printed(&record.run_id);
                Some(classify::first(&record.run_id, &run_dir, &facts, printed))
            }
        })
    }

    fn reviewed(&self, record: &RunRecord, result: &StoredResult) -> Option<Classified> {
        let known =
            Classified { reason: result.reason, facts: result.facts.clone(), binding: binding_of(&record.evidence) };
        let run_dir = self.store.root().run_dir(&record.run_id);
        classify::again(&record.run_id, &run_dir, &known).filter(|decided| decided.reason != known.reason)
    }

    fn going(&self, record: &RunRecord) -> View {
        let run_dir = RunDir::open(&self.store.root().run_dir(&record.run_id));
        let waiting_for_approval = approval::waiting_until(&run_dir, jiff::Timestamp::now()).is_some();
        View::Running { waiting_for_approval }
    }

    /// Writes an end down, once: under the stripe the record is read again, and whoever came first is believed.
    pub(super) fn write_down(
        &self,
        held: Option<&StripeGuard>,
        seen: &RunRecord,
        end: &Classified,
    ) -> Result<View, StoreError> {
        let _guard = if held.is_none() { Some(self.store.lock_record(seen)?) } else { None };
        let record = match self.store.read(&seen.run_id)? {
            RecordRead::Valid(record) if record.phase == seen.phase => record,
            RecordRead::Valid(record) => {
                return Ok(match record.result() {
                    Some(result) => ended(&record, result),
                    None => self.going(&record),
                });
            }
            read => return self.without_record(held, &seen.run_id, &read),
        };
        let mut facts = end.facts.clone();
        if record.mode == Mode::Sandbox && facts.sandbox.is_none() {
            facts.sandbox = self.sandbox_of(&record.run_id)?;
        }
        let result = RunResult { facts, ..rendered(&record, end.reason) };
        let Some(stored) = StoredResult::of(&result) else { return Ok(self.going(&record)) };
        let first_end = record.phase == Phase::Running;
        let bound = RunRecord { evidence: evidence_of(&end.binding), ..(*record).clone() };
        self.store.write(&if first_end { bound.finished(stored) } else { bound.updated(stored) })?;
        if first_end {
            self.store.dispatch().discard_params(&record.run_id)?;
            self.tell_ledger(&record, end);
        }
        Ok(View::Ended(Arc::new(result)))
    }

    /// What a dispatch tells of a run, as the record that was there when it began.
    fn dispatched_record(&self, run_id: &RunId) -> Result<RunRecord, StoreError> {
        let intent = self.store.dispatch().intent(run_id)?;
        let process = intent.as_ref().map_or(Process::Nobody, |intent| self.store.process_of(intent.owner));
        let origin = intent.map(|intent| intent.order.of);
        Ok(RunRecord {
            run_id: run_id.clone(),
            request_id: origin.as_ref().and_then(|origin| origin.request_id.clone()),
            workflow: origin.as_ref().and_then(|origin| origin.workflow.clone()),
            mode: origin.as_ref().map_or(self.mode(), |origin| origin.mode),
            started_at: origin.as_ref().map_or_else(utc_now, |origin| origin.started_at.clone()),
            process,
            attempt: origin.and_then(|origin| origin.attempt),
            phase: Phase::Running,
            evidence: Map::new(),
        })
    }

    /// The ledger knows the run's reservation and no outcome of it. Claim files hold no outcomes, so they can't tell.
    fn never_ended(&self, record: &RunRecord) -> Result<bool, StoreError> {
        let Some(attempt) = &record.attempt else { return Ok(false) };
        let ledger = self.ledger()?;
        let found = ledger.lookup(std::slice::from_ref(&attempt.ledger_key))?;
        let open =
            |found: &Lookup| matches!(found, Lookup::Record { run_id, outcome: None } if *run_id == record.run_id);
        Ok(ledger.fallback_reason().is_none() && found.iter().all(open))
    }

    /// The ledger is told afterwards, and once; a record that it wasn't told of still stands.
    fn tell_ledger(&self, record: &RunRecord, end: &Classified) {
        let Some(attempt) = &record.attempt else { return };
        let outcome = ledger_outcome(end.reason, end.facts.technical.transaction);
        let told = self.ledger().and_then(|ledger| ledger.record_outcome(&attempt.ledger_key, &record.run_id, outcome));
        if let Err(fault) = told {
            tracing::warn!("an outcome couldn't be written to the ledger: {fault}");
        }
    }

    /// A run whose record is gone or can't be believed. One whose end the ledger hasn't heard of goes on from its dispatch, and
    /// its true result is found; any other may have been anything before. One answer for every way to ask.
    fn without_record(
        &self,
        held: Option<&StripeGuard>,
        run_id: &RunId,
        read: &RecordRead,
    ) -> Result<View, StoreError> {
        let traces = self.store.traces(run_id)?;
        if *read == RecordRead::Missing && !traces.dispatch && !traces.run_dir {
            return Ok(View::Unknown);
        }
        let record = self.dispatched_record(run_id)?;
        if self.never_ended(&record)? {
            self.store.replace_corrupt(&record)?;
            return match self.end_of(&record)? {
                None => Ok(self.going(&record)),
                Some(end) => self.write_down(held, &record, &end),
            };
        }
        let end = interrupted();
        let result = rendered(&record, end.reason);
        if let Some(stored) = StoredResult::of(&result) {
            self.store.replace_corrupt(&record.clone().finished(stored))?;
            self.tell_ledger(&record, &end);
        }
        Ok(View::Ended(Arc::new(result)))
    }
}

fn ended(record: &RunRecord, stored: &StoredResult) -> View {
    View::Ended(Arc::new(RunResult { facts: stored.facts.clone(), ..rendered(record, stored.reason) }))
}

fn rendered(record: &RunRecord, reason: Reason) -> RunResult {
    RunResult {
        reason,
        run_id: Some(record.run_id.clone()),
        request_id: record.request_id.clone(),
        workflow: record.workflow.clone(),
        mode: record.mode,
        replayed: false,
        facts: ResultFacts::default(),
    }
}

fn doubted(result: &RunResult) -> RunResult {
    let facts = ResultFacts { technical: Technical::default(), ..result.facts.clone() };
    RunResult { reason: Reason::SaveNotConfirmed, facts, ..result.clone() }
}

fn interrupted() -> Classified {
    Classified { reason: Reason::Interrupted, facts: ResultFacts::default(), binding: Binding::default() }
}

fn never_started() -> Classified {
    Classified { reason: Reason::PlatformError, ..interrupted() }
}

fn evidence_of(binding: &Binding) -> Map<String, Value> {
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

/// What the ledger is told: Flow's own outcome unless the run isn't believed to have been without effect, else the one that
/// stands for the reason.
fn ledger_outcome(reason: Reason, transaction: Option<TransactionOutcome>) -> TransactionOutcome {
    let uncertain = reason.outcome() == Outcome::NotSureIfSaved;
    let told = transaction.filter(|outcome| !(uncertain && outcome.proves_no_effect()));
    told.unwrap_or(match reason {
        Reason::SavedAndChecked => TransactionOutcome::Verified,
        Reason::NotChecked => TransactionOutcome::CompletedUnverified,
        Reason::ChangeReversed => TransactionOutcome::RolledBack,
        Reason::Canceled => TransactionOutcome::Canceled,
        Reason::PlatformError | Reason::AppUnreachable | Reason::WorkflowUnavailable => {
            TransactionOutcome::FailedPlatform
        }
        Reason::NotReadyToRun | Reason::PolicyRefused | Reason::RunsDisabled => TransactionOutcome::RejectedPolicy,
        reason if reason.outcome() == Outcome::NeedsReview || reason == Reason::StoppedByPerson => {
            TransactionOutcome::HaltedBeforeEffect
        }
        _ => TransactionOutcome::ReconciliationRequired,
    })
}
