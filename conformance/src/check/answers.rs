//! Each request is answered once, with its own id; nothing else is answered.

use std::collections::HashMap;

use serde_json::Value;

use super::storm;
use super::verdict::{Check, Cite, Verdict};
use crate::evidence::{Evidence, ServerEnd, Way};
use crate::scenario::Action;

pub const ANSWERED_ONCE: Check = Check {
    id: "answered-once",
    sentence: "Every answer belongs to one request, with the id as it was sent; no notification is answered, and nothing after a cancel.",
    judge: answered_once,
};

pub const UNANSWERED: Check = Check {
    id: "all-answered",
    sentence: "Every request is answered, unless it was cancelled or its server was ended.",
    judge: unanswered,
};

fn answered_once(evidence: &Evidence, verdict: Verdict) -> Verdict {
    let mut verdict = verdict.due(evidence.exchanges.iter().any(|exchange| exchange.answer.is_some()));
    let asked = asked(evidence);
    let mut answers: HashMap<(String, String), Vec<usize>> = HashMap::new();
    for (index, frame) in evidence.frames.iter().enumerate().filter(|(_, frame)| frame.way == Way::Received) {
        let answering = |message: &Value| message.is_object() && message.get("method").is_none();
        for message in evidence.messages(index).into_iter().filter(answering) {
            verdict.saw();
            match message.get("id") {
                Some(id) => answers.entry((frame.server.clone(), id.to_string())).or_default().push(index),
                None if evidence.frames.iter().any(|frame| frame.raw) => {}
                None => {
                    verdict.fails("an answer with the id of a request", "an answer without an id", [Cite::Frame(index)])
                }
            }
        }
    }
    for (key, frames) in answers {
        let allowed = asked.get(&key).copied().unwrap_or_default();
        if frames.len() > allowed {
            let actual = match allowed {
                0 => format!("an answer to {}, which nobody asked", key.1),
                _ => format!("{} answers to {}", frames.len(), key.1),
            };
            verdict.fails(format!("at most {allowed} for this id"), actual, frames.into_iter().map(Cite::Frame));
        }
    }
    for exchange in &evidence.exchanges {
        if let (Some(cancelled), Some(answer)) = (exchange.cancelled, exchange.answer)
            && answer > cancelled
        {
            let cites = [Cite::Frame(exchange.request), Cite::Frame(cancelled), Cite::Frame(answer)];
            verdict.fails("no answer after the cancel", format!("an answer to {}", exchange.id), cites);
        }
    }
    verdict
}

/// How many answers each id may have, by server: requests of the client, and whatever raw bytes asked for.
fn asked(evidence: &Evidence) -> HashMap<(String, String), usize> {
    let mut asked: HashMap<(String, String), usize> = HashMap::new();
    for exchange in &evidence.exchanges {
        *asked.entry((exchange.server.clone(), exchange.id.to_string())).or_default() += 1;
    }
    for (index, frame) in evidence.frames.iter().enumerate().filter(|(_, frame)| frame.raw) {
        for id in evidence.messages(index).iter().filter_map(|message| message.get("id")) {
            *asked.entry((frame.server.clone(), id.to_string())).or_default() += 1;
        }
    }
    for key in storm::ids(evidence) {
        asked.entry(key).or_insert(1);
    }
    // Bytes that are no JSON may still hold an id that can be read: the scenario says which.
    for step in &evidence.steps {
        let (Action::Send(send), crate::evidence::Seen::Frames { server, .. }) = (&step.action, &step.seen) else {
            continue;
        };
        for id in send.answers.iter().filter_map(|answer| answer.written().get("id")) {
            asked.entry((server.clone(), id.to_string())).or_insert(1);
        }
    }
    asked
}

fn unanswered(evidence: &Evidence, verdict: Verdict) -> Verdict {
    let mut verdict = verdict.due(evidence.servers.iter().any(|server| server.greeted == Some(true)));
    let mut missing = Vec::new();
    for exchange in &evidence.exchanges {
        verdict.saw();
        let ended = evidence.server(&exchange.server).is_some_and(|server| server.end == ServerEnd::ByScenario);
        if exchange.answer.is_none() && exchange.cancelled.is_none() && !ended {
            missing.push(Cite::Frame(exchange.request));
        }
    }
    // The wait that was broken by a missing answer has told of it.
    let allowed = evidence.after.unanswered.unwrap_or_default();
    if evidence.stopped.is_none() && missing.len() > allowed {
        verdict.fails(
            format!("at most {allowed} requests without an answer"),
            format!("{} have none", missing.len()),
            missing,
        );
    }
    verdict
}

#[cfg(test)]
mod tests {
    use super::super::sample::{fails, holds, receive, saved};
    use super::*;

    #[test]
    fn the_sample_holds() {
        holds(&ANSWERED_ONCE, &saved());
        holds(&UNANSWERED, &saved());
    }

    #[test]
    fn a_second_answer_fails() {
        let mut evidence = saved();
        let answer = evidence.frames.iter().rfind(|frame| frame.way == Way::Received).unwrap().text.clone();
        receive(&mut evidence, &answer);
        assert!(fails(&ANSWERED_ONCE, &evidence)[0].actual.starts_with("2 answers"));
    }

    #[test]
    fn an_id_of_another_type_is_another_id() {
        let mut evidence = saved();
        receive(&mut evidence, r#"{"jsonrpc":"2.0","id":"3","result":{}}"#);
        assert!(fails(&ANSWERED_ONCE, &evidence)[0].actual.contains("nobody asked"));
    }

    #[test]
    fn an_answer_without_an_id_is_allowed_only_to_raw_bytes() {
        let mut evidence = saved();
        receive(&mut evidence, r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}}"#);
        fails(&ANSWERED_ONCE, &evidence);
        let mut raw = evidence.frames[0].clone();
        (raw.raw, raw.text) = (true, "{".into());
        evidence.frames.push(raw);
        holds(&ANSWERED_ONCE, &evidence);
    }

    #[test]
    fn an_answer_after_a_cancel_fails() {
        let mut evidence = saved();
        evidence.exchanges[2].cancelled = Some(evidence.exchanges[2].request);
        fails(&ANSWERED_ONCE, &evidence);
    }

    #[test]
    fn a_request_without_an_answer_fails_unless_its_server_was_ended() {
        let mut evidence = saved();
        evidence.exchanges[2].answer = None;
        fails(&UNANSWERED, &evidence);
        evidence.servers[0].end = ServerEnd::ByScenario;
        holds(&UNANSWERED, &evidence);
    }
}
