//! What may stand on stdout.

use std::collections::BTreeSet;

use serde_json::Value;

use super::verdict::{Check, Cite, Verdict};
use crate::evidence::{Evidence, Frame, ServerEnd, Way};

pub const FRAMES: Check =
    Check { id: "frames-only", sentence: "stdout carries protocol messages only, one on a line.", judge: frames };

pub const MODERN: Check = Check {
    id: "modern-results",
    sentence: "In the era of 2026-07-28 each result says its resultType, and lists say how long they may be kept.",
    judge: modern,
};

/// The TypeScript clients close the connection past this.
const LONGEST_LINE: usize = 10 * 1024 * 1024;

/// Requests that a server may make of a legacy client.
const SERVER_REQUESTS: &[&str] = &["ping", "elicitation/create", "sampling/createMessage", "roots/list"];

fn frames(evidence: &Evidence, verdict: Verdict) -> Verdict {
    let greeted = evidence.servers.iter().any(|server| server.greeted == Some(true));
    let mut verdict = verdict.due(greeted);
    let with_batches = speak_batches(evidence);
    for (index, frame) in evidence.frames.iter().enumerate().filter(|(_, frame)| frame.way == Way::Received) {
        verdict.saw();
        let server = evidence.server(&frame.server);
        let cut_off = server.is_some_and(|server| server.end == ServerEnd::ByScenario) && !frame.ended;
        if cut_off {
            continue;
        }
        let modern = server.is_some_and(|server| server.modern);
        if let Some(problem) = problem_of(frame, modern, with_batches.contains(frame.server.as_str())) {
            verdict.fails("one protocol message on a line", problem, [Cite::Frame(index)]);
        }
    }
    verdict
}

/// The servers with which the one version that has batches was agreed on.
fn speak_batches(evidence: &Evidence) -> BTreeSet<&str> {
    let agrees = |frame: &&Frame| {
        let message = || serde_json::from_str::<Value>(&frame.text).unwrap_or_default();
        frame.way == Way::Received
            && frame.text.contains("2025-03-26")
            && message().pointer("/result/protocolVersion") == Some(&Value::from("2025-03-26"))
    };
    evidence.frames.iter().filter(agrees).map(|frame| frame.server.as_str()).collect()
}

fn problem_of(frame: &Frame, modern: bool, batches: bool) -> Option<String> {
    if !frame.utf8 {
        return Some("the line is not UTF-8".into());
    }
    if !frame.ended {
        return Some("the line has no end".into());
    }
    if frame.bytes > LONGEST_LINE {
        return Some(format!("the line has {} bytes", frame.bytes));
    }
    if frame.text.contains(['\u{2028}', '\u{2029}']) {
        return Some("the line holds a raw U+2028 or U+2029, where some clients split it".into());
    }
    match serde_json::from_str::<Value>(&frame.text) {
        Ok(Value::Array(members)) if batches && !members.is_empty() => {
            members.iter().find_map(|member| problem_of_message(member, modern))
        }
        Ok(message) => problem_of_message(&message, modern),
        Err(_) => Some("the line is not JSON".into()),
    }
}

fn problem_of_message(message: &Value, modern: bool) -> Option<String> {
    let Some(message) = message.as_object() else { return Some(format!("no JSON object: {message}")) };
    if message.get("jsonrpc") != Some(&Value::from("2.0")) {
        return Some("jsonrpc is not \"2.0\"".into());
    }
    let id = message.get("id");
    if id.is_some_and(|id| !(id.is_string() || id.is_i64() || id.is_u64())) {
        return Some(format!("the id is {}", id.unwrap_or(&Value::Null)));
    }
    match (message.get("method"), message.get("result"), message.get("error")) {
        (Some(Value::String(method)), None, None) => match id {
            Some(_) if modern => Some(format!("a request from the server, {method}, which this era doesn't have")),
            Some(_) if !SERVER_REQUESTS.contains(&method.as_str()) => {
                Some(format!("a request from the server: {method}"))
            }
            _ => None,
        },
        (None, Some(Value::Object(_)), None) if id.is_some() => None,
        (None, None, Some(error)) => match (error.get("code"), error.get("message")) {
            (Some(code), Some(Value::String(_))) if code.is_i64() => None,
            _ => Some("an error without a whole code and a message".into()),
        },
        _ => Some("neither a request, a notification, a result nor an error".into()),
    }
}

