//! One item of the queue: closed words, counts and opaque ids, nothing that was on a screen.

use std::path::Path;

use serde_json::{Value, json};

use super::{attention_id, wording};
use crate::attended::{capability_digest, signed_capability};
use crate::files;
use crate::pause::PENDING;

/// The item of a run folder; `None` when nobody has to look at it.
pub fn item(root: &Path, folder: &Path) -> Option<Value> {
    let report = files::read_json(&folder.join("report.json")).ok().filter(Value::is_object);
    let pending = pending(folder);
    if !needs_attention(report.as_ref(), &pending) {
        return None;
    }
    let report = report.unwrap_or_default();
    let category = category(&pending);
    let (headline, next_action) = wording::of(category);
    let count = |pointer: &str| report.pointer(pointer).and_then(Value::as_array).map_or(0, Vec::len);
    let failed = failed_step(&report);
    Some(json!({
        "id": attention_id(root, folder)?,
        "created_at": report["started_at"].as_str().or(pending.text("created_at")),
        "category": category,
        "headline": headline,
        "next_action": next_action,
        "status": status(&report, &pending),
        "human_required": category == "human_required",
        "durably_paused": match &pending {
            Pending::Open(_) => pending.text("status") != Some("rejected"),
            Pending::Encrypted => true,
            Pending::None | Pending::Unreadable => false,
        },
        "encrypted_pause": matches!(pending, Pending::Encrypted),
        "observed_text_count": count("/halt/observed_texts"),
        "completed_intent_count": count("/halt/completed_intents"),
        "before_artifact_id": failed.map(|number| format!("step-{number:03}-before")),
        "after_artifact_id": failed.map(|number| format!("step-{number:03}-after")),
        "capability": signed_capability(folder).map_or(Value::Null, |capability| shown(&capability)),
    }))
}

enum Pending {
    None,
    Open(Value),
    Unreadable,
    Encrypted,
}

impl Pending {
    fn text(&self, key: &str) -> Option<&str> {
        match self {
            Self::Open(pending) => pending[key].as_str(),
            Self::None | Self::Unreadable | Self::Encrypted => None,
        }
    }
}

fn pending(folder: &Path) -> Pending {
    let path = folder.join(PENDING);
    match (path.exists(), files::read_json(&path)) {
        (true, Ok(pending)) if pending.is_object() => Pending::Open(pending),
        (true, _) => Pending::Unreadable,
        (false, _) if folder.join(format!("{PENDING}.enc")).exists() => Pending::Encrypted,
        (false, _) => Pending::None,
    }
}

fn needs_attention(report: Option<&Value>, pending: &Pending) -> bool {
    if !matches!(pending, Pending::None) {
        return true;
    }
    let Some(report) = report else { return false };
    let outcome = report["execution_outcome"].as_str();
    let done = report["success"] == true && matches!(outcome, Some("VERIFIED") | None);
    let nothing_known = report["halt"].is_null() && outcome.is_none();
    !(done || nothing_known)
}

/// The categories that the queue shows under their own name.
fn category(pending: &Pending) -> &str {
    match pending.text("category") {
        Some(known) if wording::CATEGORIES.contains(&known) => known,
        _ => wording::OTHER,
    }
}

fn status(report: &Value, pending: &Pending) -> String {
    match (pending, pending.text("status")) {
        (Pending::Encrypted, _) => "encrypted".into(),
        (_, Some(status @ ("approved" | "rejected"))) => status.into(),
        (Pending::Open(_), _) => "pending".into(),
        _ => report["execution_outcome"].as_str().unwrap_or("halted").to_lowercase(),
    }
}

/// The place of the step that stopped the run, from 1.
fn failed_step(report: &Value) -> Option<usize> {
    let results = report["results"].as_array()?;
    results.iter().rposition(|result| result["ok"] == false).map(|at| at + 1)
}

fn shown(capability: &Value) -> Value {
    json!({
        "digest": capability_digest(capability),
        "expires_at": capability["expires_at"],
        "allowed_actions": capability["allowed_actions"],
        "delivery_state": capability["delivery_state"],
        "source_identity_required": capability["source_identity_required"],
        "source_identity_status": capability["source_identity"]["status"],
    })
}
