//! Reports as they could be: real shapes with one thing changed, and any JSON at all.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::contract::evidence::{ExecutionOutcome, TransactionOutcome};

fn verified() -> Value {
    json!({
        "started_at": "2026-11-29T10:00:00.000001+00:00",
        "execution_profile": "standard",
        "execution_outcome": "VERIFIED",
        "production_eligible": true,
        "execution_completed": true,
        "outcome_envelope": {
            "outcome": "VERIFIED", "profile": "standard", "production_eligible": true, "execution_completed": true,
            "required_contracts": {"authorization": 1, "effect": 2}, "passed_contracts": {"authorization": 1, "effect": 2},
            "model_calls": 0, "external_network_calls": "observed"
        },
        "transaction_outcome": "VERIFIED",
        "run_id_sha256": "ab",
        "results": [{"ok": true}],
        "success": true,
        "model_calls": 0,
        "external_network_calls": "observed"
    })
}

fn evidence_of(report: &Value) -> ReportEvidence {
    understand(report.to_string().as_bytes(), None).evidence
}

fn with(pointer: &str, value: Value) -> Value {
    let mut report = verified();
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
    report.pointer_mut(parent).and_then(Value::as_object_mut).expect("an object").insert(key.to_owned(), value);
    report
}

#[test]
fn a_report_that_agrees_with_itself_is_believed() {
    let ReportEvidence::Consistent(facts) = evidence_of(&verified()) else { panic!("it is consistent") };
    assert_eq!(facts.transaction, Some(TransactionOutcome::Verified));
    assert_eq!(facts.execution, Some(ExecutionOutcome::Verified));
}

#[test]
fn one_contradiction_anywhere_takes_all_belief_away() {
    for (pointer, value) in [
        ("/execution_outcome", json!("HALTED")),
        ("/execution_outcome", json!("verified")),
        ("/execution_outcome", json!(["VERIFIED"])),
        ("/execution_outcome", json!(null)),
        ("/transaction_outcome", json!("COMPLETED_UNVERIFIED")),
        ("/transaction_outcome", json!("HALTED_BEFORE_EFFECT")),
        ("/transaction_outcome", json!({"VERIFIED": true})),
        ("/transaction_outcome", json!(null)),
        ("/success", json!(false)),
        ("/success", json!("true")),
        ("/success", json!(1)),
        ("/success", json!(null)),
        ("/execution_profile", json!("demo")),
        ("/execution_profile", json!({"standard": 1})),
        ("/execution_profile", json!(null)),
        ("/production_eligible", json!("yes")),
        ("/production_eligible", json!(false)),
        ("/execution_completed", json!(false)),
        ("/model_calls", json!(1)),
        ("/external_network_calls", json!("none")),
        ("/outcome_envelope", json!(null)),
        ("/outcome_envelope", json!("VERIFIED")),
        ("/outcome_envelope/outcome", json!("HALTED")),
        ("/outcome_envelope/profile", json!("regulated")),
        ("/outcome_envelope/production_eligible", json!(false)),
        ("/outcome_envelope/passed_contracts", json!({"authorization": 1, "effect": 1})),
        ("/outcome_envelope/passed_contracts", json!(7)),
        ("/approval", json!([])),
        ("/approval", json!({"decision": ["approval_required"]})),
        ("/approval", json!({"mode": 1})),
    ] {
        assert_eq!(evidence_of(&with(pointer, value.clone())), ReportEvidence::Untrusted, "{pointer} = {value}");
    }
}

#[test]
fn a_report_without_effect_that_claims_success_or_completion_is_not_believed() {
    let halted = json!({
        "execution_outcome": "HALTED", "success": false, "transaction_outcome": "HALTED_BEFORE_EFFECT",
        "outcome_envelope": {"outcome": "HALTED"}
    });
    assert!(matches!(evidence_of(&halted), ReportEvidence::Consistent(_)));
    for (key, value) in [("success", json!(true)), ("execution_outcome", json!("ROLLED_BACK"))] {
        let mut changed = halted.clone();
        changed[key] = value.clone();
        changed["outcome_envelope"]["outcome"] = changed["execution_outcome"].clone();
        assert_eq!(evidence_of(&changed), ReportEvidence::Untrusted, "{key}");
    }
}