fn modern(evidence: &Evidence, mut verdict: Verdict) -> Verdict {
    for exchange in &evidence.exchanges {
        let modern = evidence.server(&exchange.server).is_some_and(|server| server.modern);
        let (true, Some(answer), Some(result)) = (modern, exchange.answer, evidence.answer(exchange)) else { continue };
        let Some(result) = result.get("result") else { continue };
        verdict.saw();
        if !result.get("resultType").is_some_and(Value::is_string) {
            verdict.fails("a resultType", "none", [Cite::Frame(answer)]);
        }
        let list = exchange.method.ends_with("/list");
        if list
            && !(result.get("ttlMs").is_some_and(Value::is_u64)
                && result.get("cacheScope").is_some_and(Value::is_string))
        {
            verdict.fails("ttlMs and cacheScope on a list", "one is missing", [Cite::Frame(answer)]);
        }
    }
    verdict
}

#[cfg(test)]
mod tests {
    use super::super::sample::{fails, holds, receive, saved};
    use super::*;
    use serde_json::json;

    #[test]
    fn answers_notifications_and_elicitations_are_frames() {
        let mut evidence = saved();
        for good in [
            json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {}}),
            json!({"jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": {}}),
            json!({"jsonrpc": "2.0", "error": {"code": -32700, "message": "no JSON"}}),
        ] {
            receive(&mut evidence, &good.to_string());
        }
        holds(&FRAMES, &evidence);
    }

    #[test]
    fn a_batch_is_a_frame_only_where_its_version_was_agreed_on() {
        let batch = json!([{"jsonrpc": "2.0", "id": "a", "result": {}}]).to_string();
        for (version, good) in [("2025-03-26", true), ("2025-11-25", false)] {
            let mut evidence = saved();
            let agreed = json!({"jsonrpc": "2.0", "id": "x", "result": {"protocolVersion": version}});
            receive(&mut evidence, &agreed.to_string());
            receive(&mut evidence, &batch);
            if good { holds(&FRAMES, &evidence) } else { drop(fails(&FRAMES, &evidence)) }
        }
    }

    #[test]
    fn anything_else_on_stdout_fails() {
        for bad in [
            "hello",
            "[]",
            "",
            r#"{"id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":null,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":"x","message":"y"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#,
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":\"\u{2028}\"}}",
        ] {
            let mut evidence = saved();
            receive(&mut evidence, bad);
            assert_eq!(fails(&FRAMES, &evidence).len(), 1, "{bad}");
        }
    }

    #[test]
    fn a_line_that_is_no_utf8_or_never_ends_fails() {
        let mut evidence = saved();
        receive(&mut evidence, r#"{"jsonrpc":"2.0","method":"notifications/x"}"#);
        let mut other = evidence.clone();
        if let Some(frame) = evidence.frames.last_mut() {
            frame.utf8 = false;
        }
        fails(&FRAMES, &evidence);
        if let Some(frame) = other.frames.last_mut() {
            frame.ended = false;
        }
        fails(&FRAMES, &other);
    }

    #[test]
    fn a_greeted_server_that_was_never_heard_fails() {
        let mut evidence = saved();
        evidence.frames.retain(|frame| frame.way == Way::Sent);
        fails(&FRAMES, &evidence);
    }

    #[test]
    fn a_modern_result_without_a_type_fails() {
        let mut evidence = saved();
        evidence.servers[0].modern = true;
        assert!(!fails(&MODERN, &evidence).is_empty());
    }
}
