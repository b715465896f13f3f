//! A whole result that the contract allows, said of a run that went otherwise.

use serde_json::{Value, json};

use crate::evidence::Evidence;
use crate::power::change::{result, run_results, word};
use crate::power::mutant::Mutant;

const TRUTH: &[&str] = &["save-truth"];

/// A reason, its outcome, whether to try again, whether something changed, and the next step.
pub type Row = (&'static str, &'static str, bool, &'static str, &'static str);

const ROWS: &[Row] = &[
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
    ("workflow_unavailable", "did_not_run", true, "no", "fix_setup"),
    ("runs_disabled", "did_not_run", true, "no", "fix_setup"),
    ("policy_refused", "did_not_run", true, "no", "fix_setup"),
    ("canceled", "did_not_run", true, "no", "retry"),
    ("platform_error", "did_not_run", true, "no", "retry"),
    ("app_unreachable", "did_not_run", true, "no", "retry"),
    ("stopped_by_person", "did_not_run", false, "no", "none"),
    ("retry_limit", "did_not_run", false, "no", "fix_setup"),
    ("running", "running", false, "unknown", "call_get_run"),
];

pub fn mutants() -> Vec<Mutant> {
    let mut all = vec![done_without_a_save()];
    for row in ROWS.iter().filter(|row| row.1 != "done") {
        let (reason, changed) = (row.0, row.3);
        let said = format!("a save that was made and checked is told as {reason}");
        let id = format!("lie/{reason}-of-a-save");
        let lie = move |green: &Evidence| {
            only(green).filter(|object| word(object, "outcome") == "done" && saves(green) == 1)?;
            result(green, |_, _| true, |object| tell(object, row))
        };
        all.push(if changed == "no" { Mutant::new(id, said, TRUTH, lie) } else { Mutant::stated_only(id, said, lie) });
    }
    for row in ROWS.iter().filter(|row| row.3 == "no") {
        let said = format!("a run that may have saved, and did, is told as {}", row.0);
        all.push(Mutant::new(format!("lie/{}-in-doubt", row.0), said, TRUTH, move |green| {
            only(green).filter(|object| word(object, "outcome") == "not_sure_if_saved" && saves(green) == 1)?;
            result(green, |_, _| true, |object| tell(object, row))
        }));
    }
    for row in ROWS.iter().filter(|row| {
        !matches!(row.0, "saved_and_checked" | "running" | "waiting_for_approval" | "workflow_unavailable")
    }) {
        let actual = row.0;
        let said = format!("done is said where {actual} is true, and nothing was saved");
        all.push(Mutant::new(format!("lie/done-instead-of-{actual}"), said, TRUTH, move |green| {
            only(green).filter(|object| word(object, "reason") == actual && saves(green) == 0)?;
            result(green, |_, _| true, |object| tell(object, &ROWS[0]))
        }));
    }
    all
}

/// The lie that everything here is about.
pub fn done_without_a_save() -> Mutant {
    Mutant::new("lie/done-without-a-save", "done is said of a save that never was", TRUTH, |green| {
        only(green).filter(|object| word(object, "outcome") != "done" && saves(green) == 0)?;
        result(green, |_, _| true, |object| tell(object, &ROWS[0]))
    })
}

/// The only run result, where it isn't one of a sandbox.
fn only(green: &Evidence) -> Option<Value> {
    let mut results = run_results(green);
    let (_, only) = results.next().filter(|(_, object)| word(object, "mode") != "sandbox")?;
    results.next().is_none().then_some(only)
}

fn saves(green: &Evidence) -> usize {
    green.journal.iter().filter(|line| line.is_effect()).count()
}

/// The row of a reason.
pub fn row(reason: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.0 == reason)
}

/// Makes the object say what the row says, and nothing that doesn't belong to it.
pub fn tell(object: &mut Value, (reason, outcome, retry, changed, next): &Row) {
    if object["run_id"].is_null() {
        object["run_id"] = json!("run-0123456789abcdef01234567");
    }
    for (key, value) in [
        ("reason", json!(reason)),
        ("outcome", json!(outcome)),
        ("safe_to_retry", json!(retry)),
        ("record_changed", json!(changed)),
        ("next_step", json!(next)),
        ("proof", json!(if *outcome == "done" { "local" } else { "none" })),
    ] {
        object[key] = value;
    }
    if let Some(object) = object.as_object_mut() {
        for key in ["failed_checks", "invalid_inputs", "needs_attention_id", "first_run_id", "technical"] {
            object.shift_remove(key);
        }
        if object["workflow"].is_null() {
            object.insert("workflow".to_owned(), "triage".into());
        }
    }
}
