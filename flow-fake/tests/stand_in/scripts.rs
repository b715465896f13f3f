//! Scripts: which play is taken, and what is refused with whose fault it is.

use flow_fake::script::{STEP_NAMES, Script};
use schemas::Schema;
use serde_json::{Value, json};

use super::world::World;

/// One good argument for each step, more where a step has more forms. `null` stands for the mere word.
fn good_steps() -> Vec<Value> {
    vec![
        json!("run_dir"),
        json!("effect"),
        json!({"effect": {"label": "save"}}),
        json!({"gate": "admit"}),
        json!({"gate": {"refuse": ["Certification passed"]}}),
        json!({"refuse": "r"}),
        json!({"usage_error": "u"}),
        json!({"system_exit": "s"}),
        json!({"traceback": "t"}),
        json!("drive"),
        json!({"drive": {}}),
        json!({"drive": {"hold_before": "step_005", "hold_after": "step_000", "freeze_before": "step_001", "freeze_after": "step_004"}}),
        json!({"stdout": "o"}),
        json!({"stderr": "e"}),
        json!({"noise": {"to": "stdout", "kind": "binary", "bytes": 10}}),
        json!({"noise": {"to": "stderr", "kind": "newlines", "endless": true}}),
        json!({"report": "verified"}),
        json!({"report": {"shape": "canceled", "profile": "demo", "patch": {"a": 1}, "set": {"/b": 2}, "remove": ["/b"], "truncate": 5,
            "pad_to": 100_000, "nest": 9, "started_at": "stale", "not": "symlink"}}),
        json!({"report": {"bytes": "x"}}),
        json!({"report": {"hex": "ff"}}),
        json!({"report": {"not": "fifo"}}),
        json!({"report": {"not": "directory"}}),
        json!({"stale_report": "rolled_back"}),
        json!({"late_report": {"shape": "verified", "after": "late-1"}}),
        json!({"pause": {"category": "identity", "status": "approved", "tamper": "key_mode"}}),
        json!({"approval": {"request": {"expires_in_s": -1.5}}}),
        json!({"approval": "answer_approve"}),
        json!({"approval": "answer_decline"}),
        json!({"approval": "consume"}),
        json!({"hold": "h_1"}),
        json!({"hang": "until-killed"}),
        json!({"hang": {"ignore_sigterm": true}}),
        json!({"grandchild": {"name": "g", "holds": ["stdout", "stderr"], "own_group": true}}),
        json!({"kill": "both"}),
        json!({"exit": 255}),
        json!({"signal": "TERM"}),
    ]
}

fn bad_steps() -> Vec<Value> {
    vec![
        json!("boo"),
        json!("pause"),
        json!(7),
        json!({}),
        json!({"gate": "admit", "exit": 0}),
        json!({"gate": "refuse"}),
        json!({"gate": {"refuse": []}}),
        json!({"gate": {"refuse": ["x"], "more": 1}}),
        json!({"refuse": 1}),
        json!({"drive": {"hold_before": "step_006"}}),
        json!({"drive": {"url": "http://127.0.0.1:1/"}}),
        json!({"drive": true}),
        json!({"noise": {"to": "stdout", "kind": "text"}}),
        json!({"noise": {"to": "stdout", "kind": "text", "bytes": 1, "endless": true}}),
        json!({"noise": {"to": "nowhere", "kind": "text", "bytes": 1}}),
        json!({"report": "vverified"}),
        json!({"report": {"shape": "verified", "colour": "red"}}),
        json!({"report": {"hex": "f"}}),
        json!({"report": {}}),
        json!({"report": {"not": "symlink"}}),
        json!({"report": {"shape": "verified", "bytes": "x"}}),
        json!({"report": {"bytes": "x", "patch": {}}}),
        json!({"stale_report": {"shape": "verified"}}),
        json!({"late_report": {"shape": "verified"}}),
        json!({"late_report": {"shape": "verified", "after": "../x"}}),
        json!({"pause": {}}),
        json!({"pause": {"category": "Identity"}}),
        json!({"pause": {"category": "identity", "tamper": "all"}}),
        json!({"approval": {"request": {}}}),
        json!({"approval": "maybe"}),
        json!({"hold": ""}),
        json!({"hold": "a/b"}),
        json!({"hang": "a while"}),
        json!({"grandchild": {}}),
        json!({"grandchild": {"name": "g", "holds": ["stdin"]}}),
        json!({"kill": "all"}),
        json!({"exit": 256}),
        json!({"exit": -1}),
        json!({"signal": "HUP"}),
    ]
}

fn one(step: &Value) -> Value {
    json!({"steps": [step]})
}

fn parses(script: &Value) -> bool {
    Script::parse(script.to_string().as_bytes()).is_ok()
}

#[test]
fn the_schema_and_the_player_take_the_same_steps() {
    for step in good_steps() {
        assert!(parses(&one(&step)), "{step}: {:?}", Script::parse(one(&step).to_string().as_bytes()));
        assert!(Schema::FlowScript.check(&one(&step)).is_ok(), "{step}: {:?}", Schema::FlowScript.check(&one(&step)));
    }
    for step in bad_steps() {
        assert!(!parses(&one(&step)), "{step}");
        assert!(Schema::FlowScript.check(&one(&step)).is_err(), "{step}");
    }
}

