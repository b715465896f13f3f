//! Item approvals of a later Flow: request, answer, used mark.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::canonical::{canonical, sha256_hex, unhex};
use crate::report::Subject;
use crate::script::Approval;
use crate::{clock, files};

/// A picture of one grey point.
const PNG: &str = "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b550000000a49444154789c636800000082008177cd72b60000000049454e44ae426082";

/// Plays one step in `<run dir>/item-approval`, about the request that was made last; returns facts for the journal.
pub fn play(approval: Approval, run_dir: &Path, subject: &Subject) -> io::Result<Value> {
    let folder = run_dir.join("item-approval");
    std::fs::create_dir_all(&folder)?;
    match approval {
        Approval::Request { expires_in_s } => request(&folder, subject, expires_in_s),
        Approval::AnswerApprove => answer(&folder, "approve"),
        Approval::AnswerDecline => answer(&folder, "decline"),
        Approval::Consume => {
            let (id, _) = last_request(&folder)?;
            files::replace(&folder.join(format!("consumed-{id}")), b"", files::PRIVATE)?;
            Ok(json!({"name": "consumed", "request_id": id}))
        }
    }
}

fn request(folder: &Path, subject: &Subject, expires_in_s: f64) -> io::Result<Value> {
    let id = Subject::fresh_id();
    let now = clock::now();
    let png = unhex(PNG).unwrap_or_default();
    let expires = clock::shifted_by(now, expires_in_s);
    // One that has run out already was made before it ran out.
    let created = if expires > now { now } else { clock::shifted(expires, -60) };
    let request = json!({
        "schema_version": "openadapt.item-approval-request/v1",
        "request_id": id,
        "run_id": subject.run_id,
        "workflow_name": subject.workflow_name,
        "step_id": "step_001",
        "step_index": 1,
        "step_intent": "save the record",
        "mode": "each_item",
        "bundle_content_digest": subject.content_digest,
        "runtime_inputs_digest": subject.inputs_sha256(),
        "screenshot": format!("item-approval/{id}.png"),
        "screenshot_sha256": sha256_hex(&png),
        "form_state_kind": "dom",
        "form_state_sha256": format!("sha256:{}", sha256_hex(crate::SCREEN_CANARY)),
        "created_at": clock::iso(created),
        "expires_at": clock::iso(expires),
        "qualification_case_kind": null,
    });
    files::replace(&folder.join(format!("{id}.png")), &png, files::PRIVATE)?;
    files::replace_json(&folder.join(format!("request-{id}.json")), &request, files::PRIVATE)?;
    Ok(json!({"name": "request", "request_id": id, "expires_at": request["expires_at"]}))
}

fn answer(folder: &Path, decision: &str) -> io::Result<Value> {
    let (id, request) = last_request(folder)?;
    let answer = json!({
        "schema_version": "openadapt.item-approval-answer/v1",
        "request_id": id,
        "request_sha256": sha256_hex(canonical(&request)),
        "decision": decision,
        "decline_reason": (decision == "decline").then_some("wrong_values"),
        "decided_by": "human",
        "route": "local_cli",
        "approver_kind": "unauthenticated",
        "approver_id": null,
        "auth_method": "none",
        "answered_at": clock::iso(clock::now()),
    });
    files::replace_json(&folder.join(format!("answer-{id}.json")), &answer, files::PRIVATE)?;
    Ok(json!({"name": format!("answer_{decision}"), "request_id": id}))
}

fn last_request(folder: &Path) -> io::Result<(String, Value)> {
    let mut requests: Vec<(std::time::SystemTime, PathBuf)> = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with("request-") {
            requests.push((entry.metadata()?.modified()?, entry.path()));
        }
    }
    let (_, path) = requests
        .into_iter()
        .max()
        .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "there is no request to answer"))?;
    let request = files::read_json(&path)?;
    Ok((request["request_id"].as_str().unwrap_or_default().to_owned(), request))
}
