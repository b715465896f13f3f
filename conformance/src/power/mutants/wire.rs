//! One line on a pipe that shouldn't be as it is.

use serde_json::{Value, json};

use crate::evidence::{Evidence, Way};
use crate::power::change::{changed, first_answer, line, message};
use crate::power::mutant::Mutant;

const FRAMES: &[&str] = &["frames-only"];
const ONCE: &[&str] = &["answered-once"];

pub fn mutants() -> Vec<Mutant> {
    let mut all = Vec::new();
    for (name, said, text) in [
        ("prose", "a line of prose", "starting up".to_owned()),
        (
            "a-list",
            "a batch that nobody agreed on",
            json!([{"jsonrpc": "2.0", "method": "notifications/message"}]).to_string(),
        ),
        ("no-version", "a message without jsonrpc", json!({"method": "notifications/message"}).to_string()),
        (
            "old-version",
            "a message of another JSON-RPC",
            json!({"jsonrpc": "1.0", "method": "notifications/message"}).to_string(),
        ),
        (
            "an-unknown-request",
            "a request that no client knows",
            json!({"jsonrpc": "2.0", "id": 900, "method": "files/read"}).to_string(),
        ),
        (
            "a-line-separator",
            "a raw U+2028, where some clients split",
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"data\":\"\u{2028}\"}}".to_owned(),
        ),
        ("nothing", "an empty line", String::new()),
    ] {
        all.push(Mutant::new(format!("wire/{name}"), format!("stdout has {said}"), FRAMES, move |green| {
            line(green, &text)
        }));
    }
    let neither = json!({"jsonrpc": "2.0"}).to_string();
    let said = "stdout has what is neither request, notification nor answer";
    all.push(Mutant::new("wire/neither", said, &["frames-only", "answered-once"], move |green| {
        (!green.frames.iter().any(|frame| frame.raw)).then_some(())?;
        line(green, &neither)
    }));
    all.push(Mutant::new("wire/no-utf8", "a line isn't UTF-8", FRAMES, |green| {
        let at = first_answer(green)?;
        changed(green, |evidence| {
            evidence.frames[at].utf8 = false;
            Some(())
        })
    }));
    all.push(Mutant::new("wire/no-end", "a line has no end", FRAMES, |green| {
        let at = first_answer(green).filter(|_| closed_by_the_judge(green))?;
        changed(green, |evidence| {
            evidence.frames[at].ended = false;
            Some(())
        })
    }));
    all.push(Mutant::new("wire/too-long", "a line is longer than clients take", FRAMES, |green| {
        let at = first_answer(green)?;
        changed(green, |evidence| {
            evidence.frames[at].bytes = 11 << 20;
            Some(())
        })
    }));
    all.push(Mutant::new("wire/answered-twice", "a call is answered twice", ONCE, |green| {
        let text = green.frames.get(first_answer(green).filter(|_| one_server(green))?)?.text.clone();
        line(green, &text)
    }));
    all.push(Mutant::new("wire/answer-to-nobody", "an answer that nobody asked for", ONCE, |green| {
        let quiet = !green.frames.iter().any(|frame| frame.raw);
        line(green, &json!({"jsonrpc": "2.0", "id": "unasked", "result": {"resultType": "complete"}}).to_string())
            .filter(|_| quiet)
    }));
    all.push(Mutant::new("wire/answer-without-id", "an error that belongs to no request", ONCE, |green| {
        let quiet = !green.frames.iter().any(|frame| frame.raw);
        line(green, &json!({"jsonrpc": "2.0", "error": {"code": -32600, "message": "?"}}).to_string()).filter(|_| quiet)
    }));
    all.push(Mutant::new("wire/answered-after-the-cancel", "a cancelled call is answered", ONCE, |green| {
        let at = green.exchanges.iter().position(|call| call.cancelled.is_some() && call.answer.is_none())?;
        let id = green.exchanges[at].id.clone();
        let server = green.exchanges[at].server.clone();
        let plain = green.servers.iter().find(|server| server.greeted == Some(true))?.name == server;
        let said = json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32603, "message": "?"}}).to_string();
        let mut evidence = line(green, &said).filter(|_| plain)?;
        evidence.exchanges[at].answer = Some(evidence.frames.len() - 1);
        Some(evidence)
    }));
    all.push(Mutant::new("wire/id-as-text", "an answer's number comes back as text", ONCE, |green| {
        let at = first_answer(green)?;
        message(green, at, |message| {
            let id = message.get("id").filter(|id| id.is_number())?.to_string();
            message["id"] = Value::from(id);
            Some(())
        })
    }));
    all.push(Mutant::new(
        "wire/never-answered",
        "a request of the handshake has no answer",
        &["all-answered"],
        |green| {
            let at = green.exchanges.iter().position(|call| call.method == "ping" && call.answer.is_some())?;
            let lone = green.after.unanswered.is_none() && green.stopped.is_none() && closed_by_the_judge(green);
            changed(green, |evidence| {
                let answer = evidence.exchanges[at].answer.take()?;
                evidence.frames[answer].text = json!({"jsonrpc": "2.0", "method": "notifications/message"}).to_string();
                Some(())
            })
            .filter(|_| lone)
        },
    ));
    for (name, said, params) in [
        (
            "progress-unasked",
            "progress for a token that nobody gave",
            json!({"progressToken": "nobody's", "progress": 1}),
        ),
        (
            "progress-without-a-number",
            "progress that is no number, for nobody",
            json!({"progressToken": "nobody's", "progress": "half"}),
        ),
    ] {
        let text = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}).to_string();
        all.push(Mutant::new(format!("wire/{name}"), said, &["progress"], move |green| line(green, &text)));
    }
    all.push(Mutant::new("wire/progress-goes-back", "progress tells less than before", &["progress"], |green| {
        let told: Vec<usize> = (0..green.frames.len())
            .filter(|at| green.frames[*at].way == Way::Received)
            .filter(|at| green.frames[*at].text.contains("\"notifications/progress\""))
            .collect();
        let [.., first, second] = told[..] else { return None };
        let token = |at: usize| green.message(at)?.pointer("/params/progressToken").cloned();
        (token(first) == token(second)).then_some(())?;
        message(green, second, |message| {
            message["params"]["progress"] = json!(-1);
            Some(())
        })
    }));
    all
}

fn one_server(green: &Evidence) -> bool {
    green.servers.len() == 1 && !green.frames.iter().any(|frame| frame.raw)
}

fn closed_by_the_judge(green: &Evidence) -> bool {
    green.servers.iter().all(|server| server.end == crate::evidence::ServerEnd::Closed)
}
