//! What crossed the wire while a client was at work, held against the checks that hold for every scenario.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Deserialize;
use serde_json::Value;

use crate::check::verdict::{Check, Verdict};
use crate::check::{answers, frames, progress, results};
use crate::evidence::ledger::SeenLedger;
use crate::evidence::{Clock, Evidence, Exchange, Frame, ServerEnd, ServerSeen, Way};
use crate::run::smoke;

#[derive(Deserialize)]
struct Line {
    server: String,
    way: Way,
    text: String,
    ended: bool,
    utf8: bool,
}

const CHECKS: [&Check; 4] = [&frames::FRAMES, &answers::ANSWERED_ONCE, &progress::PROGRESS, &results::SHAPE];

/// What is wrong with a transcript.
pub fn problems(transcript: &str) -> Vec<String> {
    let lines: Vec<Line> = transcript.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    if !lines.iter().any(|line| line.way == Way::Received) {
        return vec!["the server was never heard".into()];
    }
    let Some(evidence) = evidence(lines) else { return vec!["the judge has no scenario to greet with".into()] };
    let failures = CHECKS.iter().flat_map(|check| (check.judge)(&evidence, Verdict::of(check.id)).finish().0);
    failures
        .map(|failure| format!("{}: expected {}, but {}", failure.check, failure.expected, failure.actual))
        .collect()
}

fn evidence(lines: Vec<Line>) -> Option<Evidence> {
    let scenario = smoke::scenario().ok()?;
    let servers: BTreeSet<String> = lines.iter().map(|line| line.server.clone()).collect();
    let frames: Vec<Frame> = lines.into_iter().map(frame).collect();
    Some(Evidence {
        scenario: scenario.id,
        title: scenario.title,
        proves: scenario.proves,
        exchanges: exchanges(&frames),
        servers: servers.into_iter().map(|name| server(name, &frames)).collect(),
        frames,
        journal: Vec::new(),
        steps: Vec::new(),
        after: scenario.after,
        files: Vec::new(),
        ledger: SeenLedger::Absent,
        actions: Default::default(),
        operator: Vec::new(),
        real_flow: false,
        clinic: None,
        leftovers: Vec::new(),
        canaries: BTreeMap::new(),
        printed: BTreeSet::new(),
        crash: None,
        stopped: None,
        seconds: 0.0,
        clock: Clock::default(),
    })
}

fn frame(line: Line) -> Frame {
    let bytes = line.text.len();
    // What a fuzzer sends may be anything, as raw bytes of a scenario may.
    let raw = line.way == Way::Sent && !is_a_request(&line.text);
    Frame {
        server: line.server,
        way: line.way,
        at_us: 0,
        journal: 0,
        text: line.text,
        bytes,
        utf8: line.utf8,
        ended: line.ended,
        raw,
    }
}

fn is_a_request(text: &str) -> bool {
    let message: Value = serde_json::from_str(text).unwrap_or_default();
    let id = message.get("id").is_some_and(|id| id.is_string() || id.is_number());
    id && message.get("method").is_some_and(Value::is_string)
}

fn exchanges(frames: &[Frame]) -> Vec<Exchange> {
    let mut answers: HashMap<(&str, String), usize> = HashMap::new();
    for (index, frame) in frames.iter().enumerate().filter(|(_, frame)| frame.way == Way::Received) {
        let message: Value = serde_json::from_str(&frame.text).unwrap_or_default();
        if let (Some(id), None) = (message.get("id"), message.get("method")) {
            answers.entry((frame.server.as_str(), id.to_string())).or_insert(index);
        }
    }
    let asked = frames.iter().enumerate().filter(|(_, frame)| frame.way == Way::Sent && is_a_request(&frame.text));
    let exchange = |(request, frame): (usize, &Frame)| {
        let message: Value = serde_json::from_str(&frame.text).ok()?;
        let method = message.get("method")?.as_str()?.to_owned();
        let tool = message.pointer("/params/name").and_then(Value::as_str).filter(|_| method == "tools/call");
        Some(Exchange {
            server: frame.server.clone(),
            id: message["id"].clone(),
            tool: tool.map(str::to_owned),
            arguments: message.pointer("/params/arguments").cloned().unwrap_or_default(),
            answer: answers.get(&(frame.server.as_str(), message["id"].to_string())).copied(),
            method,
            request,
            cancelled: None,
            step: None,
        })
    };
    asked.filter_map(exchange).collect()
}

fn server(name: String, frames: &[Frame]) -> ServerSeen {
    let modern = !frames.iter().any(|frame| frame.server == name && frame.text.contains("\"elicitation/create\""))
        && frames.iter().any(|frame| {
            frame.server == name
                && frame.way == Way::Sent
                && frame.text.contains("io.modelcontextprotocol/protocolVersion")
        });
    ServerSeen {
        name,
        pid: None,
        modern,
        stderr: String::new(),
        stderr_bytes: 0,
        exit: None,
        // A client may leave at any moment.
        end: ServerEnd::ByScenario,
        tools: None,
        greeted: Some(true),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn transcript(lines: &[(&str, &str)]) -> String {
        let line = |(way, text): &(&str, &str)| {
            json!({"server": "s1", "way": way, "text": text, "ended": true, "utf8": true}).to_string() + "\n"
        };
        lines.iter().map(line).collect()
    }

    #[test]
    fn a_transcript_of_frames_holds_and_one_with_anything_else_does_not() {
        let asked = ("sent", r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
        let answered = ("received", r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
        assert_eq!(problems(&transcript(&[asked, answered])), Vec::<String>::new());
        assert!(!problems(&transcript(&[asked])).is_empty());
        assert!(!problems(&transcript(&[asked, answered, answered])).is_empty());
        assert!(!problems(&transcript(&[asked, answered, ("received", "hello")])).is_empty());
    }
}
