//! A result in a record. It is written as the contract renders it, so that older readers find what they know; it is read back
//! as the reason and closed facts only.

use serde_json::{Map, Value};

use crate::contract::evidence::{ApprovalMode, ExecutionOutcome, TransactionOutcome};
use crate::contract::failed_check::FailedCheck;
use crate::contract::ids::RunId;
use crate::contract::invalid_input::{InputProblem, InvalidInput};
use crate::contract::outcome::Proof;
use crate::contract::reason::Reason;
use crate::contract::result::{ResultFacts, RunResult, Technical};
use crate::contract::sandbox::SandboxFacts;

/// The result of a finished run.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredResult {
    pub reason: Reason,
    pub facts: ResultFacts,
    /// The rendered object, for writing only: nothing is ever answered from it.
    document: Map<String, Value>,
}

impl StoredResult {
    /// `None` for a result that isn't terminal: such a word is never stored.
    pub fn of(result: &RunResult) -> Option<Self> {
        let own = ResultFacts { lifecycle: None, ..result.facts.clone() };
        Self::read(RunResult { facts: own, replayed: false, ..result.clone() }.to_object())
    }

    pub(crate) fn document(&self) -> &Map<String, Value> {
        &self.document
    }

    /// Reads a stored object. A fact of a wrong type or outside its closed words, a reason that isn't terminal, or a
    /// verdict that isn't the reason's makes the whole unbelievable.
    pub(crate) fn read(document: Map<String, Value>) -> Option<Self> {
        let reason = Reason::parse(document.get("reason")?.as_str()?).filter(|reason| reason.is_terminal())?;
        let row = reason.row();
        let agrees = document.get("outcome")?.as_str()? == row.outcome.as_str()
            && document.get("safe_to_retry")?.as_bool()? == row.safe_to_retry
            && document.get("record_changed")?.as_str()? == row.record_changed.as_str();
        if !agrees {
            return None;
        }
        let facts = ResultFacts {
            failed_checks: optional(&document, "failed_checks", |value| {
                value.as_array()?.iter().map(|word| FailedCheck::parse(word.as_str()?)).collect()
            })?
            .unwrap_or_default(),
            invalid_inputs: optional(&document, "invalid_inputs", |value| {
                value.as_array()?.iter().map(invalid_input).collect()
            })?
            .unwrap_or_default(),
            needs_attention_id: optional(&document, "needs_attention_id", |value| opaque_id(value.as_str()?))?,
            first_run_id: optional(&document, "first_run_id", |value| RunId::parse(value.as_str()?).ok())?,
            seconds: optional(&document, "seconds", |value| value.as_f64().filter(|seconds| *seconds >= 0.0))?,
            model_calls: optional(&document, "model_calls", Value::as_u64)?,
            technical: optional(&document, "technical", |value| technical(value.as_object()?))?.unwrap_or_default(),
            lifecycle: None,
            sandbox: optional(&document, "sandbox", |value| SandboxFacts::read(value.as_object()?))?,
            sealed: document.get("proof").and_then(Value::as_str) == Some(Proof::Sealed.as_str()),
        };
        Some(Self { reason, facts, document })
    }
}

/// An absent or null member is no fact; one that is there must be readable.
fn optional<T>(object: &Map<String, Value>, key: &str, read: impl FnOnce(&Value) -> Option<T>) -> Option<Option<T>> {
    match object.get(key) {
        None | Some(Value::Null) => Some(None),
        Some(value) => read(value).map(Some),
    }
}

fn technical(object: &Map<String, Value>) -> Option<Technical> {
    Some(Technical {
        execution: optional(object, "execution_outcome", |value| ExecutionOutcome::parse(value.as_str()?))?,
        transaction: optional(object, "transaction_outcome", |value| TransactionOutcome::parse(value.as_str()?))?,
        approval_mode: optional(object, "approval_mode", |value| ApprovalMode::parse(value.as_str()?))?,
    })
}

fn opaque_id(text: &str) -> Option<String> {
    let well_formed = text.len() == 24 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    well_formed.then(|| text.to_owned())
}

/// Names outside plain identifiers are withheld, and a problem in other words than ours gets the general one.
fn invalid_input(row: &Value) -> Option<InvalidInput> {
    let (input, problem) = (row.get("input")?.as_str()?, row.get("problem")?.as_str()?);
    let plain = (1..=128).contains(&input.len())
        && input.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'));
    let input = if plain { input } else { "(unknown)" };
    let problem = InputProblem::parse(problem).unwrap_or(InputProblem::NotValid);
    Some(InvalidInput { input: input.to_owned(), problem })
}
