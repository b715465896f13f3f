//! The made-up clinic as a second witness: its store against its own write journal, against the scenario, and against what was answered.

use std::collections::BTreeMap;

use serde_json::Value;

use super::verdict::{Check, Cite, Verdict};
use crate::evidence::Evidence;
use crate::scenario::model::ClinicFact;

pub const CLINIC: Check = Check {
    id: "clinic",
    sentence: "The clinic's store holds what its write journal says, and what the scenario says.",
    judge: clinic,
};

pub const CLINIC_TRUTH: Check = Check {
    id: "clinic-truth",
    sentence: "done is said only of a note that the clinic stored; no only of one that it never did.",
    judge: truth,
};

fn clinic(evidence: &Evidence, mut verdict: Verdict) -> Verdict {
    verdict.saw();
    if evidence.stopped.is_some() {
        return verdict;
    }
    let wanted = evidence.after.clinic.clone().unwrap_or_default();
    let Some(seen) = &evidence.clinic else {
        if wanted != ClinicFact::default() {
            verdict.fails("a clinic that answers at the end", "there is none", []);
        }
        return verdict;
    };
    match replayed(&seen.journal) {
        Some(rows) if rows == seen.records => {}
        rows => {
            let expected = format!("the store that the clinic's journal leads to: {}", listed(rows.as_deref()));
            verdict.fails(expected, listed(Some(&seen.records)), []);
        }
    }
    if let Some(rows) = &wanted.records {
        let same = rows.len() == seen.records.len()
            && rows.iter().zip(&seen.records).all(|(matcher, row)| matcher.matches(row));
        if !same {
            let written: Vec<Value> = rows.iter().map(|matcher| matcher.written().clone()).collect();
            verdict.fails(format!("the clinic holds {}", listed(Some(&written))), listed(Some(&seen.records)), []);
        }
    }
    if wanted.rejected.is_some_and(|rejected| rejected != seen.rejected) {
        let expected = format!("{} rejected writes", wanted.rejected.unwrap_or_default());
        verdict.fails(expected, format!("{} rejected writes", seen.rejected), []);
    }
    verdict
}

/// The rows that the journal leads to; none when a line of it can't be understood.
pub fn replayed(journal: &[Value]) -> Option<Vec<Value>> {
    let mut rows: Vec<Value> = Vec::new();
    for line in journal {
        match line.get("event")?.as_str()? {
            "started" | "reset" => rows = line.get("records")?.as_array()?.clone(),
            "stored" => {
                let removed = line.get("removed")?.as_array()?;
                rows.retain(|row| !row.get("id").is_some_and(|id| removed.contains(id)));
                let record = line.get("record")?;
                if !record.is_null() && !rows.contains(record) {
                    rows.push(record.clone());
                }
            }
            "deleted" => rows.retain(|row| row.get("id") != line.get("id")),
            _ => {}
        }
    }
    Some(rows)
}

fn truth(evidence: &Evidence, mut verdict: Verdict) -> Verdict {
    verdict.saw();
    let Some(seen) = &evidence.clinic else { return verdict };
    // A person's decision lets a run go on after its answer: what is stored then makes no lie of it.
    let decided = evidence.journal.iter().any(|line| line.event() == "decision")
        || evidence.files.iter().any(|file| DECIDED.iter().any(|name| file.path.ends_with(name)));
    let notes = notes(evidence);
    for (exchange, object) in evidence.tool_results() {
        let sent = exchange.arguments.pointer("/inputs/note").and_then(Value::as_str);
        let of_the_run = || notes.get(object.get("run_id")?.as_str()?).map(String::as_str);
        let Some(note) = sent.or_else(of_the_run) else { continue };
        let word = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default();
        if object.pointer("/sandbox/engine").and_then(Value::as_str) == Some("simulated") {
            continue;
        }
        let cites = || [Some(exchange.request), exchange.answer].into_iter().flatten().map(Cite::Frame);
        let stored = seen.journal.iter().filter_map(|line| line.get("record")).any(|row| holds(row, note));
        if word("outcome") == "done" && !stored {
            verdict.fails_at(exchange.step, "done only of a note that the clinic stored", "it never did", cites());
        }
        if word("record_changed") == "no" && stored && !decided {
            verdict.fails_at(exchange.step, "no only of a note that the clinic never stored", "it stored it", cites());
        }
    }
    verdict
}

/// What Flow leaves of a person's decision in a run folder.
const DECIDED: [&str; 2] = ["attended_decisions.json", "approval.json"];

