//! A person's decisions about a pause, as Flow leaves them on disk.

use std::io;
use std::path::Path;

use serde_json::{Value, json};

use super::{CAPABILITY, PENDING, Status, pause_digest};
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
    files::replace_json(&path, &report, files::PRIVATE)
}

/// Approves the pause without acting on it.
pub fn approve(run_dir: &Path, as_given: &str, approver: &str) -> io::Result<()> {
    let pending = set_status(run_dir, Status::Approved)?;
    record_approval(run_dir, &pending, as_given, approver)
}

/// The record of an approval, and its copy under the digest of the pause that it is bound to.
pub fn record_approval(run_dir: &Path, pending: &Value, as_given: &str, approver: &str) -> io::Result<()> {
    let capability = files::read_json(&run_dir.join(CAPABILITY)).unwrap_or_default();
    let binding = pause_digest(pending);
    let record = json!({
        "schema_version": 2,
        "approver": approver,
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
