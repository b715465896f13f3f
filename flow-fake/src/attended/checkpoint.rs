//! The checkpoint of each step that a continuation verified.

use std::io;
use std::path::Path;

use serde_json::{Value, json};

use crate::report::Subject;
use crate::{clock, files};

/// Writes the checkpoints of a report's good steps from `first` on; the first is the one that a person decided about.
pub fn write(run_dir: &Path, subject: &Subject, report: &Value, first: usize, digest: &str) -> io::Result<()> {
    let folder = run_dir.join("checkpoints");
    std::fs::create_dir_all(&folder)?;
    let results = report["results"].as_array().map_or(&[][..], Vec::as_slice);
    for (index, result) in results.iter().enumerate().skip(first).filter(|(_, result)| result["ok"] == true) {
        let decided = (index == first).then_some(digest);
        files::replace_json(&folder.join(name(result, index)), &of(subject, result, index, decided), files::PRIVATE)?;
    }
    Ok(())
}

/// Writes the checkpoint of the step that a person decided about; the steps after it have theirs.
pub fn attended(run_dir: &Path, subject: &Subject, report: &Value, at: usize, digest: &str) -> io::Result<()> {
    let result = &report["results"][at];
    let mut point = of(subject, result, at, Some(digest));
    point["expected_postconditions"] = crate::drive::expected(at);
    files::replace_json(&run_dir.join("checkpoints").join(name(result, at)), &point, files::PRIVATE)
}

pub fn name(result: &Value, index: usize) -> String {
    format!("step_{index:04}_{}.json", result["step_id"].as_str().unwrap_or_default())
}

/// The checkpoint of one verified step; `decided` is the capability under which a person did it.
pub fn of(subject: &Subject, result: &Value, index: usize, decided: Option<&str>) -> Value {
    json!({
        "schema_version": 2,
        "run_id": subject.run_id,
        "workflow_name": subject.workflow_name,
        "bundle_version": format!("sha256:{}", subject.content_digest),
        "step_index": index,
        "step_id": result["step_id"],
        "intent": result["intent"],
        "state_id": null,
        "next_step_index": index + 1,
        "params": subject.params,
        "effect_verified": result["effect_verified"],
        "effect_approved_unverified": result["effect_approved_unverified"],
        "effect_contract_hashes": result["effect_contract_hashes"],
        "effect_evidence": result["effect_evidence"],
        "identity": result["identity"],
        "input_verified": result["input_verified"],
        "starting_state_settled": result["starting_state_settled"],
        "delivery_attempted": result["delivery_attempted"],
        "delivery_receipt": result["delivery_receipt"],
        "drag_end_resolution": result["drag_end_resolution"],
        "fresh_actuation_events": result["fresh_actuation_events"],
        "before_png": result["before_png"],
        "governed_authorization_id": subject.run_id,
        "governed_approval_source": subject.approval_source,
        "postconditions_ok": result["postconditions_ok"],
        "expected_postconditions": [],
        "skipped": result["skipped"],
        "actuation": result["actuation"],
        "delivery_uncertainty": result["delivery_uncertainty"],
        "resolution": result["resolution"],
        "drift_oracle_calls": result["drift_oracle_calls"],
        "heal": result["heal"],
        "attended_capability_digest": decided,
        "attended_reconciliation_request_digest": null,
        "attended_reconciliation_expected_transition_digest": null,
        "attended_reconciliation_delivery_state": null,
        "attended_reconciliation_effect_contract_hashes": [],
        "attended_reconciliation_at": null,
        "created_at": clock::iso(clock::now()),
    })
}
