//! Runs that the store doesn't know: an older agent's, found by their files. One that has ended is taken in as it ended; one that goes on
//! is left to whoever has it.

use super::classify;
use super::core::Core;
use super::history::Ask;
use super::settle::{Ending, evidence_of};
use super::watch::View;
use crate::contract::ids::RunId;
use crate::contract::outcome::Outcome;
use crate::contract::reason::Reason;
use crate::contract::result::RunResult;
use crate::flow::approval;
use crate::flow::run_dir::RunDir;
use crate::lifecycle::StoreFault;
use crate::lifecycle::store::Import;
use crate::runs::StoreError;
use crate::runs::clock::utc_now;
use crate::runs::dispatch::{Keeper, OlderState, Revocation};
use crate::runs::ledger::Lookup;
use crate::runs::lock::StripeGuard;
use crate::runs::record::owner::{Liveness, this_host};
use crate::runs::record::{AttemptOf, Phase, Process, RecordRead, RunRecord, StoredResult};
use crate::runs::request_hash::{Attempt, Era, RequestHash};

impl Core {
    /// What the files say of a run.
    pub(super) fn take_over(&self, held: Option<&StripeGuard>, run_id: &RunId) -> Result<View, StoreError> {
        let read = self.store.read(run_id)?;
        let record = match read {
            RecordRead::Valid(record) => {
                if let Some(result) = record.result() {
                    self.take_in_finished(&record, result)?;
                    return self.settle(held, run_id);
                }
                *record
            }
            RecordRead::Missing | RecordRead::Corrupt => {
                let traces = self.store.traces(run_id)?;
                if read == RecordRead::Missing && !traces.dispatch && !traces.run_dir {
                    // What is missing from a folder that was taken away proves nothing.
                    let there = self.store.root().is_where_it_was();
                    let gone = || std::io::Error::other("the store was taken away").into();
                    return if there { Ok(View::Unknown) } else { Err(gone()) };
                }
                let record = self.of_its_dispatch(run_id)?;
                self.store.set_aside(run_id)?;
                if !self.never_ended(&record)? {
                    self.take_in(&record, &Ending::interrupted())?;
                    return self.settle(held, run_id);
                }
                record
            }
        };
        match self.older_end(&record)? {
            Some(ending) => {
                self.take_in(&record, &ending)?;
                self.settle(held, run_id)
            }
            None => {
                let run_dir = RunDir::open(&self.store.root().run_dir(run_id));
                let waiting_for_approval = approval::waiting_until(&run_dir, jiff::Timestamp::now()).is_some();
                Ok(View::Running { waiting_for_approval })
            }
        }
    }

    /// A reservation whose run has left nothing at all.
    pub(super) fn take_in_lost(&self, ask: &Ask, attempt: Attempt, run_id: &RunId) -> Result<(), StoreError> {
        let ledger_key = RequestHash::of(&ask.request_id).ledger_key(attempt, Era::Ours);
        let record = RunRecord {
            run_id: run_id.clone(),
            request_id: Some(ask.request_id.clone()),
            workflow: Some(ask.workflow.clone()),
            mode: ask.mode,
            started_at: utc_now(),
            process: Process::Nobody,
            attempt: Some(AttemptOf { attempt, ledger_key, fingerprint: ask.fingerprint.clone() }),
            phase: Phase::Running,
            evidence: serde_json::Map::new(),
        };
        self.take_in(&record, &Ending::interrupted())
    }

    /// How a run that is recorded as running has ended; `None` while it goes on.
    fn older_end(&self, record: &RunRecord) -> Result<Option<Ending>, StoreError> {
        let dispatch = self.store.dispatch();
        let liveness = record.process.liveness(self.store.root().servers())?;
        if !matches!(record.process, Process::Server { .. }) {
            let gone = matches!(liveness, Liveness::Dead | Liveness::Unprovable);
            return Ok(gone.then(Ending::interrupted));
        }
        if liveness == Liveness::Elsewhere {
            return Ok(None);
        }
        Ok(match dispatch.older_state(&record.run_id)? {
            OlderState::Unclaimed if liveness == Liveness::Alive => None,
            OlderState::Unclaimed => match dispatch.revoke_older(&record.run_id, self.store.server_id())? {
                Revocation::Revoked => Some(Ending::not_started(Reason::PlatformError)),
                // The keeper was quicker; the next look sees what it does.
                Revocation::KeeperClaimed => None,
            },
            OlderState::Revoked => Some(Ending::not_started(Reason::PlatformError)),
            OlderState::Claimed(Keeper::Alive) => None,
            OlderState::Claimed(Keeper::Gone) => Some(Ending::interrupted()),
            OlderState::Claimed(Keeper::Exited(facts)) => {
                let run_dir = self.store.root().run_dir(&record.run_id);
                let classified = classify::first(&record.run_id, &run_dir, &facts, || dispatch.printed(&record.run_id));
                Some(Ending::of(classified, &facts))
            }
        })
    }

    /// What a dispatch tells of a run, as the record that was there when it began.
    fn of_its_dispatch(&self, run_id: &RunId) -> Result<RunRecord, StoreError> {
        let intent = self.store.dispatch().intent(run_id)?;
        let process = intent.as_ref().map_or(Process::Nobody, |intent| Process::Server {
            id: intent.owner,
            pid: std::process::id(),
            host: this_host(),
        });
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
            evidence: serde_json::Map::new(),
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

    /// Its record stays as it is: what an older agent wrote is kept to the letter.
    fn take_in_finished(&self, record: &RunRecord, result: &StoredResult) -> Result<(), StoreError> {
        let executor_started = match result.reason.outcome() {
            Outcome::DidNotRun => result.facts.technical.transaction.is_some(),
            _ => true,
        };
        let import = Import {
            record,
            result: result.clone(),
            code: None,
            executor_started,
            executor_end: None,
            evidence: record.evidence.clone(),
            projected: true,
            policy_version: self.in_force()?.version,
        };
        Ok(self.actions().import(&import)?)
    }

    fn take_in(&self, record: &RunRecord, ending: &Ending) -> Result<(), StoreError> {
        let result = RunResult {
            reason: ending.reason,
            run_id: Some(record.run_id.clone()),
            request_id: record.request_id.clone(),
            workflow: record.workflow.clone(),
            mode: record.mode,
            replayed: false,
            facts: ending.facts.clone(),
        };
        let import = Import {
            record,
            result: StoredResult::of(&result).ok_or(StoreFault::BindingMismatch)?,
            code: ending.code,
            executor_started: ending.executor_started,
            executor_end: ending.executor_end,
            evidence: evidence_of(&ending.binding),
            projected: false,
            policy_version: self.in_force()?.version,
        };
        Ok(self.actions().import(&import)?)
    }
}
