//! Every way a decision can go, from the first call to what Flow was asked.

use openadapt_agent::attended::copy;
use openadapt_agent::bridge::Bridge;
use openadapt_agent::bridge::host::{CallContext, FormOutcome, ToolAnswer, ToolHost};
use serde_json::{Value, json};

use crate::world::{RUN, SILENT, World, answered, attention_id, block_on, first_call, item, object, second_call};

const REFUSED: &str = r#"{"id":3,"ok":false,"kind":"refused"}"#;
const TAUGHT: &str = r#"{"id":3,"ok":true,"decision":{"decision_id":"0123456789abcdef0123456789abcdef","action":"teach","status":"needs_demonstration","report_success":null,"next_transition":"step_001","transition_receipt_digest":null,"message":"Ada Example"}}"#;

/// A world, a server on it whose bridge of Flow answers so, and the arguments that fit its item now.
struct Case {
    world: World,
    bridge: Bridge,
    arguments: Value,
}

impl Case {
    fn answering(acted: &str) -> Self {
        let world = World::new();
        let offered = block_on(item(&world.read_only(), RUN));
        let bridge = world.attended(&world.bridge_script(false, &offered, acted), false);
        let digest = &offered["capability"]["digest"];
        let arguments = json!({
            "attention_id": attention_id(RUN),
            "capability_digest": digest,
            "idempotency_key": "key-0123456789abcdef",
            "request_demonstration": true,
        });
        Self { world, bridge, arguments }
    }

    fn with(&self, field: &str, value: Value) -> Value {
        let mut changed = self.arguments.clone();
        changed[field] = value;
        changed
    }

    fn first(&self, arguments: &Value) -> ToolAnswer {
        block_on(first_call(&self.bridge, "teach_attention", arguments))
    }

    fn answered(&self, given: FormOutcome) -> ToolAnswer {
        block_on(answered(&self.bridge, "teach_attention", &self.arguments, given))
    }
}

#[test]
fn a_confirmed_decision_is_submitted_once_as_the_effective_account_and_told_in_fixed_words() {
    let case = Case::answering(TAUGHT);
    let ToolAnswer::Object(decision) = case.answered(FormOutcome::Confirmed) else { panic!("a decision was expected") };
    let decision = Value::from(decision);
    schemas::Schema::AttentionDecision.check(&decision).unwrap();
    assert_eq!((&decision["status"], &decision["success"]), (&json!("needs_demonstration"), &json!(false)));
    assert!(!decision.to_string().contains("Ada"));
    let acts = case.world.asked("attended.act");
    assert_eq!(acts.len(), 1);
    let id = std::process::Command::new("id").arg("-un").output().unwrap();
    assert_eq!(acts[0]["operator"], String::from_utf8(id.stdout).unwrap().trim_end());
    let expected = json!({
        "capability_digest": case.arguments["capability_digest"],
        "idempotency_key": "key-0123456789abcdef",
        "action": "teach",
        "disposition": "teach_requested",
    });
    assert_eq!((&acts[0]["request"], &acts[0]["decided_by"]), (&expected, &json!("automation")));
}

#[test]
fn the_form_names_the_action_the_run_and_the_item_and_binds_to_this_call() {
    let case = Case::answering(TAUGHT);
    let ToolAnswer::Ask(form) = case.first(&case.arguments) else { panic!("a form was expected") };
    assert!(form.message.starts_with(copy::question(openadapt_agent::attended::action::Action::Teach)));
    assert!(form.message.contains(&attention_id(RUN)) && form.message.contains(RUN));
    let ToolAnswer::Ask(other) = case.first(&case.with("idempotency_key", json!("key-another-0123456"))) else {
        panic!("a form was expected")
    };
    assert_ne!(form.binding, other.binding);
    assert!(case.world.bridge_is_untouched());
}

#[test]
fn everything_but_a_confirmed_form_submits_nothing_and_says_which_it_was() {
    for (given, sentence) in [
        (FormOutcome::NotConfirmed, copy::NOT_CONFIRMED),
        (FormOutcome::Declined, copy::DECLINED),
        (FormOutcome::Cancelled, copy::CANCELLED),
        (FormOutcome::Unanswered, copy::UNANSWERED),
    ] {
        let case = Case::answering(TAUGHT);
        assert_eq!(case.answered(given), ToolAnswer::Refused(sentence), "{given:?}");
        assert!(case.world.bridge_is_untouched(), "{given:?}");
    }
}

