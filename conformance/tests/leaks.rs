//! An agent that leaks: one thing that it knows at a time, and the oracle must find each of them.

#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]

use std::fs;
use std::path::PathBuf;

use conformance::check::judge;
use conformance::check::verdict::Judgement;
use conformance::evidence::Evidence;
use conformance::report::Folder;
use conformance::report::excerpt::judged;
use conformance::run::events::{Event, Reader};
use conformance::run::perform;
use conformance::run::subject::{Player, Subject};
use conformance::scenario::expand::expand;

/// A world with a canary for each source that the design names, two of them in every world.
const KNOWS: &str = r#"
id = "liars/leaks"
title = "An agent that knows much says nothing"
proves = ["PRIV-logs-hold-no-value-label-or-path"]
deadline_s = 5
[[world.bundle]]
dir = "triage"
name = "$canary:label"
card_text = '{"purpose": "$canary:card"}'
params = { note = "$canary:recorded" }
steps = [{ id = "s1", intent = "$canary:intent", action = "key", key = "Tab" }]
[flow]
steps = [{ stdout = "$canary:stdout" }, { stderr = "$canary:stderr" }, { traceback = "$canary:exception" }, { screen = "$canary:screen" }]
[[do]]
call = "run_workflow"
args = { workflow = "$canary:workflow", request_id = "$rid", inputs = { note = "$canary:input" }, "$canary:key" = 1 }
[[do]]
send = ['{"jsonrpc":"2.0","id":"x","note":$canary:request']
answers = [{ error = { code = -32700 } }]
"#;

/// Each source, where it is said, and how it is spelled.
const LEAKS: [(&str, &str, &str, &str); 28] = [
    ("input", "input", "wire", "plain"),
    ("input", "input", "stderr", "base64"),
    ("input", "input", "runs/run-1.json", "hex"),
    ("recorded", "recorded", "wire", "reversed"),
    ("recorded", "recorded", "requests/00.json", "plain"),
    ("label", "label", "stderr", "upper"),
    ("label", "label", "ledger.sqlite-wal", "plain"),
    ("intent", "intent", "wire", "escaped"),
    ("intent", "intent", "dispatch/run-1/intent.json", "percent"),
    ("screen", "screen", "wire", "base64url"),
    ("screen", "screen", "dispatch/run-1/exit.json", "plain"),
    ("path", "world-path", "wire", "plain"),
    ("path", "world-path", "runs/run-1.json", "base64"),
    ("exception", "traceback", "stderr", "plain"),
    ("exception", "traceback", "wire", "numbers"),
    ("stdout", "stdout", "wire", "hex"),
    ("stdout", "stdout", "runs/run-1.json", "plain"),
    ("stderr", "stderr", "wire", "percent"),
    ("stderr", "stderr", "ledger.sqlite", "reversed"),
    ("environment", "world-environment", "wire", "base64"),
    ("environment", "world-environment", "dispatch/run-1/stdout.log", "plain"),
    ("card", "card", "stderr", "plain"),
    ("card", "card", "requests/00.json", "base64url"),
    ("workflow", "workflow", "wire", "upper"),
    ("workflow", "workflow", "name", "plain"),
    ("key", "key", "stderr", "plain"),
    ("key", "key", "runs/run-1.json", "escaped"),
    ("request", "request", "wire", "plain"),
];

fn program() -> String {
    let test = std::env::current_exe().unwrap();
    let built = test.parent().and_then(|deps| deps.parent()).unwrap();
    PathBuf::from(built).join("examples/liar").display().to_string()
}

fn seen(lie: &str) -> (Evidence, Judgement) {
    let scenario = expand("liars", KNOWS).unwrap().remove(0);
    let subject = Subject {
        agent: vec![program(), lie.into()],
        flow: vec![program(), "flow".into()],
        mortal: None,
        browser: None,
        real_flow: None,
        player: Player::StandIn,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let evidence = tokio::task::LocalSet::new().block_on(&runtime, perform(&scenario, &subject));
    let judgement = judge(&evidence);
    (evidence, judgement)
}

#[test]
fn an_agent_that_keeps_everything_to_itself_is_green_and_was_searched() {
    let (evidence, judgement) = seen("honest");
    assert_eq!(judgement.failures, []);
    assert!(judgement.looked["no-value-leaks"] > 5);
    for source in [
        "input",
        "recorded",
        "label",
        "intent",
        "screen",
        "exception",
        "stdout",
        "stderr",
        "card",
        "workflow",
        "key",
        "request",
        "world-path",
        "world-environment",
    ] {
        assert!(evidence.canaries.contains_key(source), "nobody planted {source}");
    }
}

#[test]
fn each_source_is_found_wherever_and_however_it_is_said() {
    for (source, told, place, form) in LEAKS {
        // What Flow was told to say stands in its script under the verb that says it.
        let word = if matches!(source, "exception") { told } else { source };
        let (_, judgement) = seen(&format!("leaks {word} {place} {form}"));
        let canary = if told == "traceback" { "exception" } else { told };
        let found = judgement
            .failures
            .iter()
            .any(|failure| failure.check == "no-value-leaks" && failure.expected.contains(&format!("{canary:?}")));
        assert!(found, "{source} at {place}, {form}: {:#?}", judgement.failures);
        let others: Vec<_> = judgement.failures.iter().filter(|failure| failure.check != "no-value-leaks").collect();
        assert!(others.is_empty(), "{source} at {place}, {form}: {others:#?}");
    }
}

/// The judge's own reports are read by more people than the run: what leaked is shown in them, but for the value.
#[test]
fn no_report_of_the_judge_repeats_what_leaked() {
    for form in ["plain", "base64", "hex", "reversed", "upper"] {
        let (evidence, judgement) = seen(&format!("leaks input wire {form}"));
        let folder = tempfile::tempdir().unwrap();
        let mut reports = Folder::create(folder.path()).unwrap();
        reports.event(&Event::Judged(judged(&evidence, &judgement)));
        drop(reports);
        let oracle = conformance::leak::Oracle::of(&evidence.canaries);
        let report = fs::read(folder.path().join("report.jsonl")).unwrap();
        assert!(report.len() > 200);
        assert_eq!(
            oracle.find(&report, conformance::leak::oracle::Looking::ForAll).into_iter().collect::<Vec<_>>(),
            [],
            "{form}"
        );
    }
}
