//! Runs that an older agent began: taken into the store as they ended, so that one place answers for every run.

use serde_json::{Map, Value};

use super::begin::{count, insert};
use super::end::insert_receipt;
use super::rows::{Action, IMPORTED, Receipt};
use super::{Store, StoreFault};
use crate::lifecycle::contracts::Tool;
use crate::lifecycle::events::{Event, EventKind};
use crate::lifecycle::executor::ExecutorStatus;
use crate::lifecycle::sealed::SealedResult;
use crate::lifecycle::types::{ActionId, Binding, CallId, Code, Execution, Origin, Permission, Phase};
use crate::runs::clock::utc_now;
use crate::runs::record::{RunRecord, StoredResult};

/// A run of which everything is known that an older agent left.
#[derive(Debug, Clone, PartialEq)]
pub struct Import<'a> {
    pub record: &'a RunRecord,
    pub result: StoredResult,
    pub code: Option<Code>,
    /// There is evidence that Flow was started, or none that it wasn't.
    pub executor_started: bool,
    pub executor_end: Option<ExecutorStatus>,
    pub evidence: Map<String, Value>,
    /// Its record file says the same already, and stays as it is.
    pub projected: bool,
    pub policy_version: i64,
}

impl Store {
    /// Takes a run in, with its receipt. One that is in already stays as it is.
    pub fn import(&self, import: &Import<'_>) -> Result<(), StoreFault> {
        let me = self.me.ok_or(StoreFault::StaleOwner)?;
        let record = import.record;
        let reason = import.result.reason;
        let execution = Execution::of(reason, import.executor_started);
        let counted = record.attempt.is_some();
        let phase = if import.projected { Phase::Projected } else { Phase::Checkpointed };
        let action = Action {
            binding: Binding {
                action_id: ActionId::random(),
                execution_id: record.run_id.clone(),
                call_id: CallId::random(),
                policy_version: import.policy_version,
                args_digest: record.attempt.as_ref().map(|it| it.fingerprint.to_string()).unwrap_or_default(),
            },
            tool: Tool::RunWorkflow,
            origin: Origin::McpAgent,
            conditions_digest: IMPORTED.to_owned(),
            request_id: record.request_id.clone(),
            workflow: record.workflow.clone(),
            mode: record.mode,
            attempt: record.attempt.clone(),
            permission: (counted || import.executor_started).then_some(Permission::Allow),
            execution: Some(execution),
            delivery: phase.delivery(),
            phase,
            code: import.code,
            owner: Some(me),
            generation: 1,
            version: 1,
            process: record.process.clone(),
            token: None,
            started_at: record.started_at.clone(),
            reserved: counted,
            dispatched: import.executor_started,
            claimed: import.executor_started,
            revoked: false,
        };
        let finished_at = record.finished_at().map_or_else(utc_now, str::to_owned);
        let receipt = Receipt {
            revision: 1,
            permission: action.permission,
            execution,
            result: SealedResult::Run(import.result.clone()),
            code: import.code,
            executor_started: import.executor_started,
            executor_end: import.executor_end,
            started_at: None,
            evidence: import.evidence.clone(),
            recovered: true,
            recorded_at: finished_at.clone(),
            finished_at,
        };
        self.write(|transaction| {
            let known = transaction
                .prepare_cached("SELECT 1 FROM actions WHERE execution_id = ?1")?
                .exists([record.run_id.as_str()])?;
            if known {
                return Ok(());
            }
            insert(transaction, &action)?;
            count(transaction, &action)?;
            let id = &action.binding.action_id;
            Event::of(EventKind::Imported).write(transaction, id)?;
            insert_receipt(transaction, &action, &receipt, &receipt.digest(&action.binding, &self.key))?;
            let recorded = Event {
                execution: Some(execution),
                reason: Some(reason.as_str()),
                code: import.code,
                revision: Some(1),
                ..Event::of(EventKind::ReceiptRecorded)
            };
            recorded.write(transaction, id)
        })
    }
}