#[test]
fn a_call_is_judged_in_order_before_anybody_is_asked() {
    let case = Case::answering(TAUGHT);
    let elsewhere = case.with("attention_id", json!("0123456789abcdef01234567"));
    assert_eq!(case.first(&elsewhere), ToolAnswer::Refused(copy::UNKNOWN_ITEM));
    let stale = case.with("capability_digest", json!(format!("sha256:{}", "a".repeat(64))));
    assert_eq!(case.first(&stale), ToolAnswer::Refused(copy::STALE));
    let silent = CallContext { client: SILENT, answer: None };
    let answer = block_on(case.bridge.call("teach_attention", object(&case.arguments), silent));
    assert_eq!(answer, ToolAnswer::Refused(copy::NO_FORM));
    case.world.sign(RUN, &["reject"]);
    let digest = block_on(item(&case.bridge, RUN))["capability"]["digest"].clone();
    assert_eq!(case.first(&case.with("capability_digest", digest)), ToolAnswer::Refused(copy::NOT_ALLOWED));
    assert!(case.world.bridge_is_untouched());
}

#[test]
fn an_answer_to_another_form_counts_for_nothing() {
    let case = Case::answering(TAUGHT);
    for binding in ["", "teach_attention"] {
        let given = FormOutcome::Confirmed;
        let answer = block_on(second_call(&case.bridge, "teach_attention", &case.arguments, given, binding.to_owned()));
        assert_eq!(answer, ToolAnswer::Refused(copy::CHANGED_MEANWHILE));
    }
    assert!(case.world.bridge_is_untouched());
}

#[test]
fn what_changes_while_a_person_is_asked_is_not_submitted() {
    let case = Case::answering(TAUGHT);
    let ToolAnswer::Ask(form) = case.first(&case.arguments) else { panic!("a form was expected") };
    case.world.sign(RUN, &["teach"]);
    let given = FormOutcome::Confirmed;
    let answer = block_on(second_call(&case.bridge, "teach_attention", &case.arguments, given, form.binding));
    assert_eq!(answer, ToolAnswer::Refused(copy::STALE));
    assert!(case.world.bridge_is_untouched());
}

#[test]
fn what_flow_no_longer_offers_is_not_submitted() {
    let mut case = Case::answering(TAUGHT);
    case.bridge = case.world.attended(&case.world.bridge_script(false, &Value::Null, TAUGHT), false);
    assert_eq!(case.answered(FormOutcome::Confirmed), ToolAnswer::Refused(copy::CHANGED_MEANWHILE));
    assert!(case.world.asked("attended.act").is_empty());
}

#[test]
fn a_refusal_is_a_plain_result_and_a_failure_is_neither_a_refusal_nor_a_success() {
    let case = Case::answering(REFUSED);
    let ToolAnswer::Object(refused) = case.answered(FormOutcome::Confirmed) else { panic!("a result was expected") };
    let refused = Value::from(refused);
    schemas::Schema::AttentionDecision.check(&refused).unwrap();
    assert_eq!((&refused["status"], &refused["success"]), (&json!("refused"), &json!(false)));
    for acted in ["garbage", r#"{"id":3,"ok":false,"kind":"failed"}"#, &TAUGHT.replace("needs_demonstration", "Ada")] {
        let case = Case::answering(acted);
        assert_eq!(case.answered(FormOutcome::Confirmed), ToolAnswer::Refused(copy::FAILED), "{acted}");
        assert_eq!(case.world.asked("attended.act").len(), 1);
    }
}

#[test]
fn without_a_bridge_nothing_is_submitted_and_the_queue_is_read_all_the_same() {
    let mut case = Case::answering(TAUGHT);
    case.bridge = case.world.attended("/no/such/bridge", false);
    assert_eq!(case.answered(FormOutcome::Confirmed), ToolAnswer::Refused(copy::NOT_SUBMITTED));
    assert_eq!(block_on(item(&case.bridge, RUN))["status"], "pending");
}

#[test]
fn only_a_completed_decision_with_a_successful_report_is_a_success() {
    for (status, report, success) in [
        ("completed", "true", true),
        ("completed", "false", false),
        ("completed", "null", false),
        ("halted", "true", false),
        ("delivery_uncertain", "true", false),
    ] {
        let acted = TAUGHT
            .replace("needs_demonstration", status)
            .replace("\"report_success\":null", &format!("\"report_success\":{report}"));
        let case = Case::answering(&acted);
        let ToolAnswer::Object(decision) = case.answered(FormOutcome::Confirmed) else {
            panic!("a decision was expected")
        };
        assert_eq!(decision["success"], json!(success), "{status} {report}");
    }
}
