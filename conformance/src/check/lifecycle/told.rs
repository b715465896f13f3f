//! The wire, the stored record and an operator's commands say the same of a run, and say what its receipts say.

use serde_json::Value;

use super::super::verdict::{Check, Cite, Verdict};
use super::{is_imported, rows, text};
use crate::evidence::actions::Tables;
use crate::evidence::{Evidence, Exchange};
use crate::scenario::Action;

pub const RECEIPTS: Check = Check {
    id: "told-as-sealed",
    sentence: "A result on the wire is one that a receipt seals, with its permission, execution and policy version; its event says the same.",
    judge: receipts,
};

pub const ALIKE: Check = Check {
    id: "told-alike",
    sentence: "A caller, the record's file and an operator are told the same reason, and the same that can be done now.",
    judge: alike,
};

/// What is said of a run without a receipt of its own: that it can't be believed, or not any more.
const IN_DOUBT: &[&str] = &["save_not_confirmed", "result_unreadable"];
const SAME: &[&str] = &["outcome", "reason", "safe_to_retry", "record_changed", "next_step", "next_action"];

fn receipts(evidence: &Evidence, mut verdict: Verdict) -> Verdict {
    let Some(tables) = rows(evidence) else { return verdict };
    for (exchange, result) in told(evidence) {
        let (Some(run), Some(reason)) = (text(&result, "run_id"), text(&result, "reason")) else { continue };
        let sealed: Vec<&Value> = of_run(tables, run).collect();
        let Some(receipt) = sealed.iter().find(|receipt| text(receipt, "reason") == Some(reason)) else {
            verdict.saw();
            if !IN_DOUBT.contains(&reason) {
                verdict.fails(
                    "a receipt for what is told",
                    format!("none says {reason} of {run}"),
                    exchange.answer.map(Cite::Frame),
                );
            }
            continue;
        };
        verdict.saw();
        for key in ["permission", "execution", "policy_version"] {
            let told = result.pointer(&format!("/technical/lifecycle/{key}")).unwrap_or(&Value::Null);
            if result.get("reason").is_some() && told != receipt.get(key).unwrap_or(&Value::Null) {
                let expected = format!("{key} as the receipt has it: {}", receipt.get(key).unwrap_or(&Value::Null));
                verdict.fails(expected, told.to_string(), exchange.answer.map(Cite::Frame));
            }
        }
    }
    for receipt in &tables.receipts {
        verdict.saw();
        let said = tables.events.iter().any(|event| {
            text(event, "event") == Some("receipt.recorded")
                && ["action_id", "revision", "execution", "reason", "code"]
                    .iter()
                    .all(|key| event.get(*key) == receipt.get(*key))
        });
        if !said {
            verdict.fails(
                "an event that says what the receipt says",
                format!("none for {}", text(receipt, "action_id").unwrap_or_default()),
                [],
            );
        }
    }
    verdict
}

fn alike(evidence: &Evidence, mut verdict: Verdict) -> Verdict {
    let Some(tables) = rows(evidence) else { return verdict };
    for saw in evidence
        .operator
        .iter()
        .filter(|saw| saw.words.first().is_some_and(|word| word == "runs") && saw.words.len() > 2)
    {
        let (Some(run), Ok(shown)) = (&saw.run, serde_json::from_str::<Value>(&saw.stdout)) else { continue };
        let Some(reason) = text(&shown, "reason") else { continue };
        let newest = of_run(tables, run).last();
        verdict.saw();
        if newest.is_some_and(|receipt| text(receipt, "reason") != Some(reason)) {
            verdict.fails("an operator who is told the newest receipt", format!("{run}: {reason}"), []);
        }
        if let Some(result) = told(evidence)
            .into_iter()
            .map(|(_, result)| result)
            .rfind(|result| text(result, "run_id") == Some(run) && text(result, "reason") == Some(reason))
        {
            differs(&mut verdict, run, "an operator", &result, &shown);
        }
        // What an older agent wrote stays as it is, sentences and all.
        let imported =
            tables.actions.iter().any(|action| text(action, "execution_id") == Some(run) && is_imported(action));
        if imported {
            continue;
        }
        let record = evidence.files.iter().find(|file| {
            file.path.ends_with(format!("openadapt-agent/runs/{run}.json"))
                && !is_edited(evidence, &file.path.to_string_lossy())
        });
        if let Some(stored) = record
            .and_then(|file| file.json())
            .and_then(|record| record.get("result").cloned())
            .filter(Value::is_object)
        {
            differs(&mut verdict, run, "its record", &stored, &shown);
        }
    }
    verdict
}

