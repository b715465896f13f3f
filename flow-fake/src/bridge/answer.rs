//! Each operation and its response.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::serve::Bridge;
use super::{authoring, bundle};
use crate::attended::{self, NotDone, Order, Request, Stage};
use crate::attention;
use crate::drive;
use crate::journal::Journal;
use crate::script::BridgeSpec;

/// The body of the response to one request.
pub fn answer(bridge: &Bridge, spec: &BridgeSpec, op: &str, request: &Value) -> Value {
    let found = match op {
        "hello" => Some(hello(bridge, spec)),
        "bundle.describe" => request["dir"].as_str().map(|dir| match bundle::describe(Path::new(dir)) {
            Some(bundle) => json!({"ok": true, "bundle": bundle}),
            None => json!({"ok": false, "kind": "load_error"}),
        }),
        "attention.list" => runs_dir(request).map(|root| json!({"ok": true, "items": attention::list(&root)})),
        "attention.get" => get(request),
        "attention.for_run" => for_run(request),
        "attended.act" => return act(bridge, spec, request),
        "sandbox.prepare" => prepare(request),
        op if op.starts_with("authoring.") => return authoring::answer(bridge, &spec.authoring, op, request),
        "close" => Some(json!({"ok": true})),
        _ => Some(json!({"ok": false, "kind": "unknown_op"})),
    };
    found.unwrap_or_else(failed)
}

fn hello(bridge: &Bridge, spec: &BridgeSpec) -> Value {
    let version = crate::FLOW_VERSION.trim_start_matches("openadapt-flow ");
    let mut body = json!({
        "ok": true,
        "flow_version": version,
        "attended": spec.attended,
        "live": bridge.is_live(spec),
        "stand_in": true,
        "sandbox": true,
    });
    if let Err(missing) = drive::find() {
        body["sandbox"] = json!(false);
        body["sandbox_reason"] = json!(missing.word());
    }
    body
}

/// A bundle that can be run, and the words that run it; else why not, in one closed word.
fn prepare(request: &Value) -> Option<Value> {
    let (folder, url) = (request["folder"].as_str()?, request["url"].as_str()?);
    drive::Site::of(url)?;
    Some(match drive::prepare(Path::new(folder), url, request["headed"] == true) {
        Ok(prepared) => json!({
            "ok": true,
            "engine": "driven",
            "bundle": prepared.bundle,
            "command": prepared.command,
        }),
        Err(not_prepared) => json!({"ok": false, "kind": "failed", "sandbox_reason": not_prepared.word()}),
    })
}

fn get(request: &Value) -> Option<Value> {
    let (root, id) = (runs_dir(request)?, request["attention_id"].as_str()?);
    let item = attention::resolve(&root, id).and_then(|folder| attention::item(&root, &folder));
    Some(json!({"ok": true, "item": item}))
}

fn for_run(request: &Value) -> Option<Value> {
    let (root, folder) = (runs_dir(request)?, PathBuf::from(request["run_dir"].as_str()?));
    let item = root.join(folder).canonicalize().ok().and_then(|folder| attention::item(&root, &folder));
    Some(json!({"ok": true, "item": item}))
}

/// Notes that it was asked, and how it ended when that is no decision.
fn act(bridge: &Bridge, spec: &BridgeSpec, request: &Value) -> Value {
    let Ok(mut journal) = Journal::open(bridge.journal.as_deref()) else { return failed() };
    let Some(order) = order(request) else {
        let _ = journal.about_nothing("bridge", json!({"op": "attended.act", "answer": "failed"}));
        return failed();
    };
    let Ok(order) = order else {
        let _ = journal.about_nothing("bridge", json!({"op": "attended.act", "answer": "refused"}));
        return json!({"ok": false, "kind": "refused"});
    };
    if journal.resume(&order.run_dir).is_err() {
        return failed();
    }
    let asked = json!({"op": "attended.act", "attention_id": order.attention_id, "action": order.request.action});
    let _ = journal.write("bridge", asked.clone());
    let _serial = order.request.action.continues().then(|| bridge.one_at_a_time());
    let mut stage =
        Stage { spec, live: bridge.is_live(spec), control: bridge.control.clone(), url: bridge.url(), journal };
    match attended::act(&order, &mut stage) {
        Ok(decision) => json!({"ok": true, "decision": shown(&decision)}),
        Err(not_done) => {
            let kind = if matches!(not_done, NotDone::Refused(_)) { "refused" } else { "failed" };
            let facts = json!({"answer": kind, "why": not_done.to_string()});
            let _ = stage.journal.write("bridge", merged(asked, facts));
            json!({"ok": false, "kind": kind})
        }
    }
}

/// `None` when a field is missing or wrong; an error when there is no such run.
fn order(request: &Value) -> Option<Result<Order, NotDone>> {
    let text = |key: &str| request[key].as_str().map(str::to_owned);
    let (root, attention_id) = (runs_dir(request)?, text("attention_id")?);
    let (operator, decided_by) = (text("operator")?, text("decided_by")?);
    let known = matches!(decided_by.as_str(), "human" | "automation" | "unknown");
    let request = Request::parse(request["request"].clone()).filter(|_| known)?;
    let run_dir = attention::resolve(&root, &attention_id);
    Some(
        run_dir
            .map(|run_dir| Order { attention_id, run_dir, request, operator, decided_by })
            .ok_or(NotDone::Refused("there is no such run")),
    )
}

fn shown(decision: &Value) -> Map<String, Value> {
    const SHOWN: [&str; 6] =
        ["decision_id", "action", "status", "report_success", "next_transition", "transition_receipt_digest"];
    SHOWN.iter().map(|key| ((*key).to_owned(), decision[*key].clone())).collect()
}

fn runs_dir(request: &Value) -> Option<PathBuf> {
    Path::new(request["runs_dir"].as_str()?).canonicalize().ok()
}

fn merged(mut left: Value, right: Value) -> Value {
    if let (Value::Object(left), Value::Object(right)) = (&mut left, right) {
        left.extend(right);
    }
    left
}

fn failed() -> Value {
    json!({"ok": false, "kind": "failed"})
}
