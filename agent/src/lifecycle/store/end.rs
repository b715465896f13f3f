//! From the claim of a dispatch to its last projection.

use rusqlite::{OptionalExtension, Transaction, params};
use serde_json::{Map, Value};

use super::begin::{advance, count, decided_event, enter};
use super::rows::{Action, Receipt};
use super::{Store, StoreFault};
use crate::contract::ids::RunId;
use crate::lifecycle::contracts::Executor;
use crate::lifecycle::crash::{Point, pass};
use crate::lifecycle::events::{Event, EventKind};
use crate::lifecycle::executor::ExecutorStatus;
use crate::lifecycle::failures::{self, Repeat};
use crate::lifecycle::sealed::SealedResult;
use crate::lifecycle::types::{ActionId, Code, ExecutorRequestId, Permission, Phase};
use crate::runs::clock::utc_now;

/// What a receipt is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct Sealing {
    pub permission: Option<Permission>,
    pub result: SealedResult,
    pub code: Option<Code>,
    /// The host's own evidence that the executor was started.
    pub executor_started: bool,
    pub executor_end: Option<ExecutorStatus>,
    pub started_at: Option<String>,
    pub evidence: Map<String, Value>,
}

impl Store {
    /// Takes a dispatch for the one who was given its token. False where it was revoked, or is somebody's already.
    pub fn claim(&self, run_id: &RunId, token: &str, executor: Executor) -> Result<bool, StoreFault> {
        self.write(|transaction| {
            let claimed = transaction
                .prepare_cached(
                    "UPDATE actions SET phase = 'claimed', claimed_at = ?3, version = version + 1 \
                     WHERE execution_id = ?1 AND token = ?2 AND phase = 'dispatched' RETURNING action_id",
                )?
                .query_row(params![run_id.as_str(), token, utc_now()], |row| row.get::<_, String>(0))
                .optional()?;
            let Some(action) = claimed.map(ActionId::stored) else { return Ok(false) };
            Event::of(EventKind::Claimed).write(transaction, &action)?;
            begin_request(transaction, &action, executor)?;
            Ok(true)
        })
    }