fn differs(verdict: &mut Verdict, run: &str, who: &str, told: &Value, shown: &Value) {
    for key in SAME.iter().filter(|key| told.get(**key).is_some() || shown.get(**key).is_some()) {
        if told.get(*key) != shown.get(*key) {
            let actual =
                format!("{} and {}", told.get(*key).unwrap_or(&Value::Null), shown.get(*key).unwrap_or(&Value::Null));
            verdict.fails(format!("{key} of {run} is the same to {who}"), actual, []);
        }
    }
}

fn of_run<'t>(tables: &'t Tables, run: &'t str) -> impl Iterator<Item = &'t Value> {
    tables.receipts.iter().filter(move |receipt| text(receipt, "execution_id") == Some(run))
}

/// Results of runs that are over.
fn told(evidence: &Evidence) -> Vec<(&Exchange, Value)> {
    let results = evidence.tool_results().filter(|(exchange, result)| {
        matches!(exchange.tool.as_deref(), Some("run_workflow" | "get_run"))
            && text(result, "outcome").is_some_and(|outcome| outcome != "running")
            // Derived while the run goes on, and never sealed.
            && text(result, "reason") != Some("waiting_for_approval")
    });
    results.collect()
}

fn is_edited(evidence: &Evidence, path: &str) -> bool {
    evidence.steps.iter().any(|step| matches!(&step.action, Action::Edit(edit) if edit.edit == path))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::super::sample::{RUN, fails, holds, is_silent, saved, set_result};
    use super::super::sample::{change, with_store};
    use super::*;
    use crate::evidence::{Exit, OperatorSaw};

    fn sealed() -> Evidence {
        let mut evidence = with_store();
        let lifecycle = json!({"permission": "allow", "execution": "succeeded", "policy_version": 1});
        set_result(&mut evidence, "technical", json!({"lifecycle": lifecycle}));
        evidence
    }

    fn operator(evidence: &mut Evidence, next_step: &str) {
        let shown = json!({"outcome": "done", "reason": "saved_and_checked", "safe_to_retry": false, "record_changed": "yes",
            "next_step": next_step, "next_action": "Nothing more."});
        evidence.operator.push(OperatorSaw {
            words: ["runs", "show", RUN, "--json"].map(str::to_owned).to_vec(),
            run: Some(RUN.to_owned()),
            exit: Exit::Code(0),
            stdout: shown.to_string(),
            stderr: String::new(),
        });
    }

    #[test]
    fn what_is_sealed_and_told_alike_holds() {
        let mut evidence = sealed();
        operator(&mut evidence, "none");
        holds(&RECEIPTS, &evidence);
        holds(&ALIKE, &evidence);
        is_silent(&ALIKE, &saved());
    }

    #[test]
    fn a_result_that_no_receipt_seals_or_that_says_more_fails() {
        let mut other = sealed();
        set_result(&mut other, "reason", json!("platform_error"));
        fails(&RECEIPTS, &other);
        let mut more = sealed();
        set_result(
            &mut more,
            "technical",
            json!({"lifecycle": {"permission": "allow", "execution": "failed", "policy_version": 1}}),
        );
        fails(&RECEIPTS, &more);
        fails(&RECEIPTS, &change(|tables| tables.events[7]["execution"] = "failed".into()));
    }

    #[test]
    fn an_operator_who_is_told_something_else_fails() {
        let mut evidence = sealed();
        operator(&mut evidence, "call_get_run");
        assert_eq!(fails(&ALIKE, &evidence).len(), 1);
    }
}
