//! A decision that was asked for, confirmed, made and told, for the tests of these checks.

use serde_json::{Value, json};

use super::super::sample::{RUN, saved};
use crate::evidence::{Evidence, Exchange, Frame, JournalLine, Way};
use crate::run::variables::hex;
use sha2::{Digest, Sha256};

const KEY: &str = "first-key-000000001";
const DIGEST: &str = "sha256:1";

/// Rejected in the legacy era: the call is exchange 2.
pub fn decided() -> Evidence {
    let mut evidence = greeted();
    call(&mut evidence, "reject_attention", arguments());
    let form = form();
    frame(
        &mut evidence,
        Way::Received,
        json!({"jsonrpc": "2.0", "id": 77, "method": "elicitation/create", "params": form}),
    );
    frame(&mut evidence, Way::Sent, json!({"jsonrpc": "2.0", "id": 77, "result": yes()}));
    evidence.journal.push(decision("rejected"));
    answer(&mut evidence, 2, result());
    evidence
}

/// The same in the modern era: the call is exchange 2, and comes again as exchange 3.
pub fn modern() -> Evidence {
    let mut evidence = greeted();
    evidence.exchanges[0].method = "server/discover".into();
    evidence.servers[0].modern = true;
    call(&mut evidence, "reject_attention", arguments());
    let asked = json!({"resultType": "input_required", "requestState": "state-1",
        "inputRequests": {"confirm": {"method": "elicitation/create", "params": form()}}});
    answer(&mut evidence, 2, asked);
    let more = json!({"requestState": "state-1", "inputResponses": {"confirm": yes()}});
    call_with(&mut evidence, "reject_attention", arguments(), more);
    evidence.journal.push(decision("rejected"));
    answer(&mut evidence, 3, result());
    evidence
}

/// Continued, with one save after it.
pub fn continued() -> Evidence {
    let mut evidence = decided();
    evidence.journal.clear();
    let mut went_on = decision("completed");
    went_on.0["action"] = "continue".into();
    let save = JournalLine(json!({"event": "effect", "label": "save", "run_dir": format!("/w/runs/{RUN}")}));
    evidence.journal.extend([save, went_on]);
    evidence
}

/// One item of the queue, listed.
pub fn listed() -> Evidence {
    let mut evidence = greeted();
    call(&mut evidence, "list_needs_attention", json!({}));
    let item = json!({"id": item(), "created_at": "2026-01-01T00:00:00Z", "category": "identity", "headline": "h", "next_action": "n",
        "status": "pending", "capability": {"digest": DIGEST, "allowed_actions": ["reject"]}});
    let list = json!({"open_count": 2, "items": [item, item]});
    answer(
        &mut evidence,
        2,
        json!({"structuredContent": list, "content": [{"type": "text", "text": list.to_string()}]}),
    );
    evidence
}

pub fn decision(status: &str) -> JournalLine {
    JournalLine(
        json!({"event": "decision", "action": "reject", "status": status, "idempotency_key": KEY, "operator": "root",
        "decided_by": "automation", "capability_digest": DIGEST, "run_dir": format!("/w/runs/{RUN}")}),
    )
}

/// Changes the form that was shown.
pub fn set_form(evidence: &mut Evidence, pointer: &str, value: Value) {
    change(evidence, "elicitation/create", |message| {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        message.pointer_mut(&format!("/params{parent}")).unwrap()[key] = value.clone();
    });
}

/// Changes what the person answered.
pub fn set_reply(evidence: &mut Evidence, reply: Value) {
    change(evidence, "confirmed", |message| {
        if message.get("id") == Some(&json!(77)) && message.get("method").is_none() {
            message["result"] = reply.clone();
        }
    });
}

pub fn set_result(evidence: &mut Evidence, key: &str, value: Value) {
    change(evidence, "structuredContent", |message| message["result"]["structuredContent"][key] = value.clone());
}

/// Changes the second item of the list.
pub fn set_item(evidence: &mut Evidence, key: &str, value: Value) {
    change(evidence, "open_count", |message| message["result"]["structuredContent"]["items"][1][key] = value.clone());
}

fn change(evidence: &mut Evidence, with: &str, mut how: impl FnMut(&mut Value)) {
    for frame in evidence.frames.iter_mut().filter(|frame| frame.text.contains(with)) {
        let mut message: Value = serde_json::from_str(&frame.text).unwrap();
        how(&mut message);
        frame.text = message.to_string();
    }
}

fn greeted() -> Evidence {
    let mut evidence = saved();
    evidence.exchanges.truncate(2);
    evidence.frames.truncate(4);
    evidence.steps.clear();
    evidence.journal.truncate(1);
    evidence.exchanges[0].arguments = json!({"capabilities": {"elicitation": {}}});
    evidence
}

fn item() -> String {
    hex(&Sha256::digest(RUN.as_bytes()))[..24].to_owned()
}

fn arguments() -> Value {
    json!({"attention_id": item(), "capability_digest": DIGEST, "idempotency_key": KEY, "confirm_run_must_not_proceed": true})
}

fn form() -> Value {
    let confirmed = json!({"type": "boolean", "title": "Yes"});
    json!({"message": format!("Reject {}?", item()), "requestedSchema": {"type": "object", "properties": {"confirmed": confirmed}, "required": ["confirmed"]}})
}

fn yes() -> Value {
    json!({"action": "accept", "content": {"confirmed": true}})
}

fn result() -> Value {
    let said = json!({"attention_id": item(), "decision_id": "d", "action": "reject", "status": "rejected", "success": false, "message": "m",
        "report_success": null, "next_transition": null, "transition_receipt_digest": null});
    json!({"structuredContent": said, "content": [{"type": "text", "text": said.to_string()}]})
}

fn call(evidence: &mut Evidence, tool: &str, arguments: Value) {
    call_with(evidence, tool, arguments, json!({}));
}

fn call_with(evidence: &mut Evidence, tool: &str, arguments: Value, more: Value) {
    let id = json!(evidence.exchanges.len() + 1);
    let mut params = json!({"name": tool, "arguments": arguments,
        "_meta": {"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}});
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let request = evidence.frames.len();
    frame(evidence, Way::Sent, json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}));
    evidence.exchanges.push(Exchange {
        server: "s1".into(),
        id,
        method: "tools/call".into(),
        tool: Some(tool.into()),
        arguments,
        request,
        answer: None,
        cancelled: None,
        step: None,
    });
}

fn answer(evidence: &mut Evidence, exchange: usize, result: Value) {
    let id = evidence.exchanges[exchange].id.clone();
    evidence.exchanges[exchange].answer = Some(evidence.frames.len());
    frame(evidence, Way::Received, json!({"jsonrpc": "2.0", "id": id, "result": result}));
}

fn frame(evidence: &mut Evidence, way: Way, message: Value) {
    let (text, journal) = (message.to_string(), evidence.journal.len());
    let bytes = text.len();
    let frame = Frame { server: "s1".into(), way, at_us: 0, journal, text, bytes, utf8: true, ended: true, raw: false };
    evidence.frames.push(frame);
}
