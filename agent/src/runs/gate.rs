//! The request gate: one request_id, one piece of work. It says whether a call starts a new attempt or gets an earlier one's
//! answer, and repairs on the way what a crash left half-written.

mod begin;
mod decide;
mod history;
mod opening;

use super::fingerprint::Fingerprint;
use super::request_hash::{Attempt, LedgerKey};
use super::store::StoreError;
use crate::contract::ids::{RequestId, RunId};
use crate::contract::outcome::Mode;

pub use begin::RequestGate;
pub use decide::{Decision, Known, Standing, Work, decide, ledger_forbids};
pub(super) use history::History;

/// A call that passed every check before the gate.
#[derive(Debug, Clone)]
pub struct Ask {
    pub request_id: RequestId,
    pub fingerprint: Fingerprint,
    pub workflow: String,
    pub mode: Mode,
}

/// What the gate says.
#[derive(Debug)]
pub enum Begin {
    /// The request_id was used for other work. Its first attempt is named.
    Conflict { first_run_id: RunId },
    /// Five attempts, each of which proved that nothing was written.
    RetryLimit,
    /// The answer is this run's. With `doubted`, the ledger contradicts a record that says nothing was written, and the
    /// record must not be believed.
    Replay { run_id: RunId, doubted: bool },
    /// A new attempt is reserved, recorded as running and indexed. Nothing is started yet.
    Start(Started),
    /// The attempt could not be reserved or indexed. Its record says running; nothing was started and nothing will be, so
    /// whoever called finishes it as `platform_error`.
    Abandoned { run_id: RunId, fault: StoreError },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Started {
    pub run_id: RunId,
    pub attempt: Attempt,
    pub ledger_key: LedgerKey,
    /// As the record has it.
    pub started_at: String,
}

#[cfg(test)]
mod tests;
