//! The decisions about a run, in order: `attended_decisions.json`, written under its lock.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use uuid::Uuid;

use super::{NotDone, Order, Request, Status, chain};
use crate::report::Subject;
use crate::{clock, files};

const DECISIONS: &str = "attended_decisions.json";
const LOCK: &str = ".attended_decisions.lock";
const LONGEST_WAIT: Duration = Duration::from_secs(5);
const POLL: Duration = Duration::from_millis(5);

/// The open book; nobody else writes while it is open.
#[derive(Debug)]
pub struct Book {
    run_dir: PathBuf,
    content: Value,
    lock: PathBuf,
    nonce: Vec<u8>,
}

/// What changes between the records of one decision.
#[derive(Debug, Clone)]
pub struct Entry {
    pub status: Status,
    pub report_success: Option<bool>,
    pub receipt: Option<String>,
}

impl Entry {
    pub fn of(status: Status) -> Self {
        Self { status, report_success: None, receipt: None }
    }
}

impl Book {
    /// Waits for the lock, which is never stolen.
    pub fn open(run_dir: &Path) -> Result<Self, NotDone> {
        let lock = run_dir.join(LOCK);
        let nonce = [Uuid::new_v4().into_bytes(), Uuid::new_v4().into_bytes()].concat();
        let deadline = Instant::now() + LONGEST_WAIT;
        while let Err(error) = files::create(&lock, &nonce, files::PRIVATE) {
            if error.kind() != ErrorKind::AlreadyExists {
                return Err(error.into());
            }
            if Instant::now() > deadline {
                return Err(NotDone::Refused("another decision about this run is under way"));
            }
            thread::sleep(POLL);
        }
        let mut book = Self { run_dir: run_dir.to_owned(), content: Value::Null, lock, nonce };
        book.content = book.read()?;
        Ok(book)
    }

    /// The last record under a key.
    pub fn last_with_key(&self, key: &str) -> Option<&Value> {
        self.decisions().iter().rfind(|decision| decision["idempotency_key"] == key)
    }

    /// Whether some decision about this pause began to act and came to no end.
    pub fn has_unresolved(&self, pause_id: &Value) -> bool {
        let of_pause = || self.decisions().iter().filter(|decision| decision["pause_id"] == *pause_id);
        of_pause().any(|decision| {
            let key = decision["idempotency_key"].as_str().unwrap_or_default();
            self.last_with_key(key).and_then(status).is_some_and(Status::is_unresolved)
        })
    }

    /// Writes one record and returns it.
    pub fn append(&mut self, order: &Order, capability: &Value, entry: Entry) -> Result<Value, NotDone> {
        let record = record(order, capability, entry);
        if let Some(decisions) = self.content["decisions"].as_array_mut() {
            decisions.push(record.clone());
        }
        chain::append(&self.run_dir, &capability["run_id"], &self.content)?;
        files::replace_json(&self.run_dir.join(DECISIONS), &self.content, files::PRIVATE)?;
        Ok(record)
    }

    fn read(&self) -> Result<Value, NotDone> {
        let content = match files::read_json(&self.run_dir.join(DECISIONS)) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                json!({"schema_version": 1, "decisions": [], "relay_acknowledgements": []})
            }
            read => read?,
        };
        if !chain::stands_behind(&self.run_dir, &content)? {
            return Err(NotDone::Refused("the decisions were changed outside the journal"));
        }
        Ok(content)
    }

    fn decisions(&self) -> &[Value] {
        self.content["decisions"].as_array().map_or(&[], Vec::as_slice)
    }
}

impl Drop for Book {
    fn drop(&mut self) {
        if fs::read(&self.lock).is_ok_and(|found| found == self.nonce) {
            let _ = fs::remove_file(&self.lock);
        }
    }
}

pub fn status(decision: &Value) -> Option<Status> {
    serde_json::from_value(decision["status"].clone()).ok()
}

fn record(order: &Order, capability: &Value, entry: Entry) -> Value {
    let request: &Request = &order.request;
    json!({
        "schema_version": 2,
        "decision_id": Subject::fresh_id(),
        "pause_id": capability["pause_id"],
        "capability_digest": request.capability_digest,
        "request_digest": request.digest(),
        "idempotency_key": request.idempotency_key,
        "action": request.action,
        "operator": order.operator,
        "decided_by": order.decided_by,
        "disposition": request.disposition,
        "status": entry.status,
        "message": format!("played decision ({})", crate::SCREEN_CANARY),
        "created_at": clock::iso(clock::now()),
        "report_success": entry.report_success,
        "next_transition": capability["expected_next_transition"],
        "transition_receipt_digest": entry.receipt,
    })
}
