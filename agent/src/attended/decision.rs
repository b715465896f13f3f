//! What a decision came to, as it is told: opaque ids, closed words and fixed copy. Flow's own message has no field here.

use serde_json::{Map, Value};

use super::copy;
use super::request::DecisionRequest;
use crate::contract::outcome::closed_words;
use crate::flow::bridge::protocol::FlowDecision;

closed_words! {
    /// Where Flow's decision stands. Source: *Idempotency and thread ownership* and Flow's attended journal.
    DecisionStatus {
        Prepared = "prepared",
        DeliveryStarted = "delivery_started",
        DeliveryUncertain = "delivery_uncertain",
        Completed = "completed",
        Refused = "refused",
        Halted = "halted",
        NeedsDemonstration = "needs_demonstration",
        Escalated = "escalated",
        Rejected = "rejected",
    }
}

/// `None` where Flow's status isn't a known word, so that nothing is known of the decision.
pub fn decided(request: &DecisionRequest, decision: &FlowDecision) -> Option<Map<String, Value>> {
    let status = DecisionStatus::parse(&decision.status)?;
    let success = status == DecisionStatus::Completed && decision.report_success == Some(true);
    Some(object([
        ("attention_id", request.attention_id.as_str().into()),
        ("decision_id", decision.decision_id.as_str().into()),
        ("action", request.action.as_str().into()),
        ("status", status.as_str().into()),
        ("success", success.into()),
        ("message", copy::message(status).into()),
        ("report_success", decision.report_success.into()),
        ("next_transition", decision.next_transition.clone().into()),
        ("transition_receipt_digest", decision.transition_receipt_digest.clone().into()),
    ]))
}

/// Flow said no, and wrote nothing.
pub fn refused(request: &DecisionRequest) -> Map<String, Value> {
    object([
        ("attention_id", request.attention_id.as_str().into()),
        ("action", request.action.as_str().into()),
        ("status", DecisionStatus::Refused.as_str().into()),
        ("success", false.into()),
        ("message", copy::message(DecisionStatus::Refused).into()),
    ])
}

fn object<const N: usize>(members: [(&str, Value); N]) -> Map<String, Value> {
    members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}
