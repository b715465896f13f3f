//! Progress: told only to whoever asked for it, growing, and never after the end of its call.

use std::collections::HashMap;

use serde_json::Value;

use super::verdict::{Check, Cite, Verdict};
use crate::evidence::{Evidence, Seen, Way};

pub const PROGRESS: Check = Check {
    id: "progress",
    sentence: "Progress carries the token of a call that waits, grows, and ends with the answer or the cancel.",
    judge: progress,
};

/// What is known of one token of one server: its call, and how far it was told to be.
struct Asked {
    id: Value,
    over: Option<&'static str>,
    last: Option<f64>,
}

fn progress(evidence: &Evidence, verdict: Verdict) -> Verdict {
    let awaited = evidence.steps.iter().any(|step| matches!(step.seen, Seen::Progress { .. }));
    let mut verdict = verdict.due(awaited);
    let is_told = |text: &str| text.contains("notifications/progress");
    if !evidence.frames.iter().any(|frame| frame.way == Way::Received && is_told(&frame.text)) {
        return verdict;
    }
    let mut asked: HashMap<(String, String), Asked> = HashMap::new();
    for (index, frame) in evidence.frames.iter().enumerate() {
        for message in evidence.messages(index) {
            let method = message.get("method").and_then(Value::as_str);
            match (frame.way, method) {
                (Way::Sent, Some("notifications/cancelled")) => {
                    end(&mut asked, &frame.server, message.pointer("/params/requestId"), "it was cancelled");
                }
                (Way::Sent, Some(_)) => {
                    let token = message.pointer("/params/_meta/progressToken");
                    if let (Some(token), Some(id)) = (token, message.get("id")) {
                        let key = (frame.server.clone(), token.to_string());
                        asked.insert(key, Asked { id: id.clone(), over: None, last: None });
                    }
                }
                (Way::Received, None) => end(&mut asked, &frame.server, message.get("id"), "it was answered"),
                (Way::Received, Some("notifications/progress")) => {
                    verdict.saw();
                    let token = message.pointer("/params/progressToken").cloned().unwrap_or_default();
                    let call = asked.get_mut(&(frame.server.clone(), token.to_string()));
                    if let Some(problem) = problem_of(call, &message) {
                        verdict.fails("progress of a call that asked for it and waits", problem, [Cite::Frame(index)]);
                    }
                }
                _ => {}
            }
        }
    }
    verdict
}

fn end(asked: &mut HashMap<(String, String), Asked>, server: &str, id: Option<&Value>, how: &'static str) {
    let Some(id) = id else { return };
    let calls = asked.iter_mut().filter(|((of, _), call)| of == server && call.id == *id);
    calls.for_each(|(_, call)| call.over = Some(how));
}

fn problem_of(call: Option<&mut Asked>, message: &Value) -> Option<String> {
    let Some(call) = call else { return Some("nobody gave this token".into()) };
    if let Some(over) = call.over {
        return Some(format!("told after {over}"));
    }
    let Some(now) = message.pointer("/params/progress").and_then(Value::as_f64) else {
        return Some("progress is no number".into());
    };
    let before = call.last.replace(now);
    before.filter(|before| now <= *before).map(|before| format!("{now} after {before}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::sample::{fails, holds, receive, saved};
    use super::*;

    /// A call with a token, not yet answered.
    fn waiting() -> Evidence {
        let mut evidence = saved();
        let mut request = evidence.frames[0].clone();
        request.text =
            json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"_meta": {"progressToken": "t"}}})
                .to_string();
        evidence.frames.push(request);
        evidence
    }

    fn told(evidence: &mut Evidence, token: Value, progress: Value) {
        let params = json!({"progressToken": token, "progress": progress});
        receive(evidence, &json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}).to_string());
    }

    #[test]
    fn progress_that_grows_until_the_answer_holds() {
        let mut evidence = waiting();
        told(&mut evidence, json!("t"), json!(1));
        told(&mut evidence, json!("t"), json!(2.5));
        receive(&mut evidence, r#"{"jsonrpc":"2.0","id":9,"result":{}}"#);
        holds(&PROGRESS, &evidence);
    }

    #[test]
    fn a_token_that_nobody_gave_fails_though_it_looks_alike() {
        for token in [json!("u"), json!(9), Value::Null] {
            let mut evidence = waiting();
            told(&mut evidence, token, json!(1));
            fails(&PROGRESS, &evidence);
        }
    }

    #[test]
    fn progress_that_stands_still_or_is_no_number_fails() {
        for second in [json!(1), json!(0), json!("2")] {
            let mut evidence = waiting();
            told(&mut evidence, json!("t"), json!(1));
            told(&mut evidence, json!("t"), second);
            fails(&PROGRESS, &evidence);
        }
    }

    #[test]
    fn progress_after_the_answer_or_the_cancel_fails() {
        let mut answered = waiting();
        receive(&mut answered, r#"{"jsonrpc":"2.0","id":9,"result":{}}"#);
        told(&mut answered, json!("t"), json!(1));
        fails(&PROGRESS, &answered);
        let mut cancelled = waiting();
        let mut cancel = cancelled.frames[0].clone();
        cancel.text =
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}}).to_string();
        cancelled.frames.push(cancel);
        told(&mut cancelled, json!("t"), json!(1));
        fails(&PROGRESS, &cancelled);
    }
}
