//! The store and its journal behind one lock: what each write does, what its client is told, and the record of both.
//!
//! An attempt is on the disk before the store is touched, and what was stored before an answer leaves.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use crate::encounter::{BadEncounter, Encounter};
use crate::fault::{Fault, Telling};
use crate::journal::{Event, Journal, JournalError, Problem, WriteNumber};
use crate::store::{Change, Seed, Snapshot, Store, StoreError};

#[derive(Debug)]
pub struct Clinic {
    desk: Mutex<Desk>,
}

#[derive(Debug)]
struct Desk {
    store: Store,
    journal: Journal,
}

/// What a client is told about its write.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub status: u16,
    pub body: Value,
}

/// A write that is done with, and what remains to be said about it.
#[derive(Debug)]
pub enum Written {
    /// Noted as told; it has to leave now.
    Now(Answer),
    /// It leaves after the delay, if anybody still listens.
    Late(LateAnswer),
}

/// An answer that isn't noted as told yet. Dropping it, wherever that happens, notes that nobody was told.
#[derive(Debug)]
pub struct LateAnswer {
    clinic: Arc<Clinic>,
    write: WriteNumber,
    answer: Option<Answer>,
}

/// A body that is no encounter.
#[derive(Debug)]
pub enum Unusable {
    Encounter(BadEncounter),
    TooLarge { limit: usize },
    Unreadable,
}

#[derive(Debug, thiserror::Error)]
pub enum ClinicError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Journal(#[from] JournalError),
}

impl Clinic {
    pub fn new(store: Store, journal: Journal) -> Self {
        Self { desk: Mutex::new(Desk { store, journal }) }
    }

    pub fn started(&self, url: &str) -> Result<(), ClinicError> {
        let desk = &mut *self.desk();
        let store = desk.store.snapshot()?;
        Ok(desk.journal.append(&[Event::Started { pid: std::process::id(), url, store: &store }])?)
    }

    pub fn stopped(&self) -> Result<(), ClinicError> {
        Ok(self.desk().journal.append(&[Event::Stopped])?)
    }

    pub fn snapshot(&self) -> Result<Snapshot, ClinicError> {
        Ok(self.desk().store.snapshot()?)
    }

    pub fn write(self: &Arc<Self>, body: &[u8], fault: Fault) -> Result<Written, ClinicError> {
        let encounter = match Encounter::parse(body) {
            Ok(encounter) => encounter,
            Err(bad) => return self.refuse(&Unusable::Encounter(bad), Some(body.len()), fault).map(Written::Now),
        };
        let desk = &mut *self.desk();
        let write = desk.journal.next_write();
        let bytes = Some(body.len());
        desk.journal.append(&[Event::Attempt { write, fault, bytes, asked: Some(&encounter), problem: None }])?;
        let change = desk.store.write(&encounter, fault.storing())?;
        let answer = answer(fault.telling(), &change);
        if fault.telling() == Telling::SavedLate {
            desk.journal.append(&[stored(write, &change)])?;
            return Ok(Written::Late(LateAnswer { clinic: Arc::clone(self), write, answer: Some(answer) }));
        }
        desk.journal.append(&[stored(write, &change), told(write, Some(&answer))])?;
        Ok(Written::Now(answer))
    }

    /// A body that can't be a write: noted, answered, and nothing else.
    pub fn refuse(&self, why: &Unusable, bytes: Option<usize>, fault: Fault) -> Result<Answer, ClinicError> {
        let answer = why.answer();
        let desk = &mut *self.desk();
        let write = desk.journal.next_write();
        desk.journal.append(&[
            Event::Attempt { write, fault, bytes, asked: None, problem: Some(why.problem()) },
            told(write, Some(&answer)),
        ])?;
        Ok(answer)
    }

    pub fn reset(&self, seed: Seed) -> Result<(), ClinicError> {
        let desk = &mut *self.desk();
        let store = desk.store.reset(seed)?;
        Ok(desk.journal.append(&[Event::Reset { store: &store }])?)
    }

    /// Whether there was such a row.
    pub fn delete(&self, id: i64) -> Result<bool, ClinicError> {
        let desk = &mut *self.desk();
        let found = desk.store.delete(id)?;
        desk.journal.append(&[Event::Deleted { id, found }])?;
        Ok(found)
    }

    /// A panic elsewhere leaves the store whole: each change is one transaction.
    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LateAnswer {
    /// Notes the answer as told; it has to leave now.
    pub fn tell(mut self) -> Result<Answer, ClinicError> {
        let answer = self.answer.take().unwrap_or_else(|| Answer::refusal(500, "this answer has left before"));
        self.clinic.desk().journal.append(&[told(self.write, Some(&answer))])?;
        Ok(answer)
    }
}

impl Drop for LateAnswer {
    fn drop(&mut self) {
        if self.answer.is_some() {
            // A journal that can't be written has no line that says "told", which is true.
            let _ = self.clinic.desk().journal.append(&[told(self.write, None)]);
        }
    }
}

impl Answer {
    pub fn refusal(status: u16, error: impl std::fmt::Display) -> Self {
        Self { status, body: json!({ "ok": false, "error": error.to_string() }) }
    }
}

impl Unusable {
    const fn problem(&self) -> Problem {
        match self {
            Self::Encounter(BadEncounter::NotJson(_)) => Problem::BadJson,
            Self::Encounter(_) => Problem::BadField,
            Self::TooLarge { .. } => Problem::TooLarge,
            Self::Unreadable => Problem::Unreadable,
        }
    }

    pub fn answer(&self) -> Answer {
        match self {
            Self::Encounter(bad) => Answer::refusal(400, bad),
            Self::TooLarge { limit } => Answer::refusal(413, format_args!("the body is larger than {limit} bytes")),
            Self::Unreadable => Answer::refusal(400, "the body did not come whole"),
        }
    }
}

fn answer(telling: Telling, change: &Change) -> Answer {
    let id = change.record.as_ref().map(|record| record.id);
    match telling {
        Telling::Saved | Telling::SavedLate => Answer { status: 200, body: json!({ "ok": true, "id": id }) },
        Telling::SavedInPart => Answer { status: 200, body: json!({ "ok": true, "id": id, "partial": true }) },
        Telling::Conflict => Answer::refusal(409, "the record was changed by someone else, so nothing was saved"),
        Telling::SignedOut => Answer::refusal(401, "nobody is signed in, so nothing was saved"),
    }
}

fn stored(write: WriteNumber, change: &Change) -> Event<'_> {
    Event::Stored {
        write,
        effect: change.effect,
        record: change.record.as_ref(),
        removed: &change.removed,
        rejected_writes: change.rejected_writes,
    }
}

fn told(write: WriteNumber, answer: Option<&Answer>) -> Event<'_> {
    Event::Told { write, status: answer.map(|answer| answer.status), body: answer.map(|answer| &answer.body) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_that_cant_be_noted_is_not_made() {
        let clinic = Arc::new(Clinic::new(Store::in_memory().unwrap(), Journal::that_cannot_be_written()));
        let body = br#"{"patient_id":"p1","note":"x"}"#;
        for fault in [Fault::Ok, Fault::Stale, Fault::Optimistic, Fault::Timeout] {
            let fault = clinic.write(body, fault).unwrap_err();
            assert!(fault.to_string().starts_with("the journal can't be written: "), "{fault}");
        }
        assert_eq!(clinic.snapshot().unwrap(), Snapshot { records: Vec::new(), rejected_writes: 0 });
    }
}