    /// Takes back an intent that nobody has claimed: proof that nothing was started, and its receipt, in one transaction. False
    /// where it was claimed first.
    pub fn revoke(&self, action: &Action, sealing: &Sealing) -> Result<bool, StoreFault> {
        let me = self.owner()?;
        self.write(|transaction| {
            let seen = transaction.query_row(
                "SELECT phase, version FROM actions WHERE action_id = ?1",
                [action.binding.action_id.as_str()],
                |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?)),
            )?;
            if seen != (Phase::Dispatched.as_str().to_owned(), action.version) {
                return Ok(false);
            }
            let revoked = Event { code: sealing.code, ..Event::of(EventKind::Revoked) };
            revoked.write(transaction, &action.binding.action_id)?;
            transaction.execute(
                "UPDATE actions SET revoked_at = ?2 WHERE action_id = ?1",
                params![action.binding.action_id.as_str(), utc_now()],
            )?;
            self.seal(transaction, action, sealing, 1, &me)?;
            Ok(true)
        })
    }

    /// A refusal, whole: prepared, decided and sealed in one transaction, because nothing can have been started in between.
    pub fn refuse(&self, draft: &Action, sealing: &Sealing) -> Result<(), StoreFault> {
        pass(Point::PrepareBefore)?;
        pass(Point::RecordBefore)?;
        let me = self.owner()?;
        self.write(|transaction| {
            enter(transaction, draft)?;
            if let Some(permission) = sealing.permission {
                decided_event(draft, permission, sealing.code).write(transaction, &draft.binding.action_id)?;
            }
            self.seal(transaction, draft, sealing, 1, &me)?;
            pass(Point::RecordInTx)?;
            Ok(())
        })?;
        Ok(pass(Point::RecordAfter)?)
    }

    /// Commits the receipt. From here on the result is known, whatever becomes of the rest. Who comes second with the same content
    /// is told the same; with another one, that there is a conflict.
    pub fn record(&self, action: &Action, sealing: &Sealing) -> Result<(), StoreFault> {
        pass(Point::RecordBefore)?;
        let me = self.owner()?;
        self.write(|transaction| {
            if let Some(before) = read_reason(transaction, &action.binding.action_id)? {
                return if before == sealing.result.word() { Ok(()) } else { Err(StoreFault::ReceiptConflict) };
            }
            if action.permission.is_none()
                && let Some(permission) = sealing.permission
            {
                decided_event(action, permission, sealing.code).write(transaction, &action.binding.action_id)?;
            }
            self.seal(transaction, action, sealing, 1, &me)?;
            pass(Point::RecordInTx)?;
            Ok(())
        })?;
        Ok(pass(Point::RecordAfter)?)
    }

    /// A review, or a receipt that can't be believed any more, gives the action its next receipt.
    pub fn revise(&self, action: &Action, before: i64, sealing: &Sealing) -> Result<(), StoreFault> {
        let me = self.owner()?;
        self.write(|transaction| self.seal(transaction, action, sealing, before + 1, &me))
    }

    fn seal(
        &self,
        transaction: &Transaction<'_>,
        action: &Action,
        sealing: &Sealing,
        revision: i64,
        me: &str,
    ) -> Result<(), StoreFault> {
        let id = &action.binding.action_id;
        let execution = sealing.result.execution(sealing.executor_started);
        let taken_over = action.owner.map(|owner| owner.to_string()).as_deref() != Some(me);
        end_requests(transaction, id, sealing.executor_end.unwrap_or(ExecutorStatus::Incomplete))?;
        let generation = action.generation + i64::from(taken_over);
        if taken_over {
            Event { generation: Some(generation), ..Event::of(EventKind::TakenOver) }.write(transaction, id)?;
        }
        let set = format!(
            "permission = {}, execution = '{}', delivery = 'recorded', phase = 'recorded', code = {}, owner_id = '{me}', generation = {generation}",
            quoted(sealing.permission.map(Permission::as_str)),
            execution.as_str(),
            quoted(sealing.code.map(Code::as_str)),
        );
        advance(transaction, action, &set)?;
        let now = utc_now();
        let receipt = Receipt {
            revision,
            permission: sealing.permission,
            execution,
            result: sealing.result.clone(),
            code: sealing.code,
            executor_started: sealing.executor_started,
            executor_end: sealing.executor_end,
            started_at: sealing.started_at.clone(),
            evidence: sealing.evidence.clone(),
            recovered: action.process.server().map(|server| server.to_string()).as_deref() != Some(me),
            recorded_at: now.clone(),
            finished_at: now,
        };
        insert_receipt(transaction, action, &receipt, &receipt.digest(&action.binding, &self.key))?;
        let recorded = Event {
            execution: Some(execution),
            reason: Some(receipt.result.word()),
            code: sealing.code,
            revision: Some(revision),
            ..Event::of(EventKind::ReceiptRecorded)
        };
        recorded.write(transaction, id)
    }

    /// What the request's next call is judged by. Lost with the power, it is made again from the receipt.
    pub fn checkpoint(&self, action: &Action, repeat: Option<&Repeat>) -> Result<(), StoreFault> {
        pass(Point::CheckpointBefore)?;
        self.write_lightly(|transaction| {
            if let Some(repeat) = repeat {
                failures::note(transaction, repeat)?;
            }
            advance(transaction, action, "phase = 'checkpointed'")?;
            if action.reserved {
                count(transaction, action)?;
            }
            Event::of(EventKind::CheckpointCommitted).write(transaction, &action.binding.action_id)?;
            pass(Point::CheckpointInTx)?;
            Ok(())
        })?;
        Ok(pass(Point::CheckpointAfter)?)
    }

    /// Every copy is there. Lost with the power, the copies are made again.
    pub fn mark_projected(&self, action: &Action) -> Result<(), StoreFault> {
        self.write_lightly(|transaction| {
            advance(transaction, action, "phase = 'projected', delivery = 'projected'")?;
            Event::of(EventKind::ProjectionCompleted).write(transaction, &action.binding.action_id)
        })?;
        Ok(pass(Point::ProjectAfterMark)?)
    }

    /// Says that a step after the receipt failed. The step is tried again; this is for whoever looks.
    pub fn note(&self, action: &Action, kind: EventKind) -> Result<(), StoreFault> {
        self.write_lightly(|transaction| Event::of(kind).write(transaction, &action.binding.action_id))
    }
}

