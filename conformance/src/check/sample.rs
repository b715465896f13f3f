//! One good piece of evidence, for the tests of the checks: a save that was asked for, made, and told.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::verdict::{Check, Failure, Verdict};
use crate::evidence::files::SeenFile;
use crate::evidence::ledger::{LedgerRow, SeenLedger};
use crate::evidence::{Evidence, Exchange, Exit, Frame, JournalLine, Seen, ServerEnd, ServerSeen, Step, Way};
use crate::scenario::files::FileKind;
use crate::scenario::model::After;
use crate::scenario::{RequirementId, ScenarioId};

pub const RUN: &str = "run-0123456789abcdef01234567";
const STORE: &str = "/w/runs/openadapt-agent";

/// The check finds nothing wrong, and looked at something.
pub fn holds(check: &Check, evidence: &Evidence) {
    let (failures, seen) = (check.judge)(evidence, Verdict::of(check.id)).finish();
    assert_eq!(failures, [], "{}", check.id);
    assert!(seen > 0, "{} looked at nothing", check.id);
}

/// The check has nothing to say of this evidence.
pub fn is_silent(check: &Check, evidence: &Evidence) {
    let (failures, seen) = (check.judge)(evidence, Verdict::of(check.id)).finish();
    assert_eq!((failures.as_slice(), seen), ([].as_slice(), 0), "{}", check.id);
}

/// The check finds something wrong: what.
pub fn fails(check: &Check, evidence: &Evidence) -> Vec<Failure> {
    let (failures, _) = (check.judge)(evidence, Verdict::of(check.id)).finish();
    assert!(!failures.is_empty(), "{} found nothing wrong", check.id);
    failures
}

pub fn saved() -> Evidence {
    let result = json!({
        "outcome": "done", "label": "Done", "safe_to_retry": false, "what_happened": "Saved and checked on this computer, without a signed receipt.",
        "next_action": "Nothing more.", "next_step": "none", "reason": "saved_and_checked", "record_changed": "yes",
        "proof": "local", "run_id": RUN, "request_id": "req-1", "workflow": "triage", "mode": "production",
        "contract_version": "openadapt.run-result/v1", "seconds": 0.1,
        "technical": {"execution_outcome": "VERIFIED", "transaction_outcome": "VERIFIED"},
    });
    let schema = json!({"type": "object", "properties": {"outcome": {"enum": ["done", "needs_review", "not_sure_if_saved", "did_not_run", "running"]}}});
    let tools = json!({"tools": [{"name": "run_workflow", "inputSchema": {"type": "object"}, "outputSchema": schema}]});
    let arguments = json!({"workflow": "triage", "request_id": "req-1", "inputs": {"note": "CnryNote42"}});
    let mut evidence = empty();
    exchange(&mut evidence, "initialize", json!({}), json!({"protocolVersion": "2025-11-25"}), None);
    exchange(&mut evidence, "tools/list", json!({}), tools, None);
    evidence.journal = vec![launch_line(RUN), line(RUN, "effect"), line(RUN, "exit")];
    let content = json!({"content": [{"type": "text", "text": format!("{result:#}")}], "structuredContent": result});
    exchange(&mut evidence, "tools/call", arguments, content, Some(0));
    let call = json!({"call": "run_workflow", "args": {}, "expect": {"outcome": "done"}});
    let seen = Seen::Answers { exchanges: vec![2], awaited: true };
    evidence.steps.push(Step { action: serde_json::from_value(call).unwrap(), seen });
    evidence
}

/// Appends a line that the server sent.
pub fn receive(evidence: &mut Evidence, text: &str) {
    let journal = evidence.journal.len();
    evidence.frames.push(frame(Way::Received, text.to_owned(), journal));
}

/// Changes one key of the only result, in the structured content and in the text.
pub fn set_result(evidence: &mut Evidence, key: &str, value: Value) {
    let at = evidence.exchanges[2].answer.unwrap();
    let mut answer = evidence.message(at).unwrap();
    answer["result"]["structuredContent"][key] = value;
    answer["result"]["content"][0]["text"] = format!("{:#}", answer["result"]["structuredContent"]).into();
    evidence.frames[at].text = answer.to_string();
}

