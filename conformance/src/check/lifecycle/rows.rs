//! What binds the rows of an action together, and which words may stand together in one.

use serde_json::Value;

use super::super::verdict::{Check, Verdict};
use super::{is_imported, rows, text};
use crate::evidence::Evidence;

pub const BINDING: Check = Check {
    id: "action-binding",
    sentence: "Action, run, call, policy version and digest stand on every receipt and question of an action, unchanged.",
    judge: binding,
};

pub const TRIPLES: Check = Check {
    id: "legal-triples",
    sentence: "Permission, execution and delivery stand together only as the table has it, and nothing that was denied was dispatched.",
    judge: triples,
};

fn binding(evidence: &Evidence, mut verdict: Verdict) -> Verdict {
    let Some(tables) = rows(evidence) else { return verdict };
    for (table, row) in
        tables.receipts.iter().map(|row| ("receipt", row)).chain(tables.waits.iter().map(|row| ("wait", row)))
    {
        verdict.saw();
        let id = text(row, "action_id").unwrap_or_default();
        let Some(action) = tables.actions.iter().find(|action| text(action, "action_id") == Some(id)) else {
            verdict.fails("an action of every row", format!("a {table} of {id}, which isn't there"), []);
            continue;
        };
        for key in ["execution_id", "call_id", "policy_version", "args_digest"] {
            let held = row.get(key).is_none_or(|value| Some(value) == action.get(key) && !value.is_null());
            if !held {
                verdict.fails(format!("{key} as the action has it"), format!("another one on a {table} of {id}"), []);
            }
        }
    }
    for action in tables.actions.iter().filter(|action| !is_imported(action)) {
        verdict.saw();
        for key in ["action_id", "execution_id", "call_id", "policy_version", "args_digest"] {
            if action.get(key).is_none_or(Value::is_null) {
                verdict.fails(format!("{key} on every action"), "it is missing".to_owned(), []);
            }
        }
    }
    verdict
}

fn triples(evidence: &Evidence, mut verdict: Verdict) -> Verdict {
    let Some(tables) = rows(evidence) else { return verdict };
    for action in &tables.actions {
        verdict.saw();
        let word = |key| text(action, key).unwrap_or("-");
        let triple = (word("permission"), word("execution"), word("delivery"));
        if !is_legal(triple) {
            verdict.fails("a legal triple", format!("{triple:?} of {}", word("action_id")), []);
        }
        if triple.0 == "deny" && (text(action, "dispatched_at").is_some() || started(tables, word("action_id"))) {
            verdict.fails("no dispatch of what was denied", format!("{} was dispatched", word("action_id")), []);
        }
    }
    for receipt in &tables.receipts {
        verdict.saw();
        let word = |key| text(receipt, key).unwrap_or("-");
        let started = receipt.get("executor_started").and_then(Value::as_i64) == Some(1);
        let agrees = (word("execution") == "succeeded") == (word("outcome") == "done")
            && (word("execution") == "unknown") == (word("outcome") == "not_sure_if_saved")
            && (word("execution") == "not_started") != started
            && (word("execution") != "succeeded" || word("executor_end") == "completed");
        let imported = tables
            .actions
            .iter()
            .any(|action| action.get("action_id") == receipt.get("action_id") && is_imported(action));
        if !agrees && !imported {
            let told = format!(
                "{} {} {}, started: {started}, {}",
                word("outcome"),
                word("reason"),
                word("execution"),
                word("executor_end")
            );
            verdict.fails("a receipt that agrees with itself", told, []);
        }
    }
    verdict
}

/// An executor that changes something; asking a reviewer or a person starts nothing.
fn started(tables: &crate::evidence::actions::Tables, action: &str) -> bool {
    let acts = |row: &Value| matches!(text(row, "executor"), Some("flow" | "bridge"));
    tables.executor_requests.iter().any(|row| text(row, "action_id") == Some(action) && acts(row))
}

/// Source: lifecycle, *Legal triples*.
fn is_legal(triple: (&str, &str, &str)) -> bool {
    matches!(
        triple,
        ("-" | "ask" | "allow", "-", "pending")
            | ("-" | "deny", "not_started", "recorded" | "projected")
            | ("allow", "not_started" | "succeeded" | "failed" | "unknown", "recorded" | "projected")
    )
}

#[cfg(test)]
mod tests {
    use super::super::super::sample::{fails, holds};
    use super::super::sample::{change, with_store};
    use super::*;

    #[test]
    fn a_good_store_holds() {
        holds(&BINDING, &with_store());
        holds(&TRIPLES, &with_store());
    }

    #[test]
    fn a_row_that_is_bound_to_something_else_fails() {
        for key in ["execution_id", "call_id", "policy_version", "args_digest", "action_id"] {
            fails(&BINDING, &change(|tables| tables.receipts[0][key] = "other".into()));
            fails(&BINDING, &change(|tables| tables.actions[0][key] = Value::Null));
        }
    }

    #[test]
    fn words_that_may_not_stand_together_fail() {
        fails(&TRIPLES, &change(|tables| tables.actions[0]["permission"] = "deny".into()));
        fails(&TRIPLES, &change(|tables| tables.actions[0]["delivery"] = "pending".into()));
        fails(&TRIPLES, &change(|tables| tables.receipts[0]["executor_end"] = "incomplete".into()));
        fails(&TRIPLES, &change(|tables| tables.receipts[0]["execution"] = "unknown".into()));
        fails(&TRIPLES, &change(|tables| tables.receipts[0]["executor_started"] = 0.into()));
    }
}
