//! What a scenario says about the end: `[after]`.

use serde_json::Value;

use super::matcher::Matcher;
use super::verdict::{Check, Cite, Verdict};
use crate::evidence::files::SeenFile;
use crate::evidence::ledger::SeenLedger;
use crate::evidence::{Evidence, JournalLine};
use crate::scenario::files::{FileFact, FileKind};

pub const AFTER: Check = Check {
    id: "after",
    sentence: "What the scenario says about the end is true: launches, effects, journal, ledger, records, files, stderr.",
    judge: after,
};

fn after(evidence: &Evidence, mut verdict: Verdict) -> Verdict {
    verdict.saw();
    if evidence.stopped.is_some() {
        // Half a scenario leaves half a world: only the stop says something.
        return verdict;
    }
    let wanted = &evidence.after;
    count(&mut verdict, evidence, wanted.launches, "starts of Flow", JournalLine::is_launch);
    count(&mut verdict, evidence, wanted.effects, "saves", JournalLine::is_effect);
    for matcher in &wanted.journal {
        if !evidence.journal.iter().any(|line| matcher.matches(&line.0)) {
            let lines = (0..evidence.journal.len()).map(Cite::Journal);
            verdict.fails(format!("a journal line like {}", matcher.written()), nearest(evidence, matcher), lines);
        }
    }
    for matcher in &wanted.journal_absent {
        if let Some(at) = evidence.journal.iter().position(|line| matcher.matches(&line.0)) {
            verdict.fails(format!("no journal line like {}", matcher.written()), "there is one", [Cite::Journal(at)]);
        }
    }
    if let Some(rows) = &wanted.ledger {
        ledger(&mut verdict, evidence, rows);
    }
    if let Some(records) = wanted.records {
        let found: Vec<&SeenFile> = evidence.files.iter().filter(|file| is_record(file)).collect();
        if found.len() != records {
            let cites = found.iter().map(|file| Cite::File(file.path.clone()));
            verdict.fails(format!("{records} records"), format!("{} records", found.len()), cites);
        }
    }
    for fact in &wanted.files {
        if let Some((expected, actual)) =
            file_problem(fact, evidence.files.iter().find(|file| file.path.as_os_str() == fact.path.as_str()))
        {
            verdict.fails(expected, actual, [Cite::File(fact.path.clone().into())]);
        }
    }
    if let Some(matcher) = &wanted.stderr {
        let all: String = evidence.servers.iter().map(|server| server.stderr.as_str()).collect();
        if let Some(mismatch) = matcher.mismatch(&Value::from(all)) {
            let cites = evidence.servers.iter().map(|server| Cite::Server(server.name.clone()));
            verdict.fails(format!("stderr: {}", mismatch.expected), mismatch.actual, cites);
        }
    }
    verdict
}

/// The first thing about a path that isn't as it should be: what was expected, and what is.
pub fn file_problem(fact: &FileFact, seen: Option<&SeenFile>) -> Option<(String, String)> {
    let there = seen.filter(|file| file.kind.is_some());
    let path = &fact.path;
    let Some(file) = there else {
        return (fact.exists != Some(false)).then(|| (format!("{path} is there"), "nothing is".into()));
    };
    if fact.exists == Some(false) {
        return Some((format!("nothing at {path}"), "something is there".into()));
    }
    if fact.kind.is_some() && fact.kind != file.kind {
        return Some((format!("{path}: {:?}", fact.kind), format!("{:?}", file.kind)));
    }
    if let Some(mode) = &fact.mode
        && u32::from_str_radix(mode, 8) != Ok(file.mode)
    {
        return Some((format!("{path}: mode {mode}"), format!("mode {:04o}", file.mode)));
    }
    if let Some(matcher) = &fact.text
        && let Some(mismatch) = matcher.mismatch(&Value::from(file.text.clone()))
    {
        return Some((format!("{path}: {}", mismatch.expected), mismatch.actual));
    }
    if fact.expect.is_none() && fact.absent.is_empty() {
        return None;
    }
    let Some(json) = file.json() else { return Some((format!("{path} holds JSON"), "it doesn't".into())) };
    if let Some(mismatch) = fact.expect.as_ref().and_then(|matcher| matcher.mismatch(&json)) {
        return Some((format!("{path} {}: {}", mismatch.at, mismatch.expected), mismatch.actual));
    }
    let present = fact.absent.iter().find(|key| at(&json, key).is_some())?;
    Some((format!("{path}: no {present}"), "it is there".into()))
}

/// A key, or a JSON pointer.
pub fn at<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    if key.starts_with('/') { value.pointer(key) } else { value.get(key) }
}