/// The note that each run was started with.
fn notes(evidence: &Evidence) -> BTreeMap<String, String> {
    let started = evidence.tool_results().filter_map(|(exchange, object)| {
        let note = exchange.arguments.pointer("/inputs/note")?.as_str()?;
        Some((object.get("run_id")?.as_str()?.to_owned(), note.to_owned()))
    });
    started.collect()
}

/// A text area has one kind of line end.
fn holds(row: &Value, note: &str) -> bool {
    let lines = |text: &str| text.replace("\r\n", "\n").replace('\r', "\n");
    row.get("note").and_then(Value::as_str).is_some_and(|kept| lines(kept) == lines(note))
}

fn listed(rows: Option<&[Value]>) -> String {
    rows.map_or_else(|| "nothing that can be read".into(), |rows| Value::from(rows.to_vec()).to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::sample::{fails, holds as passes, saved, set_result};
    use super::*;
    use crate::check::matcher::Matcher;
    use crate::evidence::ClinicSeen;

    /// The saved run in a world whose clinic holds its note.
    fn witnessed() -> Evidence {
        let mut evidence = saved();
        let note = evidence.exchanges[2].arguments["inputs"]["note"].as_str().unwrap().to_owned();
        let row = json!({"id": 1, "note": note});
        let journal = vec![
            json!({"event": "started", "records": [], "rejected_writes": 0}),
            json!({"event": "attempt", "write": 1}),
            json!({"event": "stored", "write": 1, "record": row, "removed": []}),
        ];
        evidence.clinic = Some(ClinicSeen { records: vec![row], rejected: 0, journal });
        evidence
    }

    fn clinic_of(evidence: &mut Evidence) -> &mut ClinicSeen {
        evidence.clinic.as_mut().unwrap()
    }

    #[test]
    fn a_note_that_the_clinic_stored_may_be_called_done() {
        passes(&CLINIC, &witnessed());
        passes(&CLINIC_TRUTH, &witnessed());
    }

    #[test]
    fn a_done_of_a_note_that_was_never_stored_fails_whatever_the_stand_in_says() {
        let mut evidence = witnessed();
        clinic_of(&mut evidence).journal[2]["record"]["note"] = json!("");
        fails(&CLINIC_TRUTH, &evidence);
    }

    #[test]
    fn a_run_that_is_looked_at_again_is_held_to_the_note_that_it_was_started_with() {
        let mut evidence = witnessed();
        let mut again = evidence.exchanges[2].clone();
        again.arguments = json!({"run_id": "x"});
        evidence.exchanges.push(again);
        passes(&CLINIC_TRUTH, &evidence);
        clinic_of(&mut evidence).journal[2]["record"]["note"] = json!("");
        assert_eq!(fails(&CLINIC_TRUTH, &evidence).len(), 2);
    }

    #[test]
    fn a_no_of_a_note_that_was_stored_fails_even_if_it_is_gone_again() {
        let mut evidence = witnessed();
        set_result(&mut evidence, "outcome", json!("did_not_run"));
        set_result(&mut evidence, "record_changed", json!("no"));
        clinic_of(&mut evidence).records.clear();
        fails(&CLINIC_TRUTH, &evidence);
    }

    #[test]
    fn a_store_that_is_not_what_its_journal_says_fails() {
        for change in [json!([]), json!([{"id": 1, "note": "x"}, {"id": 2, "note": "y"}])] {
            let mut evidence = witnessed();
            clinic_of(&mut evidence).records = change.as_array().unwrap().clone();
            fails(&CLINIC, &evidence);
        }
        let mut evidence = witnessed();
        clinic_of(&mut evidence).journal.push(json!({"event": "deleted", "id": 1, "found": true}));
        fails(&CLINIC, &evidence);
    }

    #[test]
    fn a_store_that_is_not_what_the_scenario_says_fails() {
        let row = |note: Value| vec![Matcher::parse(json!({"note": note})).unwrap()];
        for (records, rejected) in [(Some(row(json!("else"))), None), (Some(Vec::new()), None), (None, Some(1))] {
            let mut evidence = witnessed();
            evidence.after.clinic = Some(ClinicFact { records, rejected });
            fails(&CLINIC, &evidence);
        }
        let mut evidence = witnessed();
        evidence.after.clinic = Some(ClinicFact { records: Some(row(json!({"type": "string"}))), rejected: Some(0) });
        passes(&CLINIC, &evidence);
        evidence.clinic = None;
        fails(&CLINIC, &evidence);
    }
}
