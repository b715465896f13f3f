//! Rows of the store as values: parsed once, and a receipt only believed when its digest holds.

use rusqlite::Row;
use serde_json::{Map, Value, json};

use super::StoreFault;
use crate::contract::ids::{RequestId, RunId};
use crate::contract::outcome::Mode;
use crate::lifecycle::contracts::Tool;
use crate::lifecycle::executor::ExecutorStatus;
use crate::lifecycle::sealed::SealedResult;
use crate::lifecycle::types::{ActionId, Binding, CallId, Code, Delivery, Execution, Origin, Permission, Phase};
use crate::runs::fingerprint::Fingerprint;
use crate::runs::key::{FingerprintKey, Sealed};
use crate::runs::record::{AttemptOf, Process, StoredResult};
use crate::runs::request_hash::{Attempt, LedgerKey};
use crate::runs::server::ServerId;

/// One action as it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Action {
    pub binding: Binding,
    pub tool: Tool,
    pub origin: Origin,
    pub conditions_digest: String,
    pub request_id: Option<RequestId>,
    pub workflow: Option<String>,
    pub mode: Mode,
    /// Which attempt it is to be; it counts once it is reserved.
    pub attempt: Option<AttemptOf>,
    pub permission: Option<Permission>,
    pub execution: Option<Execution>,
    pub delivery: Delivery,
    pub phase: Phase,
    pub code: Option<Code>,
    /// Who answers for it now.
    pub owner: Option<ServerId>,
    pub generation: i64,
    pub version: i64,
    /// Who took the call, as the record names it.
    pub process: Process,
    /// What the one who claims it has to know.
    pub token: Option<String>,
    pub started_at: String,
    pub reserved: bool,
    pub dispatched: bool,
    pub claimed: bool,
    pub revoked: bool,
}

/// In the place of the conditions of an action that was never decided about here.
pub const IMPORTED: &str = "imported";

/// What is known of an action: its row, and its newest receipt.
#[derive(Debug, Clone, PartialEq)]
pub struct Known {
    pub action: Action,
    pub receipt: Option<ReceiptRead>,
}

/// A receipt that stands in the store.
#[derive(Debug, Clone, PartialEq)]
pub enum ReceiptRead {
    Valid(Box<Receipt>),
    /// Its digest or its binding doesn't hold. Only its place is known.
    Corrupt {
        revision: i64,
    },
}

/// The sealed result of an action.
#[derive(Debug, Clone, PartialEq)]
pub struct Receipt {
    pub revision: i64,
    pub permission: Option<Permission>,
    pub execution: Execution,
    pub result: SealedResult,
    pub code: Option<Code>,
    /// The host's own evidence that the executor was started.
    pub executor_started: bool,
    pub executor_end: Option<ExecutorStatus>,
    /// When it was started, by its keeper's clock.
    pub started_at: Option<String>,
    /// Digests of what the result was read from.
    pub evidence: Map<String, Value>,
    /// It was sealed by somebody else than the server that took the call.
    pub recovered: bool,
    pub recorded_at: String,
    /// When the first revision was recorded.
    pub finished_at: String,
}

impl Action {
    pub(super) const COLUMNS: &str = "action_id, execution_id, call_id, tool, origin, policy_version, args_digest, conditions_digest, \
        request_id, workflow, mode, fingerprint, attempt, ledger_key, permission, execution, delivery, phase, code, owner_id, \
        generation, version, record_owner, record_pid, record_host, started_at, reserved_at IS NOT NULL, dispatched_at IS NOT NULL, \
        claimed_at IS NOT NULL, revoked_at IS NOT NULL, token";

    pub(super) fn of(row: &Row<'_>) -> Result<Self, StoreFault> {
        let text = |at: usize| row.get::<_, Option<String>>(at);
        let whole = |at: usize| row.get::<_, i64>(at);
        let attempt = match (text(11)?, row.get::<_, Option<u32>>(12)?, text(13)?) {
            (Some(fingerprint), Some(attempt), Some(key)) => Some(AttemptOf {
                attempt: attempt_of(attempt)?,
                ledger_key: LedgerKey::parse(&key).ok_or(StoreFault::Damaged)?,
                fingerprint: Fingerprint::parse(&fingerprint).ok_or(StoreFault::Damaged)?,
            }),
            _ => None,
        };
        let process = match (text(22)?, row.get::<_, Option<u32>>(23)?, text(24)?) {
            (Some(id), Some(pid), Some(host)) => Process::Server { id: server(&id)?, pid, host },
            (None, None, None) => Process::Nobody,
            (_, pid, host) => Process::Python { pid, host },
        };
        Ok(Self {
            binding: Binding {
                action_id: ActionId::stored(row.get(0)?),
                execution_id: RunId::parse(&row.get::<_, String>(1)?).map_err(|_| StoreFault::Damaged)?,
                call_id: CallId::stored(row.get(2)?),
                policy_version: whole(5)?,
                args_digest: row.get(6)?,
            },
            tool: word(Tool::parse, row.get(3)?)?,
            origin: word(Origin::parse, row.get(4)?)?,
            conditions_digest: row.get(7)?,
            request_id: text(8)?.map(|id| RequestId::parse(&id).map_err(|_| StoreFault::Damaged)).transpose()?,
            workflow: text(9)?,
            mode: word(Mode::parse, row.get(10)?)?,
            attempt,
            permission: text(14)?.map(|text| word(Permission::parse, text)).transpose()?,
            execution: text(15)?.map(|text| word(Execution::parse, text)).transpose()?,
            delivery: word(Delivery::parse, row.get(16)?)?,
            phase: word(Phase::parse, row.get(17)?)?,
            code: text(18)?.as_deref().and_then(Code::parse),
            owner: text(19)?.map(|id| server(&id)).transpose()?,
            generation: whole(20)?,
            version: whole(21)?,
            process,
            started_at: row.get(25)?,
            reserved: row.get(26)?,
            dispatched: row.get(27)?,
            claimed: row.get(28)?,
            revoked: row.get(29)?,
            token: row.get(30)?,
        })
    }

