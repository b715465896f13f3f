//! Who decided: each decision in Flow's journal, held against the forms that were answered.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::super::verdict::{Check, Cite, Verdict};
use super::{Yes, action_of, attended_calls, text, yeses};
use crate::evidence::{Evidence, JournalLine, object_of};

pub const DECISIONS: Check = Check {
    id: "decided-by-a-person",
    sentence: "A decision comes only after an accepted and confirmed form of exactly that call, one form makes one decision, and a result says of it what the journal says.",
    judge,
};

fn judge(evidence: &Evidence, mut verdict: Verdict) -> Verdict {
    let flows_own = flows_own(evidence);
    let journal = evidence.journal.iter().enumerate().filter(|(_, line)| line.event() == "decision");
    let lines: Vec<(usize, &JournalLine)> = journal.chain(flows_own.iter().map(|line| (UNTIMED, line))).collect();
    let mut first: BTreeMap<&str, (usize, &JournalLine)> = BTreeMap::new();
    for (at, line) in &lines {
        verdict.saw();
        first.entry(line.text("idempotency_key").unwrap_or_default()).or_insert((*at, *line));
    }
    let yeses = yeses(evidence);
    let mut used = BTreeSet::new();
    let mut in_order: Vec<_> = first.into_values().collect();
    in_order.sort_by_key(|(at, _)| *at);
    for (at, line) in in_order {
        let before = |yes: &&Yes<'_>| evidence.frames[yes.frame].journal <= at;
        match yeses.iter().filter(before).find(|yes| !used.contains(&yes.form) && is_for(yes, line)) {
            Some(yes) => drop(used.insert(yes.form)),
            None => {
                let in_journal = (at != UNTIMED).then_some(Cite::Journal(at));
                let cites = attended_calls(evidence).map(|call| Cite::Frame(call.request)).chain(in_journal);
                let actual = format!("{} without a yes of its own", line.text("action").unwrap_or("a decision"));
                verdict.fails("a confirmed form of that call before a decision", actual, cites);
            }
        }
    }
    results(evidence, &mut verdict, &lines);
    verdict
}

/// The real Flow writes no journal of ours, but its own record of decisions; when each was made isn't seen then.
fn flows_own(evidence: &Evidence) -> Vec<JournalLine> {
    if !evidence.journal.is_empty() {
        return Vec::new();
    }
    let records = evidence.files.iter().filter(|file| file.path.ends_with("attended_decisions.json"));
    let decided = records.flat_map(|file| {
        let whole: Value = serde_json::from_str(&file.text).unwrap_or_default();
        let run_dir = file.path.parent().map(|folder| folder.display().to_string()).unwrap_or_default();
        let list = whole.as_array().or_else(|| whole["decisions"].as_array()).cloned().unwrap_or_default();
        list.into_iter().map(move |mut decision| {
            decision["run_dir"] = run_dir.clone().into();
            JournalLine(decision)
        })
    });
    decided.collect()
}

/// Of a decision that is in no journal.
const UNTIMED: usize = usize::MAX;

fn is_for(yes: &Yes<'_>, line: &JournalLine) -> bool {
    let call = yes.call;
    let item = text(call, "attention_id").unwrap_or_default();
    call.tool.as_deref().and_then(action_of) == line.text("action")
        && text(call, "idempotency_key") == line.text("idempotency_key")
        && line.text("run_dir").is_none_or(|path| items_of(path).iter().any(|id| id == item))
        && line.text("capability_digest").is_none_or(|digest| text(call, "capability_digest") == Some(digest))
}

/// The ids that a run folder may have: it lies in the runs folder or up to two levels below.
fn items_of(run_dir: &str) -> Vec<String> {
    let parts: Vec<&str> = run_dir.trim_end_matches('/').split('/').collect();
    (1..=parts.len().min(3))
        .map(|count| parts[parts.len() - count..].join("/"))
        .map(|path| crate::run::variables::hex(&Sha256::digest(path.as_bytes()))[..24].to_owned())
        .collect()
}

