//! The one result object that leaves the agent, and what it is rendered from. Source: *The result contract*.

use serde_json::{Map, Value, json};

use super::copy::{copy_for, what_happened};
use super::evidence::{ApprovalMode, ExecutionOutcome, TransactionOutcome};
use super::failed_check::FailedCheck;
use super::ids::{RequestId, RunId};
use super::invalid_input::InvalidInput;
use super::outcome::{Mode, Outcome, Proof};
use super::reason::Reason;
use super::sandbox::SandboxFacts;
use crate::lifecycle::facts::LifecycleFacts;

pub const CONTRACT_VERSION: &str = "openadapt.run-result/v1";

/// The closed facts beside the reason. What a reason doesn't allow is left out when the result is rendered.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResultFacts {
    pub failed_checks: Vec<FailedCheck>,
    pub invalid_inputs: Vec<InvalidInput>,
    /// Opaque: the first 24 hex digits of a digest of the run folder's name.
    pub needs_attention_id: Option<String>,
    pub first_run_id: Option<RunId>,
    /// Wall time of the run in seconds.
    pub seconds: Option<f64>,
    pub model_calls: Option<u64>,
    pub technical: Technical,
    /// What the one entry saw of the action. Told, never kept with the result.
    pub lifecycle: Option<LifecycleFacts>,
    /// In sandbox mode, as far as it is known.
    pub sandbox: Option<SandboxFacts>,
    /// A receipt of exactly this run was signed with a key that is pinned here.
    pub sealed: bool,
}

/// Flow's own words about the run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Technical {
    pub execution: Option<ExecutionOutcome>,
    pub transaction: Option<TransactionOutcome>,
    pub approval_mode: Option<ApprovalMode>,
}

/// A result, before it is put into words.
#[derive(Debug, Clone, PartialEq)]
pub struct RunResult {
    pub reason: Reason,
    pub run_id: Option<RunId>,
    pub request_id: Option<RequestId>,
    /// The workflow's name as the catalogue has it; `None` where the caller's name isn't one.
    pub workflow: Option<String>,
    pub mode: Mode,
    pub replayed: bool,
    pub facts: ResultFacts,
}

impl RunResult {
    pub fn proof(&self) -> Proof {
        match self.reason.outcome() {
            Outcome::Done if self.sandbox().is_some_and(SandboxFacts::is_simulated) => Proof::Simulated,
            Outcome::Done if self.facts.sealed => Proof::Sealed,
            Outcome::Done => Proof::Local,
            _ => Proof::None,
        }
    }

    /// Only a sandbox has these facts, whatever a file says.
    fn sandbox(&self) -> Option<SandboxFacts> {
        self.facts.sandbox.filter(|_| self.mode == Mode::Sandbox)
    }

    pub fn to_object(&self) -> Map<String, Value> {
        let row = self.reason.row();
        let copy = copy_for(self.reason);
        let mut object = Map::new();
        let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
        put("outcome", row.outcome.as_str().into());
        put("label", copy.label.into());
        put("safe_to_retry", row.safe_to_retry.into());
        put("what_happened", what_happened(self.reason, self.mode, self.proof(), self.sandbox()).into());
        put("next_action", copy.next_action.into());
        put("next_step", row.next_step.as_str().into());
        put("reason", self.reason.as_str().into());
        put("record_changed", row.record_changed.as_str().into());
        put("proof", self.proof().as_str().into());
        put("run_id", self.run_id.as_ref().map(RunId::as_str).into());
        put("request_id", self.request_id.as_ref().map(RequestId::as_str).into());
        put("workflow", self.workflow.as_deref().into());
        put("mode", self.mode.as_str().into());
        put("contract_version", CONTRACT_VERSION.into());
        for (key, value) in self.optional_fields() {
            put(key, value);
        }
        object
    }

    fn optional_fields(&self) -> Vec<(&'static str, Value)> {
        let facts = &self.facts;
        let mut fields = Vec::new();
        if self.reason == Reason::NotReadyToRun {
            let checks: Vec<_> = facts.failed_checks.iter().map(|check| check.as_str()).collect();
            fields.push((
                "failed_checks",
                if checks.is_empty() { json!([FailedCheck::Other.as_str()]) } else { json!(checks) },
            ));
        }
        if self.reason == Reason::InvalidInput {
            fields.push(("invalid_inputs", json!(facts.invalid_inputs)));
        }
        if let (Outcome::NeedsReview | Outcome::NotSureIfSaved, Some(id)) =
            (self.reason.outcome(), &facts.needs_attention_id)
        {
            fields.push(("needs_attention_id", id.as_str().into()));
        }
        if let (Reason::RequestIdConflict, Some(first)) = (self.reason, &facts.first_run_id) {
            fields.push(("first_run_id", first.as_str().into()));
        }
        if self.replayed {
            fields.push(("replayed", true.into()));
        }
        if let Some(seconds) = facts.seconds.filter(|seconds| seconds.is_finite()) {
            fields.push(("seconds", ((seconds * 10.0).round() / 10.0).into()));
        }
        if let Some(calls) = facts.model_calls {
            fields.push(("model_calls", calls.into()));
        }
        let sandbox = self.sandbox().unwrap_or_default().to_object();
        if !sandbox.is_empty() {
            fields.push(("sandbox", sandbox.into()));
        }
        let mut technical = facts.technical.to_object();
        if let Some(lifecycle) = &facts.lifecycle {
            technical.insert("lifecycle".to_owned(), lifecycle.to_object().into());
        }
        if !technical.is_empty() {
            fields.push(("technical", technical.into()));
        }
        fields
    }
}

impl Technical {
    fn to_object(self) -> Map<String, Value> {
        let words = [
            ("execution_outcome", self.execution.map(ExecutionOutcome::as_str)),
            ("transaction_outcome", self.transaction.map(TransactionOutcome::as_str)),
            ("approval_mode", self.approval_mode.map(ApprovalMode::as_str)),
        ];
        words.into_iter().filter_map(|(key, word)| Some((key.to_owned(), word?.into()))).collect()
    }
}