/// A request to an executor begins: written before the executor is.
pub(super) fn begin_request(
    transaction: &Transaction<'_>,
    action: &ActionId,
    executor: Executor,
) -> Result<ExecutorRequestId, StoreFault> {
    let id = ExecutorRequestId::random();
    transaction.execute(
        "INSERT INTO executor_requests VALUES (?1, ?2, ?3, ?4, NULL, NULL)",
        params![id.as_str(), action.as_str(), executor.as_str(), utc_now()],
    )?;
    let started =
        Event { executor: Some(executor), request: Some(id.clone()), ..Event::of(EventKind::ExecutorStarted) };
    started.write(transaction, action)?;
    Ok(id)
}

/// Ends every request of an action that is still open, once.
pub(super) fn end_requests(
    transaction: &Transaction<'_>,
    action: &ActionId,
    status: ExecutorStatus,
) -> Result<(), StoreFault> {
    let mut statement = transaction.prepare_cached(
        "UPDATE executor_requests SET status = ?2, completed_at = ?3 WHERE action_id = ?1 AND status IS NULL RETURNING request_id, executor",
    )?;
    let ended: Vec<(String, String)> = statement
        .query_map(params![action.as_str(), status.as_str(), utc_now()], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_, _>>()?;
    for (request, executor) in ended {
        let event = Event {
            executor: Executor::parse(&executor),
            request: Some(ExecutorRequestId::stored(request)),
            status: Some(status),
            ..Event::of(EventKind::ExecutorCompleted)
        };
        event.write(transaction, action)?;
    }
    Ok(())
}

fn read_reason(transaction: &Transaction<'_>, action: &ActionId) -> Result<Option<String>, StoreFault> {
    let mut statement =
        transaction.prepare_cached("SELECT reason FROM receipts WHERE action_id = ?1 AND revision = 1")?;
    Ok(statement.query_row([action.as_str()], |row| row.get(0)).optional()?)
}

pub(super) fn insert_receipt(
    transaction: &Transaction<'_>,
    action: &Action,
    receipt: &Receipt,
    digest: &str,
) -> Result<(), StoreFault> {
    let binding = &action.binding;
    let mut statement = transaction.prepare_cached(
        "INSERT INTO receipts VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)",
    )?;
    statement.execute(params![
        binding.action_id.as_str(),
        receipt.revision,
        binding.execution_id.as_str(),
        binding.call_id.as_str(),
        binding.policy_version,
        binding.args_digest,
        receipt.permission.map(Permission::as_str),
        receipt.execution.as_str(),
        receipt.result.outcome().as_str(),
        receipt.result.word(),
        receipt.code.map(Code::as_str),
        receipt.executor_started,
        receipt.executor_end.map(ExecutorStatus::as_str),
        receipt.started_at,
        Value::Object(receipt.result.document().clone()).to_string(),
        Value::Object(receipt.evidence.clone()).to_string(),
        receipt.recovered,
        receipt.recorded_at,
        digest,
    ])?;
    Ok(())
}

/// A closed word for SQL.
fn quoted(word: Option<&str>) -> String {
    word.map_or("NULL".to_owned(), |word| format!("'{word}'"))
}
