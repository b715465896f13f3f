//! Arguments that no tool may take: good ones with one thing wrong for certain, and sometimes more.

use serde_json::{Map, Value, json};

use crate::run::fuzz::{Dice, FOREIGN, odd};

/// A tool and the arguments that it would take.
fn good(dice: &mut Dice, number: u64) -> (&'static str, Map<String, Value>) {
    let digest = format!("sha256:{}", "0".repeat(64));
    let decision = |confirm: &str| json!({"attention_id": "0".repeat(24), "capability_digest": digest, "idempotency_key": "key-0123456789abcdef", confirm: true});
    let (tool, arguments) = match dice.below(14) {
        0..=4 => (
            "run_workflow",
            json!({"workflow": "triage", "request_id": format!("storm-{number}"), "inputs": {"note": "x"}, "wait_seconds": 5}),
        ),
        5 | 6 => ("get_run", json!({"run_id": "run-0123456789abcdef01234567", "wait_seconds": 0})),
        7 => ("get_workflow", json!({"workflow": "workflow_0123456789abcdef01234567"})),
        8 => ("get_run_report", json!({"run_id": "run-0123456789abcdef01234567"})),
        9 => ("get_attention_item", json!({"attention_id": "0".repeat(24)})),
        10 => ("continue_attention", decision("human_completed")),
        11 => ("reject_attention", decision("confirm_run_must_not_proceed")),
        12 => ("teach_attention", decision("request_demonstration")),
        _ => ("escalate_attention", decision("request_assistance")),
    };
    (tool, arguments.as_object().cloned().unwrap_or_default())
}

/// A tool's name and arguments that can't start anything.
pub fn fatal(dice: &mut Dice, number: u64) -> (&'static str, Value) {
    let (tool, mut arguments) = good(dice, number);
    let names: Vec<String> = arguments.keys().filter(|name| *name != "wait_seconds").cloned().collect();
    let name = dice.one_of(&names).cloned().unwrap_or_default();
    match dice.below(6) {
        0 => drop(arguments.remove(&name)),
        1 | 2 => drop(arguments.insert(name, of_a_wrong_type(dice))),
        3 => {
            let foreign = dice.one_of(FOREIGN).copied().filter(|key| !arguments.contains_key(*key));
            let value = odd(dice);
            arguments.insert(foreign.unwrap_or("one_more").to_owned(), value);
        }
        4 => drop(arguments.insert(name, out_of_shape(dice))),
        // Refusals of this kind leave a record each: there are few.
        _ if tool == "run_workflow" && dice.below(8) == 0 => one_of_the_recorded(&mut arguments, dice),
        _ => drop(arguments.insert("wait_seconds".to_owned(), wrong_seconds(dice))),
    }
    (tool, Value::Object(arguments))
}

fn of_a_wrong_type(dice: &mut Dice) -> Value {
    let values = [Value::Null, json!(7), json!(-1.5), json!([]), json!([{"note": "x"}]), json!([[[[]]]])];
    dice.one_of(&values).cloned().unwrap_or_default()
}

/// Texts that are no name, id, digest or key.
fn out_of_shape(dice: &mut Dice) -> Value {
    let values = [
        json!(""),
        json!(" "),
        json!("a b"),
        json!("../../etc/passwd"),
        json!("run-0123456789abcdef01234567\n"),
        json!("x".repeat(20_000)),
        json!("\u{0}\u{202e}"),
        json!("%00"),
        json!("\u{1f600}\u{1f600}\u{1f600}\u{1f600}"),
    ];
    dice.one_of(&values).cloned().unwrap_or_default()
}

fn wrong_seconds(dice: &mut Dice) -> Value {
    let values = [json!(-1), json!(601), json!(1.5), json!("5"), json!(u64::MAX), Value::Null, json!([5])];
    dice.one_of(&values).cloned().unwrap_or_default()
}

fn one_of_the_recorded(arguments: &mut Map<String, Value>, dice: &mut Dice) {
    let inputs = [json!({}), json!({"note": ["x"]}), json!({"note": "x", "undeclared": "y"})];
    match dice.below(3) {
        0 => arguments.insert("workflow".to_owned(), "no-such-workflow".into()),
        _ => arguments.insert("inputs".to_owned(), dice.one_of(&inputs).cloned().unwrap_or_default()),
    };
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_one_differs_from_what_its_tool_would_take() {
        let mut tools = BTreeSet::new();
        for number in 0..5_000 {
            let (tool, arguments) = fatal(&mut Dice::of(3, number), number);
            let (_, good) = good(&mut Dice::of(3, number), number);
            assert_ne!(arguments, Value::Object(good), "{tool} {number}");
            tools.insert(tool);
        }
        assert_eq!(tools.len(), 9);
    }
}