#[test]
fn a_member_that_stands_twice_makes_a_report_ambiguous() {
    let text = r#"{"success": true, "transaction_outcome": "CANCELED", "transaction_outcome": "VERIFIED"}"#;
    assert_eq!(understand(text.as_bytes(), None).evidence, ReportEvidence::Untrusted);
}

#[test]
fn what_is_not_one_shallow_utf8_object_is_untrusted() {
    let deep = format!(r#"{{"success": true, "x": {}{}}}"#, "[".repeat(128), "]".repeat(128));
    let shallow = format!(r#"{{"success": true, "x": {}{}}}"#, "[".repeat(127), "]".repeat(127));
    assert!(matches!(understand(shallow.as_bytes(), None).evidence, ReportEvidence::Consistent(_)));
    for bytes in
        [deep.as_bytes(), b"", b"[]", b"null", b"{", b"{\"success\": true} x", b"{\"success\": NaN}", b"\xff{}"]
    {
        assert_eq!(understand(bytes, None).evidence, ReportEvidence::Untrusted, "{}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn a_bracket_inside_a_string_does_not_nest() {
    let text = format!(r#"{{"success": true, "x": "{} \" {}"}}"#, "[".repeat(400), "{".repeat(400));
    assert!(matches!(understand(text.as_bytes(), None).evidence, ReportEvidence::Consistent(_)));
}

#[test]
fn a_report_that_began_before_the_launch_is_another_runs() {
    let launch = |text: &str| Some(text.parse::<Timestamp>().expect("a stamp"));
    let bytes = verified().to_string();
    let read_at = |launched| understand(bytes.as_bytes(), launched).evidence;
    assert!(matches!(read_at(launch("2026-11-29T10:00:00Z")), ReportEvidence::Consistent(_)));
    assert!(matches!(read_at(launch("2026-11-29T10:00:00.9Z")), ReportEvidence::Consistent(_)));
    assert_eq!(read_at(launch("2026-11-29T10:00:02Z")), ReportEvidence::Untrusted);
    let unstamped = with("/started_at", json!("yesterday"));
    assert_eq!(
        understand(unstamped.to_string().as_bytes(), launch("2026-11-29T10:00:00Z")).evidence,
        ReportEvidence::Untrusted
    );
}

fn any_json() -> impl Strategy<Value = Value> {
    let word = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        prop_oneof![
            Just("VERIFIED"),
            Just("HALTED"),
            Just("FAILED"),
            Just("ROLLED_BACK"),
            Just("COMPLETED_UNVERIFIED"),
            Just("HALTED_BEFORE_EFFECT"),
            Just("CANCELED"),
            Just("standard"),
            Just("demo"),
            Just("x")
        ]
        .prop_map(Value::from),
    ];
    word.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map(prop_oneof![Just("outcome"), Just("profile"), Just("decision")], inner, 0..3)
                .prop_map(|members| members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    })
}

proptest! {
    #[test]
    fn any_json_is_read_to_the_end_and_done_needs_both_outcomes_verified(
        members in prop::collection::btree_map(
            prop_oneof![
                Just("execution_outcome"), Just("transaction_outcome"), Just("success"), Just("execution_profile"),
                Just("production_eligible"), Just("outcome_envelope"), Just("approval"), Just("model_calls"), Just("started_at")
            ],
            any_json(),
            0..9,
        )
    ) {
        let report: Value = members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        if let ReportEvidence::Consistent(facts) = evidence_of(&report)
            && (facts.transaction == Some(TransactionOutcome::Verified) || facts.execution == Some(ExecutionOutcome::Verified))
        {
            prop_assert_eq!(report.get("execution_outcome"), Some(&json!("VERIFIED")));
            prop_assert_eq!(report.get("transaction_outcome"), Some(&json!("VERIFIED")));
            prop_assert_eq!(report.get("success"), Some(&json!(true)));
        }
    }

    #[test]
    fn any_bytes_are_read_without_a_fault(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = understand(&bytes, None);
    }
}
