//! The ledger of used requests: a key that was reserved once is never reserved again, by any agent on the folder.
//! Flow's own ledger file is used (format v3, shared with Flow); plain claim files stand in where it can't be opened.

mod claim;
mod claim_files;
mod database;
mod fault;
mod flow_ledger;

use crate::contract::evidence::TransactionOutcome;
use crate::contract::ids::RunId;
use crate::runs::request_hash::LedgerKey;
use crate::runs::root::StoreRoot;

pub use claim_files::ClaimFiles;
pub use fault::{FallbackReason, LedgerFault};
pub use flow_ledger::FlowLedger;

/// The ledger of one runs folder, for the life of the process.
#[derive(Debug)]
pub enum Ledger {
    Flow(FlowLedger),
    ClaimFiles(ClaimFiles),
}

/// The answer to a reservation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reservation {
    Reserved,
    /// The key belongs to this run already.
    Owned {
        run_id: RunId,
    },
}

/// What the ledger knows of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lookup {
    /// Never reserved.
    None,
    /// Reserved; the outcome is written once, when the run has ended.
    Record { run_id: RunId, outcome: Option<TransactionOutcome> },
    /// Claimed, and the writer died before the row. The claim is the authority, so the key is used.
    ClaimOnly { run_id: RunId },
    /// Claim and row contradict each other or can't be read. The key counts as used, by the run that is named if any.
    Broken { run_id: Option<RunId> },
}

impl Ledger {
    /// Opens Flow's ledger. A reason of [`FallbackReason`] selects the claim files; everything else is a fault that a
    /// person has to look at.
    pub fn open(root: &StoreRoot) -> Result<Self, LedgerFault> {
        match FlowLedger::open(root)? {
            flow_ledger::Opening::Opened(ledger) => Ok(Self::Flow(ledger)),
            flow_ledger::Opening::FallBack(reason) => Ok(Self::ClaimFiles(ClaimFiles::open(root, reason)?)),
        }
    }

    /// Reserves a key for a run. Of many callers exactly one is told `Reserved`.
    pub fn reserve(&self, key: &LedgerKey, run_id: &RunId) -> Result<Reservation, LedgerFault> {
        match self {
            Self::Flow(ledger) => ledger.reserve(key, run_id),
            Self::ClaimFiles(files) => files.reserve(key, run_id),
        }
    }

    /// Looks up several keys at once, in their order.
    pub fn lookup(&self, keys: &[LedgerKey]) -> Result<Vec<Lookup>, LedgerFault> {
        match self {
            Self::Flow(ledger) => ledger.lookup(keys),
            Self::ClaimFiles(files) => keys.iter().map(|key| files.lookup(key)).collect(),
        }
    }

    /// Writes down how the run that owns a key ended: once; the same outcome again changes nothing, another is refused.
    /// Claim files hold no outcomes.
    pub fn record_outcome(
        &self,
        key: &LedgerKey,
        run_id: &RunId,
        outcome: TransactionOutcome,
    ) -> Result<(), LedgerFault> {
        match self {
            Self::Flow(ledger) => ledger.record_outcome(key, run_id, outcome),
            Self::ClaimFiles(_) => Ok(()),
        }
    }

    /// Why the claim files stand in for Flow's ledger; the operator is told.
    pub fn fallback_reason(&self) -> Option<FallbackReason> {
        match self {
            Self::Flow(_) => None,
            Self::ClaimFiles(files) => Some(files.reason()),
        }
    }
}

impl Lookup {
    /// The run that the key belongs to, as far as it can be read.
    pub fn owner(&self) -> Option<&RunId> {
        match self {
            Self::None => None,
            Self::Record { run_id, .. } | Self::ClaimOnly { run_id } => Some(run_id),
            Self::Broken { run_id } => run_id.as_ref(),
        }
    }
}

#[cfg(test)]
mod tests;
