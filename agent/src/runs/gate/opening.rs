//! The three writes that open an attempt, in the only order in which a crash between any two of them can be repaired: the
//! record, so that whoever finds the reservation finds a run; the reservation; the index.

use serde_json::Map;

use super::history::History;
use super::{Ask, Started};
use crate::contract::ids::RunId;
use crate::runs::clock::utc_now;
use crate::runs::index;
use crate::runs::ledger::{Ledger, Reservation};
use crate::runs::record::{AttemptOf, Phase, Process, RunRecord};
use crate::runs::request_hash::{Attempt, Era, RequestHash};
use crate::runs::store::{RunStore, StoreError};

/// An attempt that is being opened.
#[derive(Debug)]
pub struct Opening<'a> {
    store: &'a RunStore,
    ask: &'a Ask,
    started: Started,
}

impl<'a> Opening<'a> {
    pub fn new(store: &'a RunStore, ask: &'a Ask, attempt: Attempt) -> Self {
        let ledger_key = RequestHash::of(&ask.request_id).ledger_key(attempt, Era::Ours);
        let started = Started { run_id: RunId::random(), attempt, ledger_key, started_at: utc_now() };
        Self { store, ask, started }
    }

    pub fn started(&self) -> &Started {
        &self.started
    }

    pub fn write_record(&self) -> Result<(), StoreError> {
        self.store.write(&record(self.ask, &self.started, self.store.this_process()))
    }

    pub fn reserve(&self, ledger: &Ledger) -> Result<Reservation, StoreError> {
        Ok(ledger.reserve(&self.started.ledger_key, &self.started.run_id)?)
    }

    pub fn enter_in_index(&self, history: &mut History) -> Result<(), StoreError> {
        history.add(self.started.run_id.clone(), self.ask.fingerprint.clone(), self.ask.workflow.clone());
        write_index(self.store, self.ask, history)
    }

    /// Somebody else has the key: the run never was, and its id was never told to anybody.
    pub fn forget(&self) -> Result<(), StoreError> {
        self.store.forget(&self.started.run_id)
    }
}

/// The record of a reservation that somebody made without leaving one. Nobody answers for it.
pub fn write_orphan(store: &RunStore, ask: &Ask, attempt: Attempt, run_id: &RunId) -> Result<(), StoreError> {
    let ledger_key = RequestHash::of(&ask.request_id).ledger_key(attempt, Era::Ours);
    let started = Started { run_id: run_id.clone(), attempt, ledger_key, started_at: utc_now() };
    store.write(&record(ask, &started, Process::Nobody))
}

pub fn write_index(store: &RunStore, ask: &Ask, history: &History) -> Result<(), StoreError> {
    let hash = RequestHash::of(&ask.request_id);
    Ok(index::write(store.root().requests(), &hash, &history.entry(ask), store.key())?)
}

fn record(ask: &Ask, started: &Started, process: Process) -> RunRecord {
    RunRecord {
        run_id: started.run_id.clone(),
        request_id: Some(ask.request_id.clone()),
        workflow: Some(ask.workflow.clone()),
        mode: ask.mode,
        started_at: started.started_at.clone(),
        process,
        attempt: Some(AttemptOf {
            attempt: started.attempt,
            ledger_key: started.ledger_key.clone(),
            fingerprint: ask.fingerprint.clone(),
        }),
        phase: Phase::Running,
        evidence: Map::new(),
    }
}
