//! Reject, teach and escalate through the bridge.

use flow_fake::attended::{Request, capability_digest};
use serde_json::{Value, json};

use super::bridged::{Bridge, continuable, lines, order, paused, script, statuses};

fn refused(answer: &Value) {
    assert_eq!(*answer, json!({"ok": false, "kind": "refused"}));
}

#[test]
fn teach_and_escalate_leave_a_record_and_nothing_else() {
    for (action, status) in [("teach", "needs_demonstration"), ("escalate", "escalated")] {
        let world = continuable();
        let before = (world.report(), world.json("pending_escalation.json"), world.json("attended_capability.json"));
        let mut bridge = Bridge::start(&world);
        let queue = bridge.list();
        let decision = bridge.act(&world, action, "1")["decision"].clone();
        assert_eq!((&decision["action"], &decision["status"]), (&json!(action), &json!(status)));
        assert_eq!((&decision["report_success"], &decision["next_transition"]), (&Value::Null, &json!("step_001")));
        assert_eq!(decision.as_object().unwrap().len(), 6);
        assert_eq!(statuses(&world), [status]);
        assert_eq!(
            before,
            (world.report(), world.json("pending_escalation.json"), world.json("attended_capability.json"))
        );
        assert_eq!(bridge.list(), queue);
        let noted = lines(&world, "decision");
        assert_eq!(noted.len(), 1);
        assert_eq!((&noted[0]["operator"], &noted[0]["decided_by"]), (&json!("judge"), &json!("automation")));
        assert_eq!(noted[0]["decision_id"], decision["decision_id"]);
    }
}

#[test]
fn a_reject_ends_the_run_and_everything_after_it_is_refused() {
    for (shape, outcome) in [("failed_platform", "CANCELED"), ("reconciliation_required", "RECONCILIATION_REQUIRED")] {
        let world = paused(shape, json!({"category": "halt"}));
        let mut bridge = Bridge::start(&world);
        assert_eq!(bridge.act(&world, "reject", "1")["decision"]["status"], "rejected");
        assert_eq!(world.json("pending_escalation.json")["status"], "rejected");
        assert_eq!(
            (&world.report()["transaction_outcome"], &world.report()["canceled"]),
            (&json!(outcome), &json!(true))
        );
        let item = &bridge.list()[0];
        assert_eq!((&item["status"], &item["durably_paused"]), (&json!("rejected"), &json!(false)));
        for action in ["reject", "teach", "escalate", "continue"] {
            refused(&bridge.act(&world, action, &format!("after-{action}")));
        }
        assert_eq!(statuses(&world), ["rejected"]);
    }
}

#[test]
fn the_same_key_gives_the_same_decision_and_stands_for_nothing_else() {
    let world = continuable();
    let mut bridge = Bridge::start(&world);
    let first = bridge.act(&world, "reject", "1");
    assert_eq!(bridge.act(&world, "reject", "1"), first);
    assert_eq!(Bridge::start(&world).act(&world, "reject", "1"), first);
    refused(&bridge.act(&world, "teach", "1"));
    assert_eq!(statuses(&world), ["rejected"]);
    assert_eq!(lines(&world, "decision").len(), 1);
}

#[test]
fn nothing_is_written_when_an_order_does_not_fit() {
    let world = continuable();
    let mut bridge = Bridge::start(&world);
    let changed = |path: &str, value: Value| {
        let mut order = order(&world, "teach", "1");
        *order.pointer_mut(path).unwrap() = value;
        order
    };
    let foreign = json!(format!("sha256:{}", "0".repeat(64)));
    for order in [
        changed("/operator", json!("  ")),
        changed("/request/capability_digest", foreign),
        changed("/request/disposition", json!("not_applicable")),
        changed("/request/action", json!("skip")),
        changed("/request/action", json!("reconcile")),
        changed("/request/action", json!("continue")),
        changed("/attention_id", json!("0".repeat(24))),
    ] {
        refused(&bridge.ask(order));
    }
    for order in [
        changed("/decided_by", json!("nobody")),
        changed("/request/action", json!("approve")),
        changed("/request/idempotency_key", json!("short")),
        changed("/request/idempotency_key", json!("with a blank in it")),
        changed("/request/capability_digest", json!("sha256:0")),
        changed("/request", json!({"more": 1})),
    ] {
        assert_eq!(bridge.ask(order), json!({"ok": false, "kind": "failed"}));
    }
    assert_eq!(statuses(&world), Vec::<String>::new());
    assert_eq!(lines(&world, "decision"), Vec::<Value>::new());
}

#[test]
fn a_pause_that_is_not_whole_takes_no_decision() {
    for tamper in ["signature", "key", "key_mode", "pause", "capability_digest", "unreadable", "not_object"] {
        let world = paused("halted_before_effect", json!({"category": "identity", "tamper": tamper}));
        refused(&Bridge::start(&world).act(&world, "teach", "1"));
        assert_eq!(statuses(&world), Vec::<String>::new(), "{tamper}");
    }
}

