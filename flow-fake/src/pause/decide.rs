//! A person's decisions about a pause, as Flow leaves them on disk.

use std::io;
use std::path::Path;

use serde_json::{Value, json};

use super::{CAPABILITY, PENDING, Status, pause_digest};
use crate::canonical::digest;
use crate::report::Subject;
use crate::{clock, files};

/// A decision that a person can take, as `flow-fake pause --set` names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    Pending,
    Continuing,
    Approve,
    Reject,
    Clear,
    Continue,
}

impl Decision {
    pub const NAMES: [&str; 6] = ["pending", "continuing", "approved", "reject", "clear", "continue"];

    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "pending" => Self::Pending,
            "continuing" => Self::Continuing,
            "approved" => Self::Approve,
            "reject" => Self::Reject,
            "clear" => Self::Clear,
            "continue" => Self::Continue,
            _ => return None,
        })
    }
}

pub fn set_status(run_dir: &Path, status: Status) -> io::Result<Value> {
    let path = run_dir.join(PENDING);
    let mut pending = files::read_json(&path)?;
    pending["status"] = json!(status.name());
    files::replace_json(&path, &pending, files::PRIVATE)?;
    Ok(pending)
}

/// Ends the run: the pause is kept as rejected, the report is canceled, and CANCELED where it proves that nothing was written.
pub fn reject(run_dir: &Path) -> io::Result<()> {
    set_status(run_dir, Status::Rejected)?;
    let path = run_dir.join("report.json");
    let mut report = files::read_json(&path)?;
    report["canceled"] = json!(true);
    if matches!(report["transaction_outcome"].as_str(), Some("HALTED_BEFORE_EFFECT" | "FAILED_PLATFORM")) {
        report["transaction_outcome"] = json!("CANCELED");
        report["transaction_platform_fault"] = json!(false);
    }
    files::replace_json(&path, &report, files::PRIVATE)?;
    record_decision(run_dir, "reject", "rejected_by_operator", "rejected")
}

/// Approves the pause without acting on it.
pub fn approve(run_dir: &Path, as_given: &str) -> io::Result<()> {
    let pending = set_status(run_dir, Status::Approved)?;
    let capability = files::read_json(&run_dir.join(CAPABILITY)).unwrap_or_default();
    let binding = pause_digest(&pending);
    let record = json!({
        "schema_version": 2,
        "approver": "a person",
        "approved_at": clock::iso(clock::now()),
        "resolution": "look at the app and decide",
        "bundle_version": capability["bundle_version"],
        "workflow_name": pending["workflow_name"],
        "run_id": pending["run_id"],
        "pause_binding_sha256": binding,
        "run_dir": as_given,
        "authorize_uncertain_retry": false,
    });
    let history = run_dir.join("approval_history");
    std::fs::create_dir_all(&history)?;
    files::replace_json(&run_dir.join("approval.json"), &record, files::PRIVATE)?;
    let name = binding.trim_start_matches("sha256:");
    files::replace_json(&history.join(format!("{name}.json")), &record, files::PRIVATE)
}

/// Removes the pending file, as a continuation does before it replaces the report.
pub fn clear(run_dir: &Path) -> io::Result<()> {
    files::remove(&run_dir.join(PENDING))
}

fn record_decision(run_dir: &Path, action: &str, disposition: &str, status: &str) -> io::Result<()> {
    let path = run_dir.join("attended_decisions.json");
    let capability = files::read_json(&run_dir.join(CAPABILITY)).unwrap_or_default();
    let mut journal = files::read_json(&path)
        .unwrap_or_else(|_| json!({"schema_version": 1, "decisions": [], "relay_acknowledgements": []}));
    let mut unsigned = capability.clone();
    if let Some(map) = unsigned.as_object_mut() {
        map.shift_remove("signature");
    }
    let request = json!({
        "capability_digest": digest(&unsigned),
        "idempotency_key": format!("flow-fake-{}", Subject::fresh_id()),
        "action": action,
        "disposition": disposition,
    });
    let decision = json!({
        "schema_version": 2,
        "decision_id": Subject::fresh_id(),
        "pause_id": capability["pause_id"],
        "capability_digest": request["capability_digest"],
        "request_digest": digest(&request),
        "idempotency_key": request["idempotency_key"],
        "action": action,
        "operator": "a person",
        "decided_by": "human",
        "disposition": disposition,
        "status": status,
        "message": "played decision",
        "created_at": clock::iso(clock::now()),
        "report_success": null,
        "next_transition": capability["expected_next_transition"],
        "transition_receipt_digest": null,
    });
    if let Some(decisions) = journal["decisions"].as_array_mut() {
        decisions.push(decision);
    }
    files::replace_json(&path, &journal, files::PRIVATE)
}
