//! Step results, effect evidence and the effect journal, in the real key order.

use serde_json::{Value, json};

use crate::SCREEN_CANARY;

pub const NAVIGATION: (&str, &str) = ("step_000", "open the record");
pub const SAVE: (&str, &str) = ("step_001", "save the record");
/// The one effect contract of the save step.
pub const EFFECT: &str = "sha256:5f0c7e0a4d1b2c3948576a7b8c9d0e1f2a3b4c5d6e7f80910a1b2c3d4e5f6071";
const VERIFIER: &str = "sha256:9a8b7c6d5e4f30211203f4e5d6c7b8a99a8b7c6d5e4f30211203f4e5d6c7b8a9";
const ZERO: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// A step that did what it should, with a verified identity when `identity` says so.
pub fn done(step: (&str, &str), identity: bool) -> Value {
    let mut result = blank(step);
    result["ok"] = json!(true);
    result["postconditions_ok"] = json!(true);
    result["actuation"] = json!("dom");
    result["delivery_attempted"] = json!(true);
    result["starting_state_settled"] = json!(true);
    if identity {
        result["identity"] = identity_check("verified");
    }
    result
}

/// A save whose effect the verifier found.
pub fn saved() -> Value {
    let mut result = consequential(done(SAVE, true));
    result["effect_verified"] = json!(true);
    result["effect_results"] = json!(["[rest] record_written: CONFIRMED"]);
    result["effect_evidence"] = json!([evidence("confirmed")]);
    result
}

/// A save that doubled a record, was compensated and then checked again.
pub fn compensated() -> Value {
    let mut result = saved();
    let mut item = evidence("refuted");
    item["final_verdict"] = json!("confirmed");
    item["reconciliation_completed"] = json!(true);
    item["reconciliation_actions"] = json!(1);
    result["effect_evidence"] = json!([item]);
    result
}

/// A save that was clicked, after which the expected screen never came: nobody knows what was written.
pub fn save_in_doubt() -> Value {
    let mut result =
        consequential(failed(done(SAVE, true), "governed_refusal", "the screen after the save never came"));
    result["postconditions_ok"] = json!(false);
    result["safety_halt"] = json!(true);
    result
}

/// A step refused before its action because two places on the screen fit.
pub fn ambiguous() -> Value {
    let mut result = failed(blank(NAVIGATION), "safety_halt", "two places on the screen fit this step");
    result["safety_halt"] = json!(true);
    result["delivery_attempted"] = json!(false);
    result["safety_refusal_evidence"] =
        json!({"stage": "target_resolution", "code": "target_ambiguous", "detector_input_sha256": ZERO});
    result
}

/// A step refused before its action because the record on the screen is another one.
pub fn wrong_record() -> Value {
    let mut result = failed(blank(NAVIGATION), "governed_refusal", "the record on the screen is not the expected one");
    result["identity"] = identity_check("mismatch");
    result["safety_halt"] = json!(true);
    result["delivery_attempted"] = json!(false);
    result
}

/// The pseudo-step of a run whose authorization covers other inputs.
pub fn unauthorized() -> Value {
    failed(
        blank(("<authorization>", "check the authorization")),
        "governed_refusal",
        "the authorization covers other inputs",
    )
}

/// A runtime exception before the action.
pub fn broken() -> Value {
    let mut result = failed(blank(NAVIGATION), "runtime_failure", "the surface gave no picture");
    result["identity"] = identity_check("verified");
    result["delivery_attempted"] = json!(false);
    result
}

/// The failing save step of a run without a profile.
pub fn plain_halt() -> Value {
    let mut result = failed(blank(SAVE), "governed_refusal", "the step could not be done");
    result["delivery_attempted"] = json!(false);
    result
}

/// The journal entry that goes with a save result.
pub fn journal_entry(observed: &str, verified: Option<bool>, collateral: u32) -> Value {
    json!({
        "step_id": SAVE.0,
        "intent": SAVE.1,
        "consequential": true,
        "intended_effect_contract_hashes": [EFFECT],
        "attempt_state": "delivered",
        "observed_effect": observed,
        "effect_verified": verified,
        "approved_unverified": false,
        "verification_performed": verified.is_some(),
        "observed_at": null,
        "collateral_reconciliation_actions": collateral,
    })
}

fn failed(mut result: Value, category: &str, error: &str) -> Value {
    result["ok"] = json!(false);
    result["failure_category"] = json!(category);
    result["error"] = json!(error);
    result
}

fn consequential(mut result: Value) -> Value {
    result["risk"] = json!("irreversible");
    result["risk_explanation"] = json!("the step changes a record");
    result["effect_contract_hashes"] = json!([EFFECT]);
    result
}

fn evidence(initial: &str) -> Value {
    json!({
        "effect_contract_hash": EFFECT,
        "substrate": "rest",
        "verifier_identity": VERIFIER,
        "verification_tier": 1,
        "initial_verdict": initial,
        "final_verdict": initial,
        "reconciliation_completed": false,
        "reconciliation_actions": 0,
        "observed_effect": "present",
    })
}

fn identity_check(status: &str) -> Value {
    json!({
        "status": status,
        "mode": "structured",
        "coverage": if status == "verified" { 1.0 } else { 0.0 },
        "expected": "<structured identity template>",
        "observed": SCREEN_CANARY,
        "param": null,
        "signal_evidence": [],
        "quorum_required": null,
        "quorum_verified": null,
        "pixel_evidence": null,
    })
}

/// A step that wasn't done.
pub fn blank((id, intent): (&str, &str)) -> Value {
    json!({
        "step_id": id,
        "intent": intent,
        "ok": false,
        "risk": "reversible",
        "risk_explanation": null,
        "risk_review_required": false,
        "skipped": false,
        "exception_handled": false,
        "resolution": null,
        "drag_end_resolution": null,
        "identity": null,
        "input_verified": null,
        "input_retried": false,
        "postconditions_ok": null,
        "interstitial_actions": [],
        "effect_verified": null,
        "effect_approved_unverified": false,
        "safety_halt": false,
        "effect_results": [],
        "effect_evidence": [],
        "failure_category": null,
        "effect_contract_hashes": [],
        "actuation": null,
        "program_scope": [],
        "delivery_receipt": null,
        "delivery_attempted": null,
        "fresh_actuation_events": [],
        "delivery_uncertainty": null,
        "safety_refusal_evidence": null,
        "starting_state_settled": null,
        "postcondition_drift_rescues": [],
        "drift_oracle_calls": 0,
        "heal": null,
        "error": null,
        "before_png": null,
        "after_png": null,
        "elapsed_ms": 10.0,
    })
}