/// The same request once more, answered with another run.
pub fn call_again(evidence: &mut Evidence, run: &str) {
    let mut again = evidence.exchanges[2].clone();
    let mut answer = evidence.answer(&again).unwrap();
    answer["id"] = json!(4);
    answer["result"]["structuredContent"]["run_id"] = run.into();
    again.id = json!(4);
    let journal = evidence.journal.len();
    again.answer = Some(evidence.frames.len());
    evidence.frames.push(frame(Way::Received, answer.to_string(), journal));
    evidence.exchanges.push(again);
}

pub fn launch_line(run: &str) -> JournalLine {
    let mut launch = line(run, "launch").0;
    launch["params_mode"] = "0600".into();
    launch["params_path"] = format!("{STORE}/dispatch/{run}/params.json").into();
    JournalLine(launch)
}

pub fn file(path: &str, text: &str) -> SeenFile {
    let bytes = text.len() as u64;
    SeenFile { path: path.into(), kind: Some(FileKind::File), mode: 0o600, bytes, text: text.into(), planted: false }
}

pub fn folder(path: &str) -> SeenFile {
    SeenFile {
        path: path.into(),
        kind: Some(FileKind::Dir),
        mode: 0o700,
        bytes: 0,
        text: String::new(),
        planted: false,
    }
}

fn line(run: &str, event: &str) -> JournalLine {
    JournalLine(
        json!({"event": event, "pid": 10, "ppid": 9, "launch": 1, "bundle": "triage", "run_dir": format!("/w/runs/{run}")}),
    )
}

fn exchange(evidence: &mut Evidence, method: &str, arguments: Value, result: Value, step: Option<usize>) {
    let id = json!(evidence.exchanges.len() + 1);
    let request = evidence.frames.len();
    let journal = evidence.journal.len();
    let asked = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": arguments}).to_string();
    let answer = json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
    evidence.frames.push(frame(Way::Sent, asked, journal));
    evidence.frames.push(frame(Way::Received, answer, journal));
    evidence.exchanges.push(Exchange {
        server: "s1".into(),
        id,
        method: method.into(),
        tool: (method == "tools/call").then(|| "run_workflow".into()),
        arguments,
        request,
        answer: Some(request + 1),
        cancelled: None,
        step,
    });
}

fn frame(way: Way, text: String, journal: usize) -> Frame {
    let bytes = text.len();
    Frame { server: "s1".into(), way, at_us: 0, journal, text, bytes, utf8: true, ended: true, raw: false }
}

fn empty() -> Evidence {
    let row = LedgerRow {
        namespace: "openadapt-agent/run-workflow/v1".into(),
        key: "k:1".into(),
        run_id: RUN.into(),
        outcome: Some("VERIFIED".into()),
    };
    Evidence {
        scenario: ScenarioId::parse("sample/saved").unwrap(),
        title: "A save is told as done".into(),
        proves: vec![RequirementId::parse("RES-done").unwrap()],
        frames: Vec::new(),
        exchanges: Vec::new(),
        journal: Vec::new(),
        servers: vec![ServerSeen {
            name: "s1".into(),
            pid: Some(8),
            modern: false,
            stderr: String::new(),
            stderr_bytes: 0,
            exit: Some(Exit::Code(0)),
            end: ServerEnd::Closed,
            tools: Some(1),
            greeted: Some(true),
        }],
        steps: Vec::new(),
        after: After::default(),
        actions: Default::default(),
        operator: Vec::new(),
        real_flow: false,
        clinic: None,
        files: vec![folder(STORE), folder(&format!("{STORE}/runs")), file(&format!("{STORE}/runs/{RUN}.json"), "{}")],
        ledger: SeenLedger::Rows(vec![row]),
        leftovers: Vec::new(),
        canaries: BTreeMap::from([("note".into(), "CnryNote42".into())]),
        printed: Default::default(),
        crash: None,
        stopped: None,
        seconds: 0.1,
        clock: Default::default(),
    }
}
