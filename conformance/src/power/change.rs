//! The tools of a mutant: one answer, one line, one file of the evidence is changed, and everything that must follow with it.

use serde_json::Value;

use crate::evidence::{Evidence, Exchange, Frame, JournalLine, Way};

/// A copy in which `how` changed something; none where it found nothing to change.
pub fn changed(green: &Evidence, how: impl FnOnce(&mut Evidence) -> Option<()>) -> Option<Evidence> {
    let mut evidence = green.clone();
    how(&mut evidence)?;
    Some(evidence)
}

/// The run results that stand as structured content: the exchange, and the object.
pub fn run_results(evidence: &Evidence) -> impl Iterator<Item = (&Exchange, Value)> {
    evidence.tool_results().filter(|(exchange, object)| {
        matches!(exchange.tool.as_deref(), Some("run_workflow" | "get_run")) && object.get("contract_version").is_some()
    })
}

/// Changes the first run result that `fits`, in its structured content and in its text alike.
pub fn result(
    green: &Evidence,
    fits: impl Fn(&Exchange, &Value) -> bool,
    how: impl Fn(&mut Value),
) -> Option<Evidence> {
    let (answer, mut object) = run_results(green)
        .find(|(call, object)| fits(call, object))
        .and_then(|(call, object)| Some((call.answer?, object)))?;
    let before = object.clone();
    how(&mut object);
    if object == before {
        return Some(green.clone());
    }
    message(green, answer, |message| {
        let text = object.to_string();
        message["result"]["content"][0]["text"] = text.into();
        message["result"]["structuredContent"] = object;
        Some(())
    })
}

/// Changes one line as JSON.
pub fn message(green: &Evidence, frame: usize, how: impl FnOnce(&mut Value) -> Option<()>) -> Option<Evidence> {
    let mut message = green.message(frame)?;
    how(&mut message)?;
    changed(green, |evidence| {
        let frame = evidence.frames.get_mut(frame)?;
        frame.text = message.to_string();
        frame.bytes = frame.text.len();
        Some(())
    })
}

/// One more line from the first server that greeted, after everything else.
pub fn line(green: &Evidence, text: &str) -> Option<Evidence> {
    let server = green.servers.iter().find(|server| server.greeted == Some(true))?.name.clone();
    changed(green, |evidence| {
        let journal = evidence.journal.len();
        let at_us = evidence.frames.last().map_or(0, |frame| frame.at_us);
        let (text, bytes) = (text.to_owned(), text.len());
        let frame =
            Frame { server, way: Way::Received, at_us, journal, text, bytes, utf8: true, ended: true, raw: false };
        evidence.frames.push(frame);
        Some(())
    })
}

/// The tool of this call is listed with an output schema.
pub fn is_advertised(evidence: &Evidence, call: &Exchange) -> bool {
    let listed = || {
        let list = evidence.exchanges.get(evidence.server(&call.server)?.tools?)?;
        let answer = evidence.answer(list)?;
        let mut tools = answer.pointer("/result/tools")?.as_array()?.iter();
        tools
            .find(|tool| tool.get("name").and_then(Value::as_str) == call.tool.as_deref())?
            .get("outputSchema")
            .cloned()
    };
    listed().is_some()
}

/// The first answer to a call of a tool.
pub fn first_answer(evidence: &Evidence) -> Option<usize> {
    evidence.exchanges.iter().filter(|call| call.method == "tools/call").find_map(|call| call.answer)
}

/// Takes lines out of the journal; frames go on counting what stands.
pub fn forget(green: &Evidence, is: impl Fn(&JournalLine) -> bool) -> Option<Evidence> {
    changed(green, |evidence| {
        let stays: Vec<bool> = evidence.journal.iter().map(|line| !is(line)).collect();
        if stays.iter().all(|stays| *stays) {
            return None;
        }
        for frame in &mut evidence.frames {
            frame.journal = stays.iter().take(frame.journal).filter(|stays| **stays).count();
        }
        let mut stays = stays.into_iter();
        evidence.journal.retain(|_| stays.next().unwrap_or(true));
        Some(())
    })
}

/// Puts a line into the journal after line `at`, as if it had stood there all the time.
pub fn insert(green: &Evidence, at: usize, line: JournalLine) -> Option<Evidence> {
    changed(green, |evidence| {
        for frame in evidence.frames.iter_mut().filter(|frame| frame.journal > at) {
            frame.journal += 1;
        }
        evidence.journal.insert(at + 1, line);
        Some(())
    })
}

/// The first line that is such a one.
pub fn position(evidence: &Evidence, is: impl Fn(&JournalLine) -> bool) -> Option<usize> {
    evidence.journal.iter().position(is)
}

pub fn word<'v>(object: &'v Value, key: &str) -> &'v str {
    object.get(key).and_then(Value::as_str).unwrap_or_default()
}
