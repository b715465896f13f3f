//! The events of an action: closed words in a contiguous order, written in the transaction of what they tell.
//! Source: lifecycle, *The one entry*, the grammar.

use rusqlite::{Transaction, params};

use super::contracts::Executor;
use super::executor::ExecutorStatus;
use super::store::StoreFault;
use super::types::{ActionId, Code, Execution, ExecutorRequestId, Permission};
use crate::contract::outcome::closed_words;
use crate::runs::clock::utc_now;

closed_words! {
    /// What can happen to an action.
    EventKind {
        Prepared = "action.prepared",
        ReviewCompleted = "review.completed",
        ReviewUnavailable = "review.unavailable",
        PermissionDecided = "permission.decided",
        WaitOpened = "wait.opened",
        WaitResolved = "wait.resolved",
        WaitDeclined = "wait.declined",
        WaitExpired = "wait.expired",
        Reserved = "action.reserved",
        Dispatched = "action.dispatched",
        Claimed = "action.claimed",
        Revoked = "action.revoked",
        TakenOver = "action.taken_over",
        ExecutorStarted = "executor.started",
        ExecutorCompleted = "executor.completed",
        ReceiptRecorded = "receipt.recorded",
        CheckpointCommitted = "checkpoint.committed",
        CheckpointFailed = "checkpoint.failed",
        ProjectionCompleted = "projection.completed",
        ProjectionFailed = "projection.failed",
        /// It was begun by an older agent and is kept here from now on.
        Imported = "action.imported",
    }
}

/// One event, before it has its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    pub kind: EventKind,
    pub permission: Option<Permission>,
    pub execution: Option<Execution>,
    /// A reason of the contract, or what a decision came to.
    pub reason: Option<&'static str>,
    pub code: Option<Code>,
    pub status: Option<ExecutorStatus>,
    pub executor: Option<Executor>,
    pub request: Option<ExecutorRequestId>,
    pub policy_version: Option<i64>,
    pub generation: Option<i64>,
    pub revision: Option<i64>,
}

impl Event {
    pub const fn of(kind: EventKind) -> Self {
        Self {
            kind,
            permission: None,
            execution: None,
            reason: None,
            code: None,
            status: None,
            executor: None,
            request: None,
            policy_version: None,
            generation: None,
            revision: None,
        }
    }

    pub(super) fn write(self, transaction: &Transaction<'_>, action: &ActionId) -> Result<(), StoreFault> {
        let mut statement = transaction.prepare_cached(
            "INSERT INTO events VALUES (?1, (SELECT coalesce(max(seq), 0) + 1 FROM events WHERE action_id = ?1), ?2, ?3, ?4, ?5, \
             ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        )?;
        statement.execute(params![
            action.as_str(),
            utc_now(),
            self.kind.as_str(),
            self.permission.map(Permission::as_str),
            self.execution.map(Execution::as_str),
            self.reason,
            self.code.map(Code::as_str),
            self.status.map(ExecutorStatus::as_str),
            self.executor.map(Executor::as_str),
            self.request.as_ref().map(ExecutorRequestId::as_str),
            self.policy_version,
            self.generation,
            self.revision,
        ])?;
        Ok(())
    }
}