fn count(verdict: &mut Verdict, evidence: &Evidence, wanted: Option<usize>, what: &str, is: fn(&JournalLine) -> bool) {
    let Some(wanted) = wanted else { return };
    let found: Vec<usize> =
        evidence.journal.iter().enumerate().filter(|(_, line)| is(line)).map(|(at, _)| at).collect();
    if found.len() != wanted {
        let cites = found.iter().copied().map(Cite::Journal);
        verdict.fails(format!("{wanted} {what}"), format!("{} {what}", found.len()), cites);
    }
}

fn nearest(evidence: &Evidence, matcher: &Matcher) -> String {
    let event = matcher.written().get("event");
    let same = evidence.journal.iter().filter(|line| event.is_none_or(|event| line.0.get("event") == Some(event)));
    let mismatch = same.filter_map(|line| matcher.mismatch(&line.0)).next();
    mismatch.map_or_else(|| "no such event".into(), |mismatch| format!("{} is {}", mismatch.at, mismatch.actual))
}

fn ledger(verdict: &mut Verdict, evidence: &Evidence, rows: &[Matcher]) {
    let found: Vec<Value> = match &evidence.ledger {
        SeenLedger::Absent if rows.is_empty() => return,
        SeenLedger::Rows(found) => found.iter().map(|row| row.as_json()).collect(),
        other => return verdict.fails(format!("{} ledger rows", rows.len()), format!("{other:?}"), []),
    };
    let written = Value::Array(rows.iter().map(|row| row.written().clone()).collect());
    let unordered = Matcher::parse(serde_json::json!({"unordered": written}));
    if let Ok(matcher) = unordered
        && !matcher.matches(&Value::Array(found.clone()))
    {
        verdict.fails(format!("the ledger's rows: {written}"), Value::Array(found).to_string(), []);
    }
}

fn is_record(file: &SeenFile) -> bool {
    let parent = file.path.parent();
    file.kind == Some(FileKind::File)
        && parent.is_some_and(|parent| parent.ends_with("openadapt-agent/runs"))
        && file.path.extension().is_some_and(|extension| extension == "json")
}

#[cfg(test)]
mod tests {
    use super::super::sample::{fails, file, holds, saved};
    use super::*;
    use serde_json::json;

    fn matcher(value: Value) -> Matcher {
        Matcher::parse(value).unwrap()
    }

    #[test]
    fn true_statements_hold() {
        let mut evidence = saved();
        evidence.after.launches = Some(1);
        evidence.after.effects = Some(1);
        evidence.after.journal = vec![matcher(json!({"event": "launch", "params_mode": "0600"}))];
        evidence.after.journal_absent = vec![matcher(json!({"event": "killing"}))];
        evidence.after.ledger = Some(vec![matcher(json!({"outcome": "VERIFIED"}))]);
        evidence.after.records = Some(1);
        evidence.after.stderr = Some(matcher(json!({"not": {"contains": "panicked"}})));
        holds(&AFTER, &evidence);
    }

    #[test]
    fn each_false_statement_fails() {
        let changes: [fn(&mut Evidence); 8] = [
            |evidence| evidence.after.launches = Some(2),
            |evidence| evidence.after.effects = Some(0),
            |evidence| evidence.after.journal = vec![matcher(json!({"event": "launch", "params_mode": "0644"}))],
            |evidence| evidence.after.journal_absent = vec![matcher(json!({"event": "effect"}))],
            |evidence| evidence.after.ledger = Some(Vec::new()),
            |evidence| evidence.after.records = Some(2),
            |evidence| evidence.after.stderr = Some(matcher(json!({"contains": "hint"}))),
            |evidence| evidence.after.files = vec![FileFact { path: "/w/nothing".into(), ..FileFact::default() }],
        ];
        for (index, change) in changes.into_iter().enumerate() {
            let mut evidence = saved();
            change(&mut evidence);
            assert_eq!(fails(&AFTER, &evidence).len(), 1, "change {index}");
        }
    }

    #[test]
    fn a_file_is_held_against_existence_mode_text_and_json() {
        let seen = file("/w/a.json", r#"{"a":{"b":1}}"#);
        let fact = |change: fn(&mut FileFact)| {
            let mut fact = FileFact { path: "/w/a.json".into(), ..FileFact::default() };
            change(&mut fact);
            file_problem(&fact, Some(&seen))
        };
        assert_eq!(fact(|fact| fact.mode = Some("0600".into())), None);
        assert_eq!(fact(|fact| fact.expect = Some(matcher(json!({"a": {"b": 1}})))), None);
        assert!(fact(|fact| fact.exists = Some(false)).is_some());
        assert!(fact(|fact| fact.mode = Some("0644".into())).is_some());
        assert!(fact(|fact| fact.kind = Some(FileKind::Dir)).is_some());
        assert!(fact(|fact| fact.text = Some(matcher(json!({"contains": "z"})))).is_some());
        assert!(fact(|fact| fact.expect = Some(matcher(json!({"a": 2})))).is_some());
        assert!(fact(|fact| fact.absent = vec!["/a/b".into()]).is_some());
    }
}
