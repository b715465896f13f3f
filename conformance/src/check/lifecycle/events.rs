//! Events come in the order of the grammar, and every request to an executor begins and ends once.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::super::verdict::{Check, Verdict};
use super::{rows, text};
use crate::evidence::Evidence;

pub const GRAMMAR: Check = Check {
    id: "event-grammar",
    sentence: "The events of an action come without a gap, in the order of the grammar.",
    judge: grammar,
};

pub const BALANCED: Check = Check {
    id: "executor-requests",
    sentence: "Each request to an executor has an id of its own, begins once, and has ended once when its action has.",
    judge: balanced,
};

/// A letter for each event. Source: lifecycle, *The one entry*, the grammar, with what recovery adds.
const LETTERS: &[(&str, char)] = &[
    ("action.imported", 'I'),
    ("action.prepared", 'P'),
    ("review.completed", 'V'),
    ("review.unavailable", 'U'),
    ("permission.decided", 'D'),
    ("wait.opened", 'O'),
    ("wait.resolved", 'W'),
    ("wait.declined", 'N'),
    ("wait.expired", 'X'),
    ("action.reserved", 'S'),
    ("action.dispatched", 'T'),
    ("action.claimed", 'C'),
    ("action.revoked", 'K'),
    ("action.taken_over", 'G'),
    ("receipt.recorded", 'L'),
    ("checkpoint.committed", 'H'),
    ("checkpoint.failed", 'h'),
    ("projection.completed", 'J'),
    ("projection.failed", 'j'),
];

/// Before its receipt an action may stop anywhere; each receipt is followed by its own checkpoint and copies.
const ORDER: &str =
    r"^(?:ILj*J?|P(?:r(?:R[VU])?)?D?(?:OeG?(?:E[WNX])?)?G?S?(?:T(?:Cf|K)?)?D?[REF]?)(?:G?Lh*(?:Hj*J?)?)*$";

static GRAMMAR_OF_EVENTS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(ORDER).ok());

fn grammar(evidence: &Evidence, mut verdict: Verdict) -> Verdict {
    let (Some(tables), Some(order)) = (rows(evidence), GRAMMAR_OF_EVENTS.as_ref()) else { return verdict };
    for (action, events) in by_action(&tables.events) {
        verdict.saw();
        let contiguous =
            events.iter().zip(1..).all(|(event, place)| event.get("seq").and_then(Value::as_i64) == Some(place));
        if !contiguous {
            verdict.fails("events without a gap", format!("there is one in those of {action}"), []);
        }
        let word: String = events.iter().map(|event| letter(event)).collect();
        if !order.is_match(&word) {
            let told: Vec<&str> = events.iter().filter_map(|event| text(event, "event")).collect();
            verdict.fails("events in the order of the grammar", format!("{action}: {}", told.join(" ")), []);
        }
    }
    for action in &tables.actions {
        verdict.saw();
        let id = text(action, "action_id").unwrap_or_default();
        if !tables.events.iter().any(|event| text(event, "action_id") == Some(id)) {
            verdict.fails("events of every action", format!("{id} has none"), []);
        }
    }
    verdict
}

fn balanced(evidence: &Evidence, mut verdict: Verdict) -> Verdict {
    let Some(tables) = rows(evidence) else { return verdict };
    let mut seen: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    for event in &tables.events {
        let place = match text(event, "event") {
            Some("executor.started") => 0,
            Some("executor.completed") => 1,
            _ => continue,
        };
        seen.entry(text(event, "request").unwrap_or_default()).or_default()[place] += 1;
    }
    for (request, [started, completed]) in &seen {
        verdict.saw();
        let action = tables.executor_requests.iter().find(|row| text(row, "request_id") == Some(request));
        let over = action
            .and_then(|row| text(row, "action_id"))
            .is_some_and(|id| tables.receipts.iter().any(|receipt| text(receipt, "action_id") == Some(id)));
        let good = *started == 1 && (*completed == 1 || *completed == 0 && !over);
        if action.is_none() || !good {
            let told = format!("{request:?} begins {started} times and ends {completed} times");
            verdict.fails("one beginning and one end of a request to an executor", told, []);
        }
    }
    for row in &tables.executor_requests {
        verdict.saw();
        let id = text(row, "request_id").unwrap_or_default();
        let open = row.get("status").is_none_or(Value::is_null);
        let ended = seen.get(id).is_some_and(|[_, completed]| *completed == 1);
        if !seen.contains_key(id) || open == ended {
            verdict.fails("an event for what became of each request", format!("{id} has no such one"), []);
        }
    }
    verdict
}

