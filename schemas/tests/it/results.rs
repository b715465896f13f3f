//! The strict result schema against the contract's table of reasons, written here a second time, row by row.

use schemas::Schema;
use serde_json::{Value, json};

use crate::held_against;

/// reason, outcome, safe_to_retry, record_changed, next_step
const ROWS: [(&str, &str, bool, &str, &str); 27] = [
    ("saved_and_checked", "done", false, "yes", "none"),
    ("unexpected_screen", "needs_review", false, "no", "wait_for_person"),
    ("record_not_confirmed", "needs_review", false, "no", "wait_for_person"),
    ("person_needed", "needs_review", false, "no", "wait_for_person"),
    ("record_check_not_set_up", "needs_review", false, "no", "wait_for_person"),
    ("stopped_for_review", "needs_review", false, "no", "wait_for_person"),
    ("approval_needed", "needs_review", false, "no", "wait_for_person"),
    ("waiting_for_approval", "needs_review", false, "unknown", "wait_for_person"),
    ("save_not_confirmed", "not_sure_if_saved", false, "unknown", "check_record"),
    ("not_checked", "not_sure_if_saved", false, "unknown", "check_record"),
    ("change_reversed", "not_sure_if_saved", false, "unknown", "check_record"),
    ("timed_out", "not_sure_if_saved", false, "unknown", "check_record"),
    ("result_unreadable", "not_sure_if_saved", false, "unknown", "check_record"),
    ("interrupted", "not_sure_if_saved", false, "unknown", "check_record"),
    ("invalid_input", "did_not_run", true, "no", "fix_inputs"),
    ("unknown_workflow", "did_not_run", true, "no", "fix_inputs"),
    ("workflow_unavailable", "did_not_run", true, "no", "fix_setup"),
    ("runs_disabled", "did_not_run", true, "no", "fix_setup"),
    ("not_ready_to_run", "did_not_run", true, "no", "fix_setup"),
    ("policy_refused", "did_not_run", true, "no", "fix_setup"),
    ("canceled", "did_not_run", true, "no", "retry"),
    ("platform_error", "did_not_run", true, "no", "retry"),
    ("app_unreachable", "did_not_run", true, "no", "retry"),
    ("stopped_by_person", "did_not_run", false, "no", "none"),
    ("request_id_conflict", "did_not_run", false, "unknown", "fix_inputs"),
    ("retry_limit", "did_not_run", false, "no", "fix_setup"),
    ("running", "running", false, "unknown", "call_get_run"),
];

#[test]
fn every_reason_is_accepted_as_its_row_has_it() {
    for result in results() {
        accepts(&result);
        assert_eq!(Schema::RunResult.check(&result), Ok(()));
    }
}

#[test]
fn the_table_and_the_schema_know_the_same_reasons() {
    let reasons: Vec<Value> = ROWS.iter().map(|row| json!(row.0)).collect();
    assert_eq!(Schema::RunResult.value()["properties"]["reason"]["enum"], json!(reasons));
}

#[test]
fn every_other_value_of_a_bound_field_is_refused() {
    let mut flips = 0;
    for result in results() {
        for field in ["outcome", "safe_to_retry", "record_changed", "next_step", "proof"] {
            for other in values_of(field).into_iter().filter(|value| *value != result[field]) {
                let done_on_another_proof = field == "proof" && result["outcome"] == "done" && other != "none";
                if done_on_another_proof {
                    continue;
                }
                let mut flipped = result.clone();
                flipped[field] = other;
                refuses(&flipped, &format!("/{field}"), "");
                flips += 1;
            }
        }
    }
    assert_eq!(flips, 27 * (4 + 1 + 2 + 6 + 3) - 2);
}

#[test]
fn a_reason_of_another_row_is_refused_with_these_fields() {
    for result in results() {
        let same_row = |other: &(&str, &str, bool, &str, &str)| {
            result["outcome"] == other.1
                && result["safe_to_retry"] == other.2
                && result["record_changed"] == other.3
                && result["next_step"] == other.4
        };
        for other in ROWS.iter().filter(|other| !same_row(other)) {
            let mut swapped = result.clone();
            swapped["reason"] = json!(other.0);
            assert!(Schema::RunResultStrict.check(&swapped).is_err(), "{} as {}", result["reason"], other.0);
        }
    }
}

