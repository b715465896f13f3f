//! The pending file.

use serde_json::{Value, json};

use super::{Moment, Status};

/// The pending object of a pause made at `created_at`.
pub fn pending(moment: &Moment, status: Status, created_at: &str) -> Value {
    json!({
        "schema_version": 2,
        "run_id": moment.subject.run_id,
        "workflow_name": moment.subject.workflow_name,
        "step_index": moment.step_index,
        "step_id": moment.step_id,
        "intent": moment.intent,
        "state_id": null,
        "category": moment.category,
        "reason": format!("played: the run stopped at {} ({})", moment.step_id, crate::SCREEN_CANARY),
        "detail": moment.detail,
        "proposed_options": ["look at the app and decide", "end the run"],
        "resume_from_index": moment.step_index,
        "resume_from_step_id": moment.previous_step,
        "params": moment.subject.params,
        "status": status.name(),
        "stale_after_s": 604_800.0,
        "program": false,
        "program_frames": [],
        "program_checkpoint_seq": 0,
        "program_history_hash": "",
        "program_history_delta": [],
        "program_transition_evidence_delta": [],
        "business_decision_evidence_delta": [],
        "program_exception_evidence_delta": [],
        "program_parent_history_hash": "",
        "program_history": [],
        "delivery_uncertainty": moment.delivery_uncertainty(created_at),
        "created_at": created_at,
    })
}
