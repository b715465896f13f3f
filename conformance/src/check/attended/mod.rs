//! Decisions of a person: asked for by a form, made once, told without a word from the screen.

pub mod bridge;
pub mod decisions;
pub mod forms;
pub mod projection;
pub mod twice;

#[cfg(test)]
pub(crate) mod sample;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::evidence::form::{Shown, confirms};
use crate::evidence::{Evidence, Exchange, Way};

/// A form on the wire.
pub struct Seen {
    pub frame: usize,
    pub shown: Shown,
}

/// A person's yes, and the call that it was for.
pub struct Yes<'e> {
    /// The frame that carried it.
    pub frame: usize,
    pub form: usize,
    pub call: &'e Exchange,
}

/// The action that a tool asks Flow for.
pub fn action_of(tool: &str) -> Option<&'static str> {
    ["continue", "skip", "reject", "teach", "escalate"]
        .into_iter()
        .find(|action| tool.strip_suffix("_attention") == Some(*action))
}

pub fn attended_calls(evidence: &Evidence) -> impl Iterator<Item = &Exchange> {
    evidence.exchanges.iter().filter(|exchange| exchange.tool.as_deref().and_then(action_of).is_some())
}

/// Every form that a server showed, in order.
pub fn forms(evidence: &Evidence) -> Vec<Seen> {
    let received = evidence.frames.iter().enumerate().filter(|(_, frame)| frame.way == Way::Received);
    received
        .filter(|(_, frame)| frame.text.contains("elicitation/create") || frame.text.contains("input_required"))
        .filter_map(|(frame, _)| Some(Seen { frame, shown: Shown::of(&evidence.message(frame)?)? }))
        .collect()
}

/// The calls that a form may belong to: they stood open on its server, and its message names their item.
pub fn calls_of<'e>(evidence: &'e Evidence, form: &Seen) -> Vec<&'e Exchange> {
    let server = &evidence.frames[form.frame].server;
    let open = attended_calls(evidence).filter(|call| {
        let asked = call.request < form.frame && call.server == *server;
        let unanswered = call.answer.is_none_or(|answer| answer >= form.frame);
        let own = form.shown.id.is_some() || call.answer == Some(form.frame);
        asked && unanswered && own
    });
    let open: Vec<&Exchange> = open.collect();
    let named = |call: &&Exchange| text(call, "attention_id").is_some_and(|item| form.shown.message().contains(item));
    match open.iter().copied().filter(named).collect::<Vec<_>>() {
        named if named.is_empty() => open,
        named => named,
    }
}

/// Every yes to a form.
pub fn yeses(evidence: &Evidence) -> Vec<Yes<'_>> {
    let replies = replies(evidence);
    forms(evidence)
        .iter()
        .flat_map(|form| match &form.shown.id {
            Some(id) => legacy(evidence, form, id, &replies),
            None => modern(evidence, form),
        })
        .collect()
}

pub fn text<'e>(exchange: &'e Exchange, key: &str) -> Option<&'e str> {
    exchange.arguments.get(key).and_then(Value::as_str)
}

/// A yes that the client sent to a server's request, by server and id.
type Replies = BTreeMap<(String, String), usize>;

fn replies(evidence: &Evidence) -> Replies {
    let sent = evidence.frames.iter().enumerate().filter(|(_, frame)| frame.way == Way::Sent);
    let yes = sent.filter(|(_, frame)| frame.text.contains("confirmed")).filter_map(|(index, frame)| {
        let message = evidence.message(index).filter(|message| message.get("method").is_none())?;
        let id = message.get("id").filter(|_| message.get("result").is_some_and(confirms))?;
        Some(((frame.server.clone(), id.to_string()), index))
    });
    yes.collect()
}

fn legacy<'e>(evidence: &'e Evidence, form: &Seen, id: &Value, replies: &Replies) -> Vec<Yes<'e>> {
    let server = evidence.frames[form.frame].server.clone();
    let reply = replies.get(&(server, id.to_string())).copied();
    let Some(frame) = reply.filter(|frame| *frame > form.frame) else { return Vec::new() };
    calls_of(evidence, form).into_iter().map(|call| Yes { frame, form: form.frame, call }).collect()
}

/// The call that came back with the form's own state, by the same tool and with the same arguments.
fn modern<'e>(evidence: &'e Evidence, form: &Seen) -> Vec<Yes<'e>> {
    let first = calls_of(evidence, form);
    let again = attended_calls(evidence).filter(|call| call.request > form.frame).filter(|call| {
        let message = evidence.message(call.request).unwrap_or_default();
        let state = message.pointer("/params/requestState").and_then(Value::as_str);
        let said = message.pointer("/params/inputResponses").and_then(Value::as_object);
        let yes = said.and_then(|said| said.get(form.shown.key.as_deref()?)).is_some_and(confirms);
        let same = |first: &&Exchange| {
            (&first.tool, &first.arguments, &first.server) == (&call.tool, &call.arguments, &call.server)
        };
        yes && state.is_some() && state == form.shown.state.as_deref() && first.iter().any(same)
    });
    again.map(|call| Yes { frame: call.request, form: form.frame, call }).collect()
}
