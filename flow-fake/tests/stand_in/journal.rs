//! The launch journal.

use std::collections::BTreeSet;

use schemas::Schema;
use serde_json::{Value, json};

use super::bridged::{Bridge, continuable, lines, order, script};
use super::world::{World, assert_valid};

#[test]
fn a_launch_line_says_everything_that_the_judge_needs() {
    let world = World::new();
    std::fs::write(world.path("inputs"), r#"{"note": "x"}"#).unwrap();
    std::fs::set_permissions(world.path("inputs"), std::os::unix::fs::PermissionsExt::from_mode(0o640)).unwrap();
    let args = ["run", "alpha", "--profile", "demo", "--params-file", "inputs", "--run-dir", "run"];
    let child = world.command(&args).spawn().unwrap();
    let pid = child.id();
    assert!(child.wait_with_output().unwrap().status.success());
    let line = world.line("launch");
    assert_eq!(line["pid"], pid);
    assert_eq!(line["ppid"], std::process::id());
    assert!(line["pgid"].is_u64() && line["sid"].is_u64());
    assert_eq!(line["argv"].as_array().unwrap()[1..], args.map(Value::from));
    assert_eq!(line["params"], json!({"note": "x"}));
    assert_eq!(line["params_mode"], "0640");
    assert_eq!(line["params_path"], "inputs");
    assert_eq!((&line["bundle"], &line["launch"]), (&json!("alpha"), &json!(1)));
    assert_eq!(line["run_dir"], json!(world.run_dir().canonicalize().unwrap()));
    assert_eq!(line["stdin"], "null");
}

#[test]
fn every_line_holds_under_its_schema() {
    let world = World::new();
    world.release("h");
    world.release("g");
    world.play(json!([
        {"gate": "admit"}, "run_dir", "effect", {"effect": {"label": "second"}}, {"report": "failed_platform"},
        {"pause": {"category": "halt"}}, {"approval": {"request": {"expires_in_s": 900}}}, {"hold": "h"}, {"grandchild": {"name": "g"}},
        {"signal": "KILL"}
    ]));
    world.call(&["run", "--bogus"]);
    world.call(&["pause", "run", "--set", "reject"]);
    world.play(json!(["boo"]));
    let events: BTreeSet<String> = world.events().into_iter().collect();
    assert_eq!(events.len(), 12, "{events:?}");
    for line in world.journal() {
        assert_valid(Schema::FlowJournalLine, &line);
    }
}

#[test]
fn lines_of_a_bridge_hold_under_the_schema_too() {
    let world = continuable();
    script(&world, json!({"live": true, "garbage": {"kind": "before", "op": "close"}, "crash_at": "after"}));
    let mut bridge = Bridge::start(&world);
    assert_eq!(bridge.act(&world, "skip", "1")["kind"], "refused");
    bridge.send(order(&world, "continue", "2"));
    assert_eq!(bridge.line(), None);
    let mut bridge = Bridge::start(&world);
    bridge.send(json!({"op": "close"}));
    assert_eq!(bridge.end(), Some(0));
    let mut events: Vec<String> = world.events();
    events.retain(|event| ["bridge", "decision", "crash", "garbage"].contains(&event.as_str()));
    let wanted =
        ["bridge", "bridge", "bridge", "bridge", "decision", "decision", "decision", "crash", "bridge", "garbage"];
    assert_eq!(events, wanted);
    for line in world.journal() {
        assert_valid(Schema::FlowJournalLine, &line);
    }
    for line in lines(&world, "decision") {
        assert_eq!((&line["bundle"], &line["launch"]), (&json!("alpha"), &json!(1)));
    }
}

#[test]
fn launches_are_numbered_for_each_bundle() {
    let world = World::new();
    world.bundle("beta");
    for bundle in ["alpha", "beta", "alpha", "alpha/"] {
        world.call(&["run", bundle, "--dry-run"]);
    }
    let numbers: Vec<Value> = world
        .journal()
        .iter()
        .filter(|line| line["event"] == "launch")
        .map(|line| json!([line["bundle"], line["launch"]]))
        .collect();
    assert_eq!(json!(numbers), json!([["alpha", 1], ["beta", 1], ["alpha", 2], ["alpha", 3]]));
}

#[test]
fn concurrent_launches_get_each_number_once_and_no_line_is_torn() {
    let world = World::new();
    let children: Vec<_> = (0..24)
        .map(|at| {
            let run_dir = format!("run-{at}");
            world.command(&["run", "alpha", "--profile", "demo", "--run-dir", &run_dir]).spawn().unwrap()
        })
        .collect();
    for child in children {
        assert!(child.wait_with_output().unwrap().status.success());
    }
    let journal = world.journal();
    assert_eq!(journal.len(), 24 * 6);
    let numbers: BTreeSet<u64> =
        journal.iter().filter(|line| line["event"] == "launch").map(|line| line["launch"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=24).collect());
    for line in journal.iter().filter(|line| line["event"] == "report") {
        let launch =
            journal.iter().find(|other| other["event"] == "launch" && other["launch"] == line["launch"]).unwrap();
        assert_eq!(launch["pid"], line["pid"]);
    }
}

#[test]
fn a_torn_last_line_of_a_killed_writer_does_not_stop_the_counting() {
    let world = World::new();
    world.call(&["run", "alpha", "--dry-run"]);
    let mut text = std::fs::read(world.path("journal")).unwrap();
    text.extend_from_slice(b"{\"event\":\"launch\",\"bundle\":\"alpha\xc3\n");
    std::fs::write(world.path("journal"), &text).unwrap();
    world.call(&["run", "alpha", "--dry-run"]);
    let after = std::fs::read(world.path("journal")).unwrap().split_off(text.len());
    let line: Value = serde_json::from_slice(after.split(|byte| *byte == b'\n').next().unwrap()).unwrap();
    assert_eq!(line["launch"], 2);
}

#[test]
fn without_a_journal_a_run_plays_all_the_same() {
    let world = World::new();
    let output = world.command(&["run", "alpha", "--run-dir", "run"]).env_remove("FLOW_FAKE_JOURNAL").output().unwrap();
    assert!(output.status.success());
    assert!(!world.path("journal").exists());
}
