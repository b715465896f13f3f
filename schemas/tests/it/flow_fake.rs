//! What the judge writes for flow-fake, and what flow-fake writes for the judge.

use schemas::Schema;
use serde_json::json;

use crate::held_against::{accepts, refuses};

#[test]
fn every_step_can_be_written_as_it_was_planned() {
    for step in [
        json!("run_dir"),
        json!("effect"),
        json!({ "effect": { "label": "second" } }),
        json!({ "gate": "admit" }),
        json!({ "gate": { "refuse": ["Certification passed", "Encrypted bundle"] } }),
        json!({ "refuse": "bundle could not be loaded safely" }),
        json!({ "usage_error": "x" }),
        json!({ "system_exit": "x" }),
        json!({ "traceback": "x" }),
        json!({ "stdout": "x" }),
        json!({ "stderr": "x" }),
        json!({ "noise": { "to": "stderr", "kind": "binary", "bytes": 50_000_000 } }),
        json!({ "noise": { "to": "stdout", "kind": "newlines", "endless": true } }),
        json!({ "report": "verified" }),
        json!({ "report": { "shape": "canceled", "profile": "none", "patch": { "success": null }, "set": { "/results/0/ok": 1 },
            "remove": ["/halt"], "started_at": "stale" } }),
        json!({ "report": { "not": "fifo" } }),
        json!({ "report": { "bytes": "{" } }),
        json!({ "report": { "hex": "ff00" } }),
        json!({ "report": { "shape": "verified", "truncate": 10, "pad_to": 70_000_000, "nest": 129, "not": "symlink" } }),
        json!({ "stale_report": "verified" }),
        json!({ "late_report": { "shape": "verified", "after": "late" } }),
        json!({ "pause": { "category": "identity" } }),
        json!({ "pause": { "category": "never_heard_of", "status": "rejected", "tamper": "key_mode" } }),
        json!({ "approval": { "request": { "expires_in_s": -1 } } }),
        json!({ "approval": "answer_decline" }),
        json!({ "hold": "before_save" }),
        json!({ "hang": "until-killed" }),
        json!({ "hang": { "ignore_sigterm": true } }),
        json!({ "grandchild": { "name": "g1", "holds": ["stdout", "stderr"], "own_group": true } }),
        json!({ "kill": "both" }),
        json!({ "exit": 0 }),
        json!({ "signal": "SEGV" }),
    ] {
        accepts(Schema::FlowScript, &json!({ "steps": [step] }));
    }
}

#[test]
fn a_step_that_means_nothing_is_refused_where_it_stands() {
    for (step, instance_path) in [
        (json!("save"), ""),
        (json!({}), ""),
        (json!({ "exit": 0, "effect": { "label": "x" } }), ""),
        (json!({ "sleep": 5 }), ""),
        (json!({ "exit": 256 }), "/exit"),
        (json!({ "signal": "HUP" }), "/signal"),
        (json!({ "kill": "all" }), "/kill"),
        (json!({ "hold": "../x" }), "/hold"),
        (json!({ "report": "fine" }), "/report"),
        (json!({ "report": { "shape": "fine" } }), "/report/shape"),
        (json!({ "report": { "shape": "verified", "later_key": 1 } }), "/report"),
        (json!({ "report": { "hex": "f" } }), "/report/hex"),
        (json!({ "report": { "shape": "verified", "bytes": "{" } }), "/report"),
        (json!({ "report": { "not": "symlink" } }), "/report"),
        (json!({ "report": { "bytes": "{", "nest": 3 } }), "/report/nest"),
        (json!({ "late_report": { "shape": "verified" } }), "/late_report"),
        (json!({ "late_report": { "shape": "verified", "after": "x", "later_key": 1 } }), "/late_report"),
        (json!({ "pause": { "category": "identity", "tamper": "all" } }), "/pause/tamper"),
        (json!({ "pause": {} }), "/pause"),
        (json!({ "noise": { "to": "stdout", "kind": "text" } }), "/noise"),
        (json!({ "noise": { "to": "stdout", "kind": "text", "bytes": 1, "endless": true } }), "/noise"),
        (json!({ "gate": { "refuse": [] } }), "/gate/refuse"),
        (json!({ "gate": { "refuse": ["Certification passed: no"] } }), "/gate/refuse/0"),
    ] {
        let path = format!("/steps/0{instance_path}");
        refuses(Schema::FlowScript, &json!({ "steps": [step, "run_dir"] }), &path);
    }
}

#[test]
fn a_script_has_plays_or_steps_and_not_both() {
    let when = json!({ "bundle": "b", "param": { "name": "note", "equals": "x" }, "launch": 2 });
    let plays = json!([{ "when": when, "steps": [] }, { "steps": ["run_dir"] }]);
    accepts(Schema::FlowScript, &json!({ "plays": plays }));
    accepts(Schema::FlowScript, &json!({ "steps": [] }));
    refuses(Schema::FlowScript, &json!({}), "");
    refuses(Schema::FlowScript, &json!({ "plays": plays, "steps": [] }), "");
    refuses(Schema::FlowScript, &json!({ "plays": [] }), "/plays");
    refuses(
        Schema::FlowScript,
        &json!({ "plays": [{ "when": { "launch": 0 }, "steps": [] }] }),
        "/plays/0/when/launch",
    );
    refuses(Schema::FlowScript, &json!({ "plays": [{ "when": {} }] }), "/plays/0");
}

#[test]
fn a_launch_says_everything_and_other_lines_who_and_where() {
    let at = "2026-11-29T18:38:07.371259+00:00";
    let launch = json!({
        "seq": 0, "at": at, "event": "launch", "pid": 9, "ppid": 8, "pgid": 9, "sid": 8, "launch": 1, "bundle": "b",
        "run_dir": "r", "argv": ["flow-fake", "run", "b"], "params": { "note": "x" }, "params_mode": "0600", "params_path": "p",
    });
    let schema = Schema::FlowJournalLine;
    accepts(schema, &launch);
    for key in ["ppid", "pgid", "sid", "argv", "params", "params_mode", "params_path", "bundle"] {
        let mut less = launch.clone();
        less.as_object_mut().unwrap().remove(key);
        refuses(schema, &less, "");
    }
    let line = |event: &str| json!({ "at": at, "event": event, "pid": 9, "launch": 1, "bundle": "b", "run_dir": null });
    for event in ["gate", "run_dir", "effect", "report", "pause", "approval", "killing"] {
        accepts(schema, &line(event));
    }
    for (event, key) in [("held", "name"), ("released", "name"), ("grandchild", "name"), ("exit", "code")] {
        refuses(schema, &line(event), "");
        let mut full = line(event);
        full[key] = if key == "name" { json!("g1") } else { json!(null) };
        accepts(schema, &full);
    }
    accepts(
        schema,
        &json!({ "at": at, "event": "exit", "pid": 9, "launch": 1, "bundle": "b", "run_dir": null, "signal": "KILL" }),
    );
    refuses(schema, &line("saved"), "/event");
}
