//! What is said on the bridge's lines. Whatever isn't of a closed shape is no answer. Source: schemas/flow-bridge.json.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::flow::hex_text::{is_hex, is_sha256};

/// What the bridge says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hello {
    pub attended: bool,
    /// A live executor is ready, so a run can go on in the app.
    pub live: bool,
}

/// What a decision is resolved on again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    pub capability: Option<(String, Vec<String>)>,
}

impl Item {
    /// Whether Flow still offers this action under this capability.
    pub fn offers(&self, digest: &str, action: &str) -> bool {
        self.capability.as_ref().is_some_and(|(is, allowed)| is == digest && allowed.iter().any(|word| word == action))
    }
}

/// One decision, ready for Flow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActRequest<'a> {
    pub attention_id: &'a str,
    pub capability_digest: &'a str,
    pub idempotency_key: &'a str,
    pub action: &'a str,
    pub disposition: &'a str,
    pub operator: &'a str,
}

/// What became of a decision that was submitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Acted {
    Decided(FlowDecision),
    /// Flow refused, and wrote nothing.
    Refused,
    /// There is no safe terminal decision.
    Failed,
}

/// Flow's decision, as far as it may be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowDecision {
    pub decision_id: String,
    pub status: String,
    pub report_success: Option<bool>,
    pub next_transition: Option<String>,
    pub transition_receipt_digest: Option<String>,
}

/// Why an act isn't a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    Refused,
    Failed,
}

impl ActRequest<'_> {
    pub fn fields(&self, runs_dir: &Path) -> Map<String, Value> {
        let fields = json!({
            "runs_dir": runs_dir.to_string_lossy(),
            "attention_id": self.attention_id,
            "request": {
                "capability_digest": self.capability_digest,
                "idempotency_key": self.idempotency_key,
                "action": self.action,
                "disposition": self.disposition,
            },
            "operator": self.operator,
            "decided_by": "automation",
        });
        if let Value::Object(fields) = fields { fields } else { Map::new() }
    }
}

/// Why a bridge can't speak for its Flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speechless {
    NoFlow,
    OtherVersion,
    ImportError,
    /// What it said is no greeting.
    Garbage,
}

pub fn hello(answer: &Map<String, Value>) -> Result<Hello, Speechless> {
    if !is_ok(answer) {
        return Err(match answer.get("kind").and_then(Value::as_str) {
            Some("no_flow") => Speechless::NoFlow,
            Some("other_version") => Speechless::OtherVersion,
            Some("import_error") => Speechless::ImportError,
            _ => Speechless::Garbage,
        });
    }
    let flag = |key| answer.get(key).and_then(Value::as_bool).ok_or(Speechless::Garbage);
    Ok(Hello { attended: flag("attended")?, live: flag("live")? })
}

/// The outer `None` is no answer; the inner one is a bundle that Flow doesn't load.
pub fn bundle(answer: &Map<String, Value>) -> Option<Option<Map<String, Value>>> {
    if is_ok(answer) {
        return answer.get("bundle")?.as_object().cloned().map(Some);
    }
    (answer.get("kind")? == "load_error").then_some(None)
}

/// The outer `None` is no answer; the inner one is Flow's *no such item*.
pub fn item(answer: &Map<String, Value>) -> Option<Option<Item>> {
    let item = answer.get("item").filter(|_| is_ok(answer))?;
    if item.is_null() {
        return Some(None);
    }
    let capability = item.as_object()?.get("capability")?;
    if capability.is_null() {
        return Some(Some(Item { capability: None }));
    }
    let digest = capability.get("digest")?.as_str()?.to_owned();
    let allowed = capability.get("allowed_actions")?.as_array()?;
    let allowed = allowed.iter().map(|word| word.as_str().map(str::to_owned)).collect::<Option<_>>()?;
    Some(Some(Item { capability: Some((digest, allowed)) }))
}

pub fn acted(answer: &Map<String, Value>, request: &ActRequest<'_>) -> Result<FlowDecision, Refusal> {
    if !is_ok(answer) {
        let refused = answer.get("ok") == Some(&Value::Bool(false)) && answer.get("kind") == Some(&json!("refused"));
        return Err(if refused { Refusal::Refused } else { Refusal::Failed });
    }
    answer.get("decision").and_then(Value::as_object).and_then(|it| decision(it, request)).ok_or(Refusal::Failed)
}

fn decision(decision: &Map<String, Value>, request: &ActRequest<'_>) -> Option<FlowDecision> {
    let text = |key| decision.get(key).and_then(Value::as_str);
    let of_this_action = text("action") == Some(request.action);
    let report_success = match decision.get("report_success") {
        None | Some(Value::Null) => None,
        Some(value) => Some(value.as_bool()?),
    };
    Some(FlowDecision {
        decision_id: text("decision_id").filter(|id| of_this_action && is_hex(id, 32))?.to_owned(),
        status: text("status")?.to_owned(),
        report_success,
        next_transition: text("next_transition").filter(|next| is_opaque_transition(next)).map(str::to_owned),
        transition_receipt_digest: text("transition_receipt_digest").filter(|it| is_sha256(it)).map(str::to_owned),
    })
}

/// A step may be named by whoever recorded it; only the names that Flow makes up itself are told.
fn is_opaque_transition(text: &str) -> bool {
    let numbered = |digits: &str| (1..=9).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    matches!(text, "<complete>" | "<program-transition-receipt>") || text.strip_prefix("step_").is_some_and(numbered)
}

pub fn is_ok(answer: &Map<String, Value>) -> bool {
    answer.get("ok") == Some(&Value::Bool(true))
}