#[test]
fn every_step_name_has_a_good_example() {
    let names = |step: &Value| {
        step.as_str().map_or_else(|| step.as_object().unwrap().keys().next().unwrap().clone(), str::to_owned)
    };
    let tried: Vec<String> = good_steps().iter().map(names).collect();
    for name in STEP_NAMES {
        assert!(tried.iter().any(|tried| tried == name), "{name}");
    }
}

#[test]
fn the_schema_and_the_player_take_the_same_scripts() {
    let step = json!([{"exit": 0}]);
    let good = [
        json!({"steps": []}),
        json!({"$schema": "x", "steps": step}),
        json!({"plays": [{"steps": step}]}),
        json!({"plays": [{"when": {"bundle": "a", "param": {"name": "n", "equals": 1}, "launch": 2}, "steps": step}]}),
    ];
    let bad = [
        json!([]),
        json!({}),
        json!({"plays": []}),
        json!({"plays": [{"steps": step}], "steps": step}),
        json!({"steps": step, "play": 1}),
        json!({"steps": {}}),
        json!({"plays": [{}]}),
        json!({"plays": [{"steps": step, "unless": {}}]}),
        json!({"plays": [{"when": {"bundel": "a"}, "steps": step}]}),
        json!({"plays": [{"when": {"param": {"name": "n"}}, "steps": step}]}),
    ];
    for script in good {
        assert!(parses(&script) && Schema::FlowScript.check(&script).is_ok(), "{script}");
    }
    for script in bad {
        assert!(!parses(&script) && Schema::FlowScript.check(&script).is_err(), "{script}");
    }
}

#[test]
fn a_shape_under_a_profile_that_flow_never_uses_for_it_is_refused() {
    for (shape, profile) in
        [("verified", "demo"), ("verified", "none"), ("completed_unverified", "standard"), ("no_profile_halt", "demo")]
    {
        assert!(!parses(&one(&json!({"report": {"shape": shape, "profile": profile}}))), "{shape} {profile}");
    }
    assert!(parses(&one(&json!({"report": {"shape": "verified", "patch": {"execution_profile": "demo"}}}))));
}

#[test]
fn a_bad_script_is_exit_64_with_a_sentence_a_hint_and_a_journal_line() {
    let unplayable = [
        json!(["boo"]),
        json!([{"report": {"shape": "verified", "remove": ["/nothing"]}}]),
        json!([{"report": {"shape": "verified", "set": {"/a/b": 1}}}]),
        json!([{"report": {"shape": "verified", "pad_to": 10}}]),
        json!([{"kill": "server"}]),
        json!([{"approval": "consume"}]),
    ];
    for steps in unplayable {
        let world = World::new();
        let ended = world.play(steps.clone());
        assert_eq!(ended.code, Some(64), "{steps}: {ended:?}");
        let (sentence, hint) = ended.stderr.split_once("\n\nhint: ").unwrap_or_else(|| panic!("{ended:?}"));
        assert!(sentence.starts_with("flow-fake: ") && !hint.trim().is_empty());
        let line = world.line("bad_script");
        assert_eq!((&line["bundle"], &line["launch"]), (&json!("alpha"), &json!(1)));
        assert!(sentence.ends_with(line["problem"].as_str().unwrap()), "{line}");
        assert_eq!(world.journal().last().unwrap()["code"], 64);
    }
}

#[test]
fn the_message_names_the_play_the_step_and_what_is_allowed() {
    let error =
        Script::parse(json!({"plays": [{"steps": []}, {"steps": ["effect", {"exit": 999}]}]}).to_string().as_bytes())
            .unwrap_err();
    assert!(error.to_string().starts_with("step 2 of play 2 (exit) isn't usable"), "{error}");
    assert!(STEP_NAMES.iter().all(|name| error.hint().contains(name)));
}

#[test]
fn a_script_that_is_set_but_missing_is_a_bad_script() {
    let world = World::new();
    let output = world.command(&["run", "alpha"]).env("FLOW_FAKE_SCRIPT", "nowhere.json").output().unwrap();
    assert_eq!(output.status.code(), Some(64));
    assert!(world.line("bad_script")["problem"].as_str().unwrap().contains("nowhere.json"));
}

#[test]
fn the_first_play_whose_conditions_all_hold_is_taken() {
    let world = World::new();
    world.bundle("beta");
    let plays = json!({"plays": [
        {"when": {"bundle": "beta", "launch": 2}, "steps": [{"exit": 12}]},
        {"when": {"bundle": "beta"}, "steps": [{"exit": 11}]},
        {"when": {"param": {"name": "note", "equals": "x"}}, "steps": [{"exit": 13}]},
        {"when": {"param": {"name": "n", "equals": 7}}, "steps": [{"exit": 14}]},
        {"when": {"launch": 3}, "steps": [{"exit": 15}]},
    ]});
    std::fs::write(world.path("script.json"), plays.to_string()).unwrap();
    let code = |args: &[&str]| world.call(&[&["--script", "script.json", "run"], args].concat()).code.unwrap();
    assert_eq!(code(&["beta"]), 11);
    assert_eq!(code(&["beta"]), 12);
    assert_eq!(code(&["alpha", "--param", "note=x"]), 13);
    assert_eq!(code(&["alpha", "--param", "n=7"]), 14);
    assert_eq!(code(&["alpha"]), 15);
    assert_eq!(code(&["alpha"]), 64, "no play matches");
    assert!(world.line("bad_script")["problem"].as_str().unwrap().contains("no play"));
}
