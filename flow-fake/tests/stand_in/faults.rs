//! What a script lets go wrong with a bridge.

use schemas::Schema;
use serde_json::{Value, json};

use super::bridged::{Bridge, continuable, lines, order, script, statuses};

#[test]
fn a_hang_answers_nothing_and_the_other_operations_go_on() {
    let world = continuable();
    script(&world, json!({"hang": "attended.act"}));
    let mut bridge = Bridge::start(&world);
    bridge.send(order(&world, "teach", "1"));
    world.await_event("held");
    assert_eq!(bridge.ask(json!({"op": "hello"}))["ok"], true);
    assert_eq!(statuses(&world), Vec::<String>::new());
    std::fs::remove_dir_all(world.control()).unwrap();
    assert_eq!(bridge.end(), Some(64));
}

#[test]
fn a_bridge_whose_caller_is_gone_ends_at_once_though_it_still_prepares() {
    let world = continuable();
    script(&world, json!({"hang": "sandbox.prepare"}));
    let mut bridge = Bridge::start(&world);
    bridge.send(json!({"op": "sandbox.prepare", "folder": "sandbox", "url": "http://127.0.0.1:1/"}));
    world.await_event("held");
    assert_eq!(bridge.end(), Some(0));
}

#[test]
fn a_hang_can_come_once_only() {
    let world = continuable();
    script(&world, json!({"hang": {"op": "attended.act", "times": 1}}));
    let mut bridge = Bridge::start(&world);
    bridge.send(order(&world, "teach", "1"));
    world.await_event("held");
    assert_eq!(bridge.act(&world, "teach", "2")["ok"], true);
    std::fs::remove_dir_all(world.control()).unwrap();
    assert_eq!(bridge.end(), Some(64));
}

#[test]
fn garbage_comes_before_or_instead_of_a_response() {
    let world = continuable();
    let hello = json!({"op": "hello"});
    script(&world, json!({"garbage": true}));
    let mut bridge = Bridge::start(&world);
    let id = bridge.send(hello.clone());
    let mut before = Vec::new();
    let response = loop {
        let line = bridge.line().unwrap();
        match serde_json::from_slice::<Value>(&line) {
            Ok(value) if value["id"] == id => break value,
            _ => before.push(line),
        }
    };
    assert_eq!((before.len(), &response["ok"]), (4, &json!(true)));
    script(&world, json!({"garbage": {"kind": "instead", "op": "hello"}}));
    bridge.send(hello.clone());
    for _ in 0..4 {
        assert!(bridge.line().is_some());
    }
    script(&world, json!({"garbage": "foreign_id"}));
    bridge.send(hello.clone());
    assert_eq!(bridge.answer()["id"], "another request");
    script(&world, json!({"garbage": "torn"}));
    bridge.send(hello);
    assert!(!bridge.line().unwrap().ends_with(b"\n"));
    assert_eq!(bridge.end(), Some(1));
    assert_eq!(lines(&world, "garbage").len(), 4);
}

#[test]
fn a_step_that_ends_a_process_ends_the_bridge() {
    let world = continuable();
    script(&world, json!({"live": true, "on": {"continue": ["effect", {"exit": 9}]}}));
    let mut bridge = Bridge::start(&world);
    bridge.send(order(&world, "continue", "1"));
    assert_eq!((bridge.line(), bridge.end()), (None, Some(9)));
    assert_eq!(statuses(&world), ["prepared", "delivery_started"]);
}

#[test]
fn a_bad_script_ends_the_bridge_with_the_harness_to_blame() {
    let world = continuable();
    for bridge in [
        json!({"on": {"approve": []}}),
        json!({"on": {"teach": ["run_dir"]}}),
        json!({"on": {"teach": [{"report": "verified"}]}}),
        json!({"on": {"continue": ["effect", {"refuse": "late"}]}}),
        json!({"on": {"continue": [{"decide": "perhaps"}]}}),
        json!({"crash_at": "sometime"}),
        json!({"validating": [{"pause": {"category": "halt"}}]}),
        json!({"garbage": "some"}),
        json!({"more": 1}),
    ] {
        let script = json!({"bridge": bridge});
        assert!(Schema::FlowScript.check(&script).is_err(), "{bridge}");
        std::fs::write(world.path("script.json"), script.to_string()).unwrap();
        let mut process = Bridge::start(&world);
        process.send(json!({"op": "hello"}));
        assert_eq!((process.line(), process.end()), (None, Some(64)), "{bridge}");
    }
}
