//! Recordings: what is typed comes from the agent, what a person typed doesn't, a draft is accepted by a person, and nothing is called a save.

use serde_json::Value;

use super::verdict::{Check, Cite, Verdict};
use crate::evidence::form::confirms;
use crate::evidence::{Evidence, Exchange, JournalLine, Way};

pub const RECORDING: Check = Check {
    id: "recording",
    sentence: "Only text of a call is typed, each draft is accepted by a form, and no recording tool speaks of a save.",
    judge,
};

/// Words that only a run's result may say.
const OF_A_RUN: &[&str] = &["VERIFIED", "saved_and_checked", "execution_outcome", "transaction_outcome"];

fn judge(evidence: &Evidence, mut verdict: Verdict) -> Verdict {
    let lines = || evidence.journal.iter().enumerate().filter(|(_, line)| line.event() == "authoring");
    let mut accepted = evidence.frames.iter().enumerate().filter(|(index, frame)| {
        frame.way == Way::Sent
            && frame.text.contains("confirmed")
            && evidence.message(*index).is_some_and(|it| says_yes(&it))
    });
    let mut typed: Vec<&str> =
        calls(evidence, "type").filter_map(|call| call.arguments.get("text")?.as_str()).collect();
    for (at, line) in lines() {
        verdict.saw();
        if is_done(line, "authoring.admit") && accepted.next().is_none() {
            verdict.fails(
                "a form that a person confirmed before each accepted draft",
                "there is none",
                [Cite::Journal(at)],
            );
        }
        if let Some(text) = line.text("text") {
            match typed.iter().position(|sent| *sent == text) {
                Some(position) => drop(typed.remove(position)),
                None => verdict.fails(
                    "text is typed once for each call of type",
                    "no such call was made",
                    [Cite::Journal(at)],
                ),
            }
        }
        let how = (line.text("op"), line.text("how"));
        if matches!(how, (Some("authoring.continue_input"), Some("type_text"))) {
            verdict.fails("what a person typed is observed", "it was typed again", [Cite::Journal(at)]);
        }
    }
    for (tool, frame) in answers(evidence) {
        let text = &evidence.frames[frame].text;
        if let Some(word) = OF_A_RUN.iter().find(|word| text.contains(**word)) {
            verdict.fails(format!("{tool} says nothing of a save"), *word, [Cite::Frame(frame)]);
        }
    }
    verdict
}

fn is_done(line: &JournalLine, op: &str) -> bool {
    line.text("op") == Some(op) && line.0.get("done") == Some(&Value::Bool(true))
}

/// A reply to a form, in either era.
fn says_yes(message: &Value) -> bool {
    let responses = message.pointer("/params/inputResponses").and_then(Value::as_object);
    message.get("result").is_some_and(confirms) || responses.is_some_and(|all| all.values().any(confirms))
}

fn calls<'e>(evidence: &'e Evidence, tool: &'e str) -> impl Iterator<Item = &'e Exchange> {
    evidence.exchanges.iter().filter(move |exchange| exchange.tool.as_deref() == Some(tool))
}

fn answers(evidence: &Evidence) -> impl Iterator<Item = (&str, usize)> {
    let tool = |exchange: &'_ Exchange| super::results::records(exchange.tool.as_deref().unwrap_or_default());
    evidence
        .exchanges
        .iter()
        .filter(move |exchange| tool(exchange))
        .filter_map(|exchange| Some((exchange.tool.as_deref()?, exchange.answer?)))
}

#[cfg(test)]
mod tests {
    use super::super::sample::{fails, holds, is_silent, saved};
    use super::*;
    use serde_json::json;

    fn with(lines: &[Value]) -> Evidence {
        let mut evidence = saved();
        evidence.journal.extend(lines.iter().cloned().map(JournalLine));
        evidence
    }

    #[test]
    fn a_world_without_a_recording_has_nothing_to_look_at() {
        is_silent(&RECORDING, &saved());
    }

    #[test]
    fn a_draft_that_nobody_accepted_and_a_text_that_nobody_sent_fail() {
        holds(&RECORDING, &with(&[json!({"event": "authoring", "op": "authoring.admit", "done": false})]));
        fails(&RECORDING, &with(&[json!({"event": "authoring", "op": "authoring.admit", "done": true})]));
        fails(&RECORDING, &with(&[json!({"event": "authoring", "op": "authoring.type", "done": true, "text": "x"})]));
        fails(
            &RECORDING,
            &with(&[json!({"event": "authoring", "op": "authoring.continue_input", "how": "type_text"})]),
        );
    }

    #[test]
    fn a_recording_tool_that_speaks_of_a_save_fails() {
        let mut evidence = with(&[json!({"event": "authoring", "op": "authoring.click", "done": true})]);
        evidence.exchanges[2].tool = Some("click".into());
        fails(&RECORDING, &evidence);
    }
}