fn by_action(events: &[Value]) -> BTreeMap<&str, Vec<&Value>> {
    let mut found: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for event in events {
        found.entry(text(event, "action_id").unwrap_or_default()).or_default().push(event);
    }
    found
}

/// An unknown event is no letter of the grammar.
fn letter(event: &Value) -> char {
    match (text(event, "event").unwrap_or_default(), text(event, "executor")) {
        ("executor.started", Some("reviewer")) => 'r',
        ("executor.completed", Some("reviewer")) => 'R',
        ("executor.started", Some("elicitation")) => 'e',
        ("executor.completed", Some("elicitation")) => 'E',
        ("executor.started", _) => 'f',
        ("executor.completed", _) => 'F',
        (event, _) => LETTERS.iter().find(|(name, _)| *name == event).map_or('?', |(_, letter)| *letter),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::sample::{fails, holds, is_silent, saved};
    use super::super::sample::{change, with_store};
    use super::*;

    #[test]
    fn a_run_from_its_preparation_to_its_copies_holds() {
        holds(&GRAMMAR, &with_store());
        holds(&BALANCED, &with_store());
        is_silent(&GRAMMAR, &saved());
    }

    #[test]
    fn a_step_out_of_order_a_gap_and_an_unknown_word_fail() {
        for word in ["action.claimed", "review.completed", "something.else"] {
            fails(&GRAMMAR, &change(|tables| tables.events[2]["event"] = word.into()));
        }
        fails(&GRAMMAR, &change(|tables| tables.events[1]["seq"] = 7.into()));
        fails(&GRAMMAR, &change(|tables| tables.events.swap(4, 5)));
        fails(&GRAMMAR, &change(|tables| tables.events.clear()));
    }

    #[test]
    fn a_request_that_never_ends_ends_twice_or_isnt_told_of_fails() {
        let is = |name: &'static str| move |event: &Value| text(event, "event") != Some(name);
        fails(&BALANCED, &change(|tables| tables.events.retain(is("executor.completed"))));
        fails(&BALANCED, &change(|tables| tables.events.retain(is("executor.started"))));
        fails(&BALANCED, &change(|tables| tables.executor_requests.clear()));
        fails(&BALANCED, &change(|tables| tables.events.push(tables.events[6].clone())));
    }

    #[test]
    fn what_recovery_adds_is_part_of_the_grammar() {
        let order = Regex::new(ORDER).unwrap();
        for word in [
            "IL",
            "ILJ",
            "PDSTCfFLHJ",
            "PDSTCfFGLhHjJ",
            "PDSTKGLHJ",
            "PDGLHJ",
            "PrRVDSTCf",
            "PrRUDLHJ",
            "PDOeEWTCfFLHJ",
            "PrRVDOeENDLHJ",
            "PrRVDOeGEWSTCfFLHJLHJ",
            "PrDRGLHJ",
        ] {
            assert!(order.is_match(word), "{word}");
        }
        for word in ["", "I", "DP", "PDSCTfFL", "PDSTfFLHJ", "PDSTCFfLHJ", "PDLJH", "PDSTCfFHJ", "PDLHJS"] {
            assert!(!order.is_match(word), "{word}");
        }
    }
}