    pub fn run_id(&self) -> &RunId {
        &self.binding.execution_id
    }

    /// An older agent began it.
    pub fn is_imported(&self) -> bool {
        self.conditions_digest == IMPORTED
    }

    /// The attempt that it counts as.
    pub fn counted_attempt(&self) -> Option<&AttemptOf> {
        self.attempt.as_ref().filter(|_| self.reserved)
    }
}

impl Receipt {
    pub(super) const COLUMNS: &str = "revision, execution_id, call_id, policy_version, args_digest, permission, execution, outcome, \
        reason, code, executor_started, executor_end, started_at, result_json, evidence_json, recovered, recorded_at, digest, \
        (SELECT first.recorded_at FROM receipts AS first WHERE first.action_id = receipts.action_id AND first.revision = 1)";

    pub(super) fn of(row: &Row<'_>, action: &Action, key: &FingerprintKey) -> Result<ReceiptRead, StoreFault> {
        let revision = row.get(0)?;
        Ok(match Self::believed(row, action, key) {
            Some(receipt) => ReceiptRead::Valid(Box::new(receipt)),
            None => ReceiptRead::Corrupt { revision },
        })
    }

    fn believed(row: &Row<'_>, action: &Action, key: &FingerprintKey) -> Option<Self> {
        let text = |at: usize| row.get::<_, Option<String>>(at).ok();
        let binding = &action.binding;
        let bound = row.get::<_, String>(1).ok()? == binding.execution_id.as_str()
            && row.get::<_, String>(2).ok()? == binding.call_id.as_str()
            && row.get::<_, i64>(3).ok()? == binding.policy_version
            && row.get::<_, String>(4).ok()? == binding.args_digest;
        let document: Map<String, Value> = serde_json::from_str(&row.get::<_, String>(13).ok()?).ok()?;
        let receipt = Self {
            revision: row.get(0).ok()?,
            permission: optional(text(5)?, Permission::parse)?,
            execution: Execution::parse(&row.get::<_, String>(6).ok()?)?,
            result: SealedResult::read(action.tool, &row.get::<_, String>(8).ok()?, document)?,
            code: optional(text(9)?, Code::parse)?,
            executor_started: row.get(10).ok()?,
            executor_end: optional(text(11)?, ExecutorStatus::parse)?,
            started_at: text(12)?,
            evidence: serde_json::from_str(&row.get::<_, String>(14).ok()?).ok()?,
            recovered: row.get(15).ok()?,
            recorded_at: row.get(16).ok()?,
            finished_at: text(18)??,
        };
        let agrees = row.get::<_, String>(7).ok()? == receipt.result.outcome().as_str()
            && row.get::<_, String>(8).ok()? == receipt.result.word();
        let sealed = row.get::<_, String>(17).ok()? == receipt.digest(binding, key);
        (bound && agrees && sealed).then_some(receipt)
    }

    /// What a run came to. A decision about one has no reason of the contract.
    pub fn run(&self) -> Option<&StoredResult> {
        match &self.result {
            SealedResult::Run(result) => Some(result),
            SealedResult::Decision(..) => None,
        }
    }

    /// Keyed, over everything that the receipt says and what it says it of.
    pub(super) fn digest(&self, binding: &Binding, key: &FingerprintKey) -> String {
        let facts = json!({
            "binding": [binding.action_id.as_str(), binding.execution_id.as_str(), binding.call_id.as_str(), binding.policy_version,
                        binding.args_digest],
            "revision": self.revision,
            "permission": self.permission,
            "execution": self.execution,
            "result": self.result.document(),
            "code": self.code,
            "executor": [self.executor_started, self.executor_end, self.started_at],
            "evidence": self.evidence,
            "recovered": self.recovered,
            "recorded_at": self.recorded_at,
        });
        key.digest(Sealed::Receipt, facts_bytes(&facts).as_slice())
    }
}

fn facts_bytes(facts: &Value) -> Vec<u8> {
    serde_json_canonicalizer::to_vec(facts).unwrap_or_default()
}

fn word<T>(parse: impl FnOnce(&str) -> Option<T>, text: String) -> Result<T, StoreFault> {
    parse(&text).ok_or(StoreFault::Damaged)
}

/// `None` for a word that isn't known.
fn optional<T>(text: Option<String>, parse: impl FnOnce(&str) -> Option<T>) -> Option<Option<T>> {
    match text {
        None => Some(None),
        Some(text) => parse(&text).map(Some),
    }
}

fn server(text: &str) -> Result<ServerId, StoreFault> {
    ServerId::parse(text).ok_or(StoreFault::Damaged)
}

fn attempt_of(number: u32) -> Result<Attempt, StoreFault> {
    match number {
        1.. => Ok(Attempt::at(number as usize - 1)),
        0 => Err(StoreFault::Damaged),
    }
}