#[test]
fn keys_stand_exactly_where_they_belong() {
    let (checks, inputs) = (json!(["other"]), json!([{ "input": "note", "problem": "is missing" }]));
    for result in results() {
        let (reason, outcome) = (result["reason"].as_str().unwrap(), result["outcome"].as_str().unwrap());
        let attention = matches!(outcome, "needs_review" | "not_sure_if_saved");
        for (key, value, allowed) in [
            ("failed_checks", &checks, reason == "not_ready_to_run"),
            ("invalid_inputs", &inputs, reason == "invalid_input"),
            ("needs_attention_id", &json!("0123456789abcdef01234567"), attention),
            ("first_run_id", &json!("run-0123456789abcdef01234567"), reason == "request_id_conflict"),
        ] {
            let with = with(&result, key, value.clone());
            if allowed {
                accepts(&with);
            } else {
                refuses(&with, &format!("/{key}"), "");
            }
        }
    }
    for (reason, key) in [("not_ready_to_run", "failed_checks"), ("invalid_input", "invalid_inputs")] {
        let mut without = result(reason);
        without.as_object_mut().unwrap().remove(key);
        refuses(&without, "", "/required");
        refuses(&with(&result(reason), key, json!([])), &format!("/{key}"), "/minItems");
    }
}

#[test]
fn required_keys_are_required_and_others_unknown() {
    for required in Schema::RunResultStrict.value()["required"].as_array().unwrap() {
        let mut without = result("running");
        without.as_object_mut().unwrap().remove(required.as_str().unwrap());
        refuses(&without, "", "/required");
    }
    refuses(&with(&result("running"), "note", json!("x")), "", "/additionalProperties");
    accepts(&with(&result("running"), "replayed", json!(true)));
    refuses(&with(&result("running"), "replayed", json!(false)), "/replayed", "/const");
    refuses(&with(&result("running"), "contract_version", json!("v2")), "/contract_version", "/const");
}

#[test]
fn values_are_held_to_their_shapes() {
    let done = result("saved_and_checked");
    for (key, good, bad) in [
        ("request_id", json!("abcd"), json!("abcd\n")),
        ("run_id", json!("run-0123456789abcdef01234567"), json!("run-")),
        ("seconds", json!(10.1), json!(10.12)),
        ("model_calls", json!(0), json!(-1)),
        ("needs_attention_id", json!(null), json!(7)),
        ("label", json!("x"), json!("")),
    ] {
        if !good.is_null() {
            accepts(&with(&done, key, good));
        }
        refuses(&with(&done, key, bad), &format!("/{key}"), "");
    }
    for tenths in 0..2000 {
        accepts(&with(&done, "seconds", json!(f64::from(tenths) / 10.0)));
    }
}

#[test]
fn the_unknown_name_is_never_echoed() {
    refuses(&with(&result("unknown_workflow"), "workflow", json!("sent")), "/workflow", "/const");
    accepts(&with(&result("platform_error"), "workflow", json!("triage")));
}

#[test]
fn a_simulation_is_called_one() {
    let sandbox = |engine: &str| {
        let result = with(&result("saved_and_checked"), "mode", json!("sandbox"));
        with(&result, "sandbox", json!({ "case": "normal", "engine": engine }))
    };
    let says_so = |result: &Value| with(result, "what_happened", json!("Simulated sandbox result: no app was opened."));
    let simulated = says_so(&with(&sandbox("simulated"), "proof", json!("simulated")));
    accepts(&simulated);
    accepts(&sandbox("flow"));
    accepts(&sandbox("driven"));
    refuses(&says_so(&sandbox("simulated")), "/proof", "/const");
    refuses(&with(&simulated, "what_happened", json!("The change was saved.")), "/what_happened", "/pattern");
    refuses(&says_so(&sandbox("driven")), "/what_happened", "/not");
    refuses(&with(&sandbox("driven"), "proof", json!("simulated")), "/proof", "/not");
    refuses(&with(&sandbox("flow"), "mode", json!("production")), "/sandbox", "");
    refuses(&with(&result("saved_and_checked"), "proof", json!("simulated")), "/proof", "/not");
}

