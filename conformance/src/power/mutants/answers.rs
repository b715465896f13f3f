//! A run result that breaks the contract in one place.

use serde_json::{Value, json};

use crate::evidence::{Evidence, Exchange};
use crate::power::change::{first_answer, is_advertised, message, result, run_results, word};
use crate::power::mutant::Mutant;

const SHAPE: &[&str] = &["result-shape"];
const BOTH: &[&str] = &["result-shape", "advertised-schema"];
const SHAPE_AND_TRUTH: &[&str] = &["result-shape", "save-truth"];
const ALL_THREE: &[&str] = &["result-shape", "advertised-schema", "save-truth"];

/// The keys of every run result, and what sees that one is missing or of another type.
const KEYS: &[(&str, &[&str])] = &[
    ("outcome", ALL_THREE),
    ("label", BOTH),
    ("safe_to_retry", BOTH),
    ("what_happened", BOTH),
    ("next_action", BOTH),
    ("next_step", BOTH),
    ("reason", BOTH),
    ("record_changed", ALL_THREE),
    ("proof", BOTH),
    ("run_id", ALL_THREE),
    ("request_id", BOTH),
    ("workflow", BOTH),
    ("mode", BOTH),
    ("contract_version", BOTH),
];

const REASONS: &[&str] = &[
    "unexpected_screen",
    "record_not_confirmed",
    "person_needed",
    "record_check_not_set_up",
    "stopped_for_review",
    "approval_needed",
    "waiting_for_approval",
    "save_not_confirmed",
    "not_checked",
    "change_reversed",
    "timed_out",
    "result_unreadable",
    "interrupted",
    "unknown_workflow",
    "workflow_unavailable",
    "runs_disabled",
    "policy_refused",
    "canceled",
    "platform_error",
    "app_unreachable",
    "stopped_by_person",
    "request_id_conflict",
    "retry_limit",
    "running",
];

pub fn mutants() -> Vec<Mutant> {
    let mut all = Vec::new();
    for (key, reds) in KEYS {
        all.push(on_done(format!("answer/without-{key}"), format!("a result has no {key}"), reds, |object| {
            drop(object.as_object_mut().and_then(|object| object.shift_remove(*key)));
        }));
        all.push(on_done(format!("answer/{key}-of-another-type"), format!("{key} is a list"), reds, |object| {
            object[*key] = json!([object[*key].clone()]);
        }));
    }
    for reason in REASONS {
        let said = format!("done with the reason {reason}");
        all.push(on_done(format!("answer/done-for-{reason}"), said, SHAPE, set("reason", json!(reason))));
    }
    for (outcome, reds) in [
        ("needs_review", SHAPE_AND_TRUTH),
        ("not_sure_if_saved", SHAPE_AND_TRUTH),
        ("did_not_run", SHAPE_AND_TRUTH),
        ("running", SHAPE_AND_TRUTH),
        ("finished", ALL_THREE),
    ] {
        let said = format!("a saved run's outcome is {outcome}");
        all.push(on_done(format!("answer/outcome-{outcome}"), said, reds, set("outcome", json!(outcome))));
    }
    for (changed, reds) in [("no", SHAPE_AND_TRUTH), ("unknown", SHAPE_AND_TRUTH), ("maybe", ALL_THREE)] {
        let said = format!("a saved run's record_changed is {changed}");
        all.push(on_done(format!("answer/changed-{changed}"), said, reds, set("record_changed", json!(changed))));
    }
    for step in ["wait_for_person", "check_record", "fix_inputs", "fix_setup", "retry", "call_get_run"] {
        let said = format!("after a save, the next step is {step}");
        all.push(on_done(format!("answer/next-{step}"), said, SHAPE, set("next_step", json!(step))));
    }
    let retry = "a saved run may be tried again";
    all.push(on_done("answer/saved-and-retryable", retry, SHAPE_AND_TRUTH, set("safe_to_retry", json!(true))));
    for (proof, reds) in [("none", SHAPE), ("simulated", SHAPE), ("assumed", BOTH)] {
        let said = format!("a save's proof is {proof}");
        all.push(on_done(format!("answer/proof-{proof}"), said, reds, set("proof", json!(proof))));
    }
    all.push(on_done("answer/mode-sandbox", "production is called the sandbox", SHAPE, set("mode", json!("sandbox"))));
    let version = "the contract's version is another one";
    all.push(on_done(
        "answer/another-contract",
        version,
        BOTH,
        set("contract_version", json!("openadapt.run-result/v2")),
    ));
    for (key, value) in [
        ("failed_checks", json!(["other"])),
        ("invalid_inputs", json!([{"input": "note", "problem": "x"}])),
        ("needs_attention_id", json!("0123456789abcdef01234567")),
        ("first_run_id", json!("run-0123456789abcdef01234567")),
        ("sandbox", json!({"case": "done", "engine": "driven"})),
        ("confidence", json!(0.9)),
    ] {
        let said = format!("a saved run's result has a key {key}");
        all.push(on_done(format!("answer/saved-with-{key}"), said, SHAPE, set(key, value)));
    }
    all.extend(around_the_object());
    all
}

/// What stands around the object.
fn around_the_object() -> Vec<Mutant> {
    vec![
        Mutant::new(
            "answer/text-says-otherwise",
            "the text is another object than the structured content",
            SHAPE,
            |green| {
                let answer = done(green)?.0.answer?;
                message(green, answer, |message| {
                    message["result"]["content"][0]["text"] = "{}".into();
                    Some(())
                })
            },
        ),
        Mutant::new("answer/text-is-prose", "the text is no JSON", SHAPE, |green| {
            let answer = done(green)?.0.answer?;
            message(green, answer, |message| {
                message["result"]["content"][0]["text"] = "All saved!".into();
                Some(())
            })
        }),
        Mutant::new("answer/no-text", "there is no text beside the structured content", SHAPE, |green| {
            let answer = done(green)?.0.answer?;
            message(green, answer, |message| {
                message["result"]["content"] = json!([]);
                Some(())
            })
        }),
        Mutant::new(
            "answer/no-result-type",
            "a result of the modern era doesn't say its type",
            &["modern-results"],
            |green| {
                let modern = green.servers.iter().all(|server| server.modern);
                let answer = first_answer(green).filter(|_| modern)?;
                message(green, answer, |message| {
                    message["result"].as_object_mut()?.shift_remove("resultType").map(drop)
                })
            },
        ),
    ]
}

fn set(key: &'static str, value: Value) -> impl Fn(&mut Value) + 'static {
    move |object| object[key] = value.clone()
}

/// Changes the only result of a run that saved.
fn on_done(
    id: impl Into<String>,
    said: impl Into<String>,
    reds: &'static [&'static str],
    how: impl Fn(&mut Value) + 'static,
) -> Mutant {
    Mutant::new(id, said, reds, move |green| {
        done(green)?;
        result(green, |_, object| word(object, "outcome") == "done", &how)
    })
}

/// The only run result of the evidence, where it says done of a run in production and its schema is listed.
fn done(green: &Evidence) -> Option<(&Exchange, Value)> {
    let mut results = run_results(green);
    let only = results
        .next()
        .filter(|(_, object)| word(object, "outcome") == "done" && word(object, "mode") == "production")?;
    (results.next().is_none() && is_advertised(green, only.0)).then_some(only)
}
