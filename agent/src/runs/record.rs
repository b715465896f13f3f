//! Records: one JSON file for each run that was ever answered, `openadapt-agent.run/v1`. What is read back are closed facts;
//! no sentence is ever taken from a file.

pub mod owner;
pub mod result;
pub(super) mod wire;

use serde_json::{Map, Value};

use super::fingerprint::Fingerprint;
use super::request_hash::{Attempt, LedgerKey};
use super::server::ServerId;
use crate::contract::ids::{RequestId, RunId};
use crate::contract::outcome::Mode;

pub use owner::Process;
pub use result::StoredResult;

/// One run, as its record tells it.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRecord {
    pub run_id: RunId,
    pub request_id: Option<RequestId>,
    /// The workflow's name as the catalogue had it.
    pub workflow: Option<String>,
    pub mode: Mode,
    /// UTC, ISO 8601.
    pub started_at: String,
    /// Who answers for the run until it is finished.
    pub process: Process,
    /// Refusals have none.
    pub attempt: Option<AttemptOf>,
    pub phase: Phase,
    /// Closed facts that bind a later re-read to this run: digests, ids, codes. Only in records of ours.
    pub evidence: Map<String, Value>,
}

/// Which attempt at which request a run is.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct AttemptOf {
    pub attempt: Attempt,
    pub ledger_key: LedgerKey,
    pub fingerprint: Fingerprint,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Phase {
    Running,
    Finished(Box<Finished>),
}

/// The end of a run. Times are UTC, ISO 8601.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    pub finished_at: String,
    /// When a re-read last changed the result.
    pub updated_at: Option<String>,
    pub result: StoredResult,
}

/// What stands under a run id.
#[derive(Debug, Clone, PartialEq)]
pub enum RecordRead {
    Valid(Box<RunRecord>),
    Missing,
    /// There is a file, and it isn't a record of this run that can be believed.
    Corrupt,
}

impl RunRecord {
    pub fn result(&self) -> Option<&StoredResult> {
        match &self.phase {
            Phase::Running => None,
            Phase::Finished(finished) => Some(&finished.result),
        }
    }

    pub fn finished_at(&self) -> Option<&str> {
        match &self.phase {
            Phase::Running => None,
            Phase::Finished(finished) => Some(&finished.finished_at),
        }
    }

    /// The server of ours that owns the run.
    pub fn owner(&self) -> Option<ServerId> {
        self.process.server()
    }
}

#[cfg(test)]
mod tests;