#[test]
fn a_changed_bundle_and_a_moved_run_take_no_decision() {
    let world = continuable();
    std::fs::write(world.path("alpha/workflow.json"), r#"{"name": "another"}"#).unwrap();
    refused(&Bridge::start(&world).act(&world, "teach", "1"));
    let world = continuable();
    let order = order(&world, "teach", "1");
    std::fs::rename(world.run_dir(), world.path("moved")).unwrap();
    let mut moved = order;
    moved["attention_id"] = json!(flow_fake::canonical::sha256_hex("moved")[..24]);
    refused(&Bridge::start(&world).ask(moved));
}

#[test]
fn of_two_bridges_that_reject_at_once_one_is_refused() {
    let world = continuable();
    let mut bridges = [Bridge::start(&world), Bridge::start(&world)];
    for (at, bridge) in bridges.iter_mut().enumerate() {
        bridge.send(order(&world, "reject", &at.to_string()));
    }
    let answers = bridges.each_mut().map(Bridge::answer);
    assert_eq!(answers.iter().filter(|answer| answer["ok"] == true).count(), 1, "{answers:?}");
    assert_eq!(statuses(&world), ["rejected"]);
}

#[test]
fn decisions_that_somebody_else_wrote_stop_every_later_one() {
    for change in [
        json!({"schema_version": 1, "decisions": [], "relay_acknowledgements": []}),
        json!({"schema_version": 1, "decisions": [{"status": "completed"}], "relay_acknowledgements": []}),
    ] {
        let world = continuable();
        let mut bridge = Bridge::start(&world);
        assert_eq!(bridge.act(&world, "teach", "1")["ok"], true);
        std::fs::write(world.run_dir().join("attended_decisions.json"), change.to_string()).unwrap();
        refused(&bridge.act(&world, "teach", "2"));
        refused(&bridge.act(&world, "teach", "1"));
    }
}

#[test]
fn digests_of_capabilities_and_requests_are_those_of_real_decisions() {
    let samples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../schemas/samples/flow-1.35.1");
    let read = |case: &str, name: &str| -> Value {
        serde_json::from_slice(&std::fs::read(samples.join(case).join(name)).unwrap()).unwrap()
    };
    let mut seen = 0;
    for case in ["after_continue", "after_reject", "after_teach_escalate"] {
        let capability = read(case, "attended_capability.json");
        for decision in read(case, "attended_decisions.json")["decisions"].as_array().unwrap() {
            let fields = ["capability_digest", "idempotency_key", "action", "disposition"];
            let request: Value = fields.iter().map(|key| ((*key).to_owned(), decision[*key].clone())).collect();
            let request = Request::parse(request).unwrap();
            assert_eq!(request.capability_digest, capability_digest(&capability), "{case}");
            assert_eq!(decision["request_digest"], request.digest().as_str(), "{case}");
            assert!(request.disposition_fits());
            seen += 1;
        }
    }
    assert_eq!(seen, 10);
}

#[test]
fn a_record_has_the_keys_of_a_real_one() {
    let world = continuable();
    Bridge::start(&world).act(&world, "escalate", "1");
    let real = include_str!("../../../schemas/samples/flow-1.35.1/after_teach_escalate/attended_decisions.json");
    let real: Value = serde_json::from_str(real).unwrap();
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let ours = world.json("attended_decisions.json");
    assert_eq!(keys(&ours), keys(&real));
    assert_eq!(keys(&ours["decisions"][0]), keys(&real["decisions"][0]));
}

#[test]
fn a_script_can_refuse_or_decide_otherwise() {
    let world = continuable();
    script(&world, json!({"on": {"teach": [{"refuse": "not today"}], "escalate": [{"decide": "refused"}]}}));
    let mut bridge = Bridge::start(&world);
    refused(&bridge.act(&world, "teach", "1"));
    assert_eq!(bridge.act(&world, "escalate", "2")["decision"]["status"], "refused");
    assert_eq!(statuses(&world), ["refused"]);
}

#[test]
fn a_killed_bridge_leaves_the_decision_out_or_in_but_never_half() {
    for (point, recorded) in [("prepared", 0), ("after", 1)] {
        let world = continuable();
        script(&world, json!({"crash_at": {"at": point, "times": 1}}));
        let mut bridge = Bridge::start(&world);
        bridge.send(order(&world, "reject", "1"));
        assert_eq!(bridge.line(), None);
        assert_eq!(bridge.end(), None);
        assert_eq!(statuses(&world).len(), recorded, "{point}");
        assert_eq!(world.report()["canceled"], recorded == 1);
        let again = Bridge::start(&world).act(&world, "reject", "1");
        assert_eq!(again["decision"]["status"], "rejected", "{point}: {again}");
        assert_eq!(statuses(&world).len(), 1);
    }
}
