//! The capability that binds a person's decision to one exact pause.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::Moment;
use crate::canonical::{canonical, digest, hmac_sha256};
use crate::clock;

const DAY_S: i64 = 24 * 3600;

/// The signed capability of `pending`, the `sequence`th of its run.
pub fn capability(moment: &Moment, pending: &Value, key: &[u8], issued: Timestamp, sequence: u64) -> Value {
    let required =
        matches!(moment.subject.profile, Some(crate::report::Profile::Standard | crate::report::Profile::Regulated));
    let mut capability = json!({
        "schema_version": 3,
        "event_sequence": sequence,
        "pause_id": crate::report::Subject::fresh_id(),
        "run_id": moment.subject.run_id,
        "workflow_name": moment.subject.workflow_name,
        "bundle_version": moment.bundle_version(),
        "step_index": moment.step_index,
        "step_id": moment.step_id,
        "state_id": null,
        "resume_from_index": moment.step_index,
        "resume_from_step_id": moment.previous_step,
        "pause_digest": pause_digest(pending),
        "expected_next_transition": moment.next,
        "expected_transition_digest": null,
        "program_cursor_digest": null,
        "transition_baseline": baseline(key),
        "delivery_state": moment.delivery_state(),
        "source_identity_required": required,
        "source_identity": moment.identity,
        "issued_at": clock::iso(issued),
        "expires_at": clock::iso(clock::shifted(issued, DAY_S)),
        "allowed_actions": moment.allowed_actions(),
        "signature": null,
    });
    capability["expected_transition_digest"] = transition_digest(&capability).into();
    sign(&mut capability, key);
    capability
}

/// The digest of a pause: the whole pending object as it was while pending.
pub fn pause_digest(pending: &Value) -> String {
    let mut pending = pending.clone();
    pending["status"] = json!("pending");
    digest(&pending)
}

/// The digest of the step that is expected next, over the capability's own fields.
pub fn transition_digest(capability: &Value) -> String {
    const BOUND: [&str; 10] = [
        "run_id",
        "workflow_name",
        "bundle_version",
        "step_index",
        "step_id",
        "state_id",
        "resume_from_index",
        "resume_from_step_id",
        "program_cursor_digest",
        "expected_next_transition",
    ];
    digest(&BOUND.iter().map(|key| ((*key).to_owned(), capability[*key].clone())).collect())
}

pub fn sign(capability: &mut Value, key: &[u8]) {
    capability["signature"] = signature(capability, key).into();
}

pub fn signature_holds(capability: &Value, key: &[u8]) -> bool {
    capability["signature"] == signature(capability, key).as_str()
}

fn signature(capability: &Value, key: &[u8]) -> String {
    let mut unsigned = capability.clone();
    if let Value::Object(map) = &mut unsigned {
        map.shift_remove("signature");
    }
    hmac_sha256(key, canonical(&unsigned).as_bytes())
}

fn baseline(key: &[u8]) -> Value {
    let bound = |what: &str, value: &str| {
        hmac_sha256(key, format!("openadapt-attended-transition-v1:{what}:{value}").as_bytes())
    };
    json!({
        "schema_version": 1,
        "url_digest": bound("url", "http://127.0.0.1/"),
        "title_digest": bound("page_title", "played"),
        "page_count": 1,
    })
}
