//! What a result tells of its action besides the contract: closed words, counts and booleans, under `technical.lifecycle`.
//! Source: lifecycle, *Showing it outside*.

use serde_json::{Map, Value, json};

use super::store::{Action, Receipt};
use super::types::{Code, Delivery, Execution, Permission};
use crate::contract::outcome::{Outcome, closed_words};
use crate::contract::reason::Reason;

closed_words! {
    /// What a person is waited for.
    WaitKind {
        /// A form in the client.
        Elicitation = "elicitation",
        /// A decision about a paused run.
        FlowAttention = "flow_attention",
        /// An approval of one save, in Flow.
        FlowItemApproval = "flow_item_approval",
    }
}

/// The lifecycle of one action, as far as a caller is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LifecycleFacts {
    pub permission: Option<Permission>,
    pub execution: Option<Execution>,
    pub delivery: Delivery,
    pub attempt: Option<u32>,
    pub policy_version: i64,
    /// Somebody else than the server that took the call sealed the result.
    pub recovered: bool,
    pub wait: Option<WaitKind>,
    pub code: Option<Code>,
    /// The same work ended in doubt before, under another request.
    pub related_unknown: bool,
}

impl LifecycleFacts {
    pub fn of(action: &Action, receipt: Option<&Receipt>) -> Self {
        Self {
            permission: receipt.map_or(action.permission, |receipt| receipt.permission),
            execution: receipt.map(|receipt| receipt.execution),
            delivery: action.delivery,
            attempt: action.counted_attempt().map(|attempt| attempt.attempt.number()),
            policy_version: action.binding.policy_version,
            recovered: receipt.is_some_and(|receipt| receipt.recovered),
            wait: None,
            code: receipt.map_or(action.code, |receipt| receipt.code),
            related_unknown: false,
        }
    }

    /// What a person is waited for in Flow, by the reason that is told.
    pub fn waits_in_flow(&mut self, reason: Reason) {
        self.wait = match reason {
            Reason::WaitingForApproval => Some(WaitKind::FlowItemApproval),
            reason if reason.outcome() == Outcome::NeedsReview => Some(WaitKind::FlowAttention),
            _ => self.wait,
        };
        if reason == Reason::WaitingForApproval {
            self.permission = Some(Permission::Ask);
        }
    }

    pub fn to_object(&self) -> Map<String, Value> {
        let optional = [
            ("permission", self.permission.map(|word| word.as_str().into())),
            ("execution", self.execution.map(|word| word.as_str().into())),
            ("delivery", Some(self.delivery.as_str().into())),
            ("attempt", self.attempt.map(Value::from)),
            ("policy_version", Some(self.policy_version.into())),
            ("recovered", Some(self.recovered.into())),
            ("wait", self.wait.map(|kind| json!({ "kind": kind.as_str(), "status": "open" }))),
            ("code", self.code.map(|word| word.as_str().into())),
            ("related_unknown", self.related_unknown.then_some(Value::Bool(true))),
        ];
        optional.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
    }
}