/// What a result says of a decision, held against the lines that stood when it came.
fn results(evidence: &Evidence, verdict: &mut Verdict, lines: &[(usize, &JournalLine)]) {
    for call in attended_calls(evidence) {
        let (Some(frame), Some(answer)) = (call.answer, evidence.answer(call)) else { continue };
        let Some(result) = answer.get("result").filter(|result| result.get("isError") != Some(&Value::Bool(true)))
        else {
            continue;
        };
        let object = object_of(result);
        let Some(status) = object.get("status").and_then(Value::as_str) else { continue };
        verdict.saw();
        let stood = evidence.frames[frame].journal;
        let own = lines.iter().filter(|(at, line)| {
            (*at < stood || *at == UNTIMED) && line.text("idempotency_key") == text(call, "idempotency_key")
        });
        let decided: Vec<&str> = own.filter_map(|(_, line)| line.text("status")).collect();
        let refused = status == "refused" && object.get("decision_id").is_none_or(Value::is_null);
        if !refused && decided.last() != Some(&status) {
            let actual = format!("the journal says {decided:?}");
            let cites = [Cite::Frame(call.request), Cite::Frame(frame)];
            verdict.fails_at(call.step, format!("{status:?} is what Flow decided"), actual, cites);
        }
        let success = object.get("success") == Some(&Value::Bool(true));
        let proven = status == "completed" && object.get("report_success") == Some(&Value::Bool(true));
        if success != proven {
            let cites = [Cite::Frame(call.request), Cite::Frame(frame)];
            verdict.fails_at(call.step, "success exactly for completed with report_success", object.to_string(), cites);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::sample::{fails, holds};
    use super::super::sample::{decided, decision, modern, set_reply, set_result};
    use super::*;
    use serde_json::json;

    #[test]
    fn a_decision_after_a_yes_of_its_call_holds_in_both_eras() {
        holds(&DECISIONS, &decided());
        holds(&DECISIONS, &modern());
    }

    #[test]
    fn what_the_real_flow_wrote_down_stands_in_for_a_journal() {
        let mut evidence = decided();
        let line = evidence.journal.iter().rfind(|line| line.event() == "decision").cloned().unwrap();
        evidence.journal.clear();
        assert!(!fails(&DECISIONS, &evidence).is_empty(), "a result was believed without any record");
        let record = |decision: &serde_json::Value| {
            let folder = line.text("run_dir").unwrap_or_default().to_owned();
            super::super::super::sample::file(
                &format!("{folder}/attended_decisions.json"),
                &json!([decision]).to_string(),
            )
        };
        evidence.files.push(record(&line.0));
        holds(&DECISIONS, &evidence);
        let mut other = line.0.clone();
        other["idempotency_key"] = json!("a-key-that-nobody-confirmed");
        evidence.files.push(record(&other));
        assert!(!fails(&DECISIONS, &evidence).is_empty(), "a decision without a form went unseen");
    }

    #[test]
    fn a_decision_without_a_yes_fails() {
        for no in [
            json!({"action": "decline"}),
            json!({"action": "accept", "content": {"confirmed": false}}),
            json!({"action": "accept", "content": {"confirmed": "true"}}),
        ] {
            let mut evidence = decided();
            set_reply(&mut evidence, no);
            fails(&DECISIONS, &evidence);
        }
    }

    #[test]
    fn a_decision_that_stood_before_the_yes_fails() {
        let mut evidence = decided();
        for frame in &mut evidence.frames {
            frame.journal = evidence.journal.len();
        }
        assert!(fails(&DECISIONS, &evidence)[0].actual.contains("without a yes"));
    }

    #[test]
    fn a_yes_of_another_call_is_none() {
        for (key, value) in [
            ("action", "teach"),
            ("idempotency_key", "another-key-0000001"),
            ("run_dir", "/w/runs/run-other"),
            ("capability_digest", "sha256:other"),
        ] {
            let mut evidence = decided();
            let line = evidence.journal.iter_mut().find(|line| line.event() == "decision").unwrap();
            line.0[key] = value.into();
            fails(&DECISIONS, &evidence);
        }
    }

    #[test]
    fn one_yes_makes_one_decision() {
        let mut evidence = decided();
        let mut second = decision("rejected");
        second.0["idempotency_key"] = "second-key-00000001".into();
        evidence.journal.push(second);
        let mut again = evidence.exchanges[2].clone();
        again.arguments["idempotency_key"] = "second-key-00000001".into();
        evidence.exchanges.push(again);
        fails(&DECISIONS, &evidence);
    }

    #[test]
    fn a_state_that_is_not_the_forms_own_confirms_nothing() {
        let mut evidence = modern();
        let again = evidence.exchanges[3].request;
        evidence.frames[again].text = evidence.frames[again].text.replace("state-1", "state-2");
        fails(&DECISIONS, &evidence);
    }

    #[test]
    fn a_result_that_says_more_than_the_journal_fails() {
        for (key, value) in [("status", json!("completed")), ("success", json!(true))] {
            let mut evidence = decided();
            set_result(&mut evidence, key, value);
            fails(&DECISIONS, &evidence);
        }
    }
}