#[test]
fn a_sandbox_result_names_case_and_engine_wherever_a_run_was_begun() {
    let of = |reason: &str, sandbox: Value| with(&with(&result(reason), "mode", json!("sandbox")), "sandbox", sandbox);
    refuses(&with(&result("save_not_confirmed"), "mode", json!("sandbox")), "", "/required");
    refuses(&of("app_unreachable", json!({ "case": "app_offline" })), "/sandbox", "/required");
    accepts(&of("app_unreachable", json!({ "case": "app_offline", "engine": "driven" })));
    accepts(&with(&result("running"), "mode", json!("sandbox")));
    accepts(&of("invalid_input", json!({ "engine": "driven" })));
    refuses(&of("invalid_input", json!({})), "/sandbox", "/minProperties");
    refuses(&of("save_not_confirmed", json!({ "case": "a note", "engine": "driven" })), "/sandbox/case", "/enum");
    let fell_back = json!({ "case": "normal", "engine": "driven", "fallback": "no_browser" });
    refuses(&of("save_not_confirmed", fell_back), "/sandbox/fallback", "");
}

#[test]
fn codes_of_the_engine_never_contradict_the_result() {
    let at = "/technical/transaction_outcome";
    for (reason, transaction, fits) in [
        ("saved_and_checked", "VERIFIED", true),
        ("saved_and_checked", "RECONCILIATION_REQUIRED", false),
        ("stopped_for_review", "HALTED_BEFORE_EFFECT", true),
        ("stopped_for_review", "VERIFIED", false),
        ("canceled", "ROLLED_BACK", false),
        ("save_not_confirmed", "RECONCILIATION_REQUIRED", true),
    ] {
        let quoted = with(&result(reason), "technical", json!({ "transaction_outcome": transaction }));
        if fits {
            accepts(&quoted);
        } else {
            refuses(&quoted, at, "");
        }
    }
    let unknown = json!({ "transaction_outcome": "MAYBE" });
    refuses(&with(&result("running"), "technical", unknown), at, "/enum");
}

#[test]
fn the_open_schema_closes_every_code_and_leaves_the_root_open() {
    accepts_open(&with(&result("running"), "later_key", json!(1)));
    for (key, bad) in [
        ("outcome", json!("ok")),
        ("reason", json!("because")),
        ("next_step", json!("wait")),
        ("record_changed", json!(true)),
        ("proof", json!("yes")),
        ("mode", json!("demo")),
        ("failed_checks", json!(["unheard_of"])),
        ("safe_to_retry", json!("false")),
    ] {
        let violations = Schema::RunResult.check(&with(&result("running"), key, bad)).unwrap_err();
        assert!(
            violations.iter().all(|violation| violation.instance_path.starts_with(&format!("/{key}"))),
            "{violations}"
        );
    }
}

fn results() -> impl Iterator<Item = Value> {
    ROWS.iter().map(|row| result(row.0))
}

/// The least result with this reason.
fn result(reason: &str) -> Value {
    let row = ROWS.iter().find(|row| row.0 == reason).unwrap();
    let mut result = json!({
        "outcome": row.1, "label": "x", "safe_to_retry": row.2, "what_happened": "x", "next_action": "x",
        "next_step": row.4, "reason": row.0, "record_changed": row.3,
        "proof": if row.1 == "done" { "local" } else { "none" },
        "run_id": "run-0123456789abcdef01234567", "request_id": "abcd", "workflow": null, "mode": "production",
        "contract_version": "openadapt.run-result/v1",
    });
    match reason {
        "not_ready_to_run" => result["failed_checks"] = json!(["not_certified"]),
        "invalid_input" => result["invalid_inputs"] = json!([{ "input": "note", "problem": "is missing" }]),
        _ => {}
    }
    result
}

fn values_of(field: &str) -> Vec<Value> {
    match Schema::RunResult.value()["properties"][field].get("enum") {
        Some(values) => values.as_array().unwrap().clone(),
        None => vec![json!(false), json!(true)],
    }
}

fn with(result: &Value, key: &str, value: Value) -> Value {
    let mut changed = result.clone();
    changed[key] = value;
    changed
}

fn accepts_open(result: &Value) {
    assert_eq!(Schema::RunResult.check(result), Ok(()));
}

fn accepts(result: &Value) {
    held_against::accepts(Schema::RunResultStrict, result);
}

fn refuses(result: &Value, instance_path: &str, keyword: &str) {
    held_against::refuses_by(Schema::RunResultStrict, result, instance_path, keyword);
}
