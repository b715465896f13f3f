//! Continue and skip through the bridge, with a live executor.

use flow_fake::pause::{pause_digest, signature_holds};
use schemas::Schema;
use serde_json::{Value, json};

use super::bridged::{Bridge, continuable, lines, order, paused, script, statuses};
use super::oracle;
use super::world::{World, assert_valid};

const WHOLE: [&str; 3] = ["prepared", "delivery_started", "completed"];

/// A bridge with an executor and this script.
fn live(world: &World, mut bridge: Value) -> Bridge {
    bridge["live"] = json!(true);
    script(world, bridge);
    Bridge::start(world)
}

fn effects(world: &World) -> usize {
    lines(world, "effect").len()
}

#[test]
fn a_run_that_was_driven_is_not_continued_by_a_save_that_is_made_up() {
    let world = continuable();
    let driven = json!({"steps": [{"gate": "admit"}, "drive"], "bridge": {"live": true}});
    for (key, place) in ["script.json", "alpha/flow-fake.json"].into_iter().enumerate() {
        script(&world, json!({"live": true}));
        std::fs::write(world.path(place), driven.to_string()).unwrap();
        let mut bridge = Bridge::start(&world);
        for action in ["continue", "skip"] {
            let answer = bridge.act(&world, action, &format!("{action}-{key}"));
            assert_eq!((&answer["ok"], &answer["kind"]), (&json!(false), &json!("refused")), "{place}: {answer}");
        }
    }
    assert_eq!((effects(&world), statuses(&world)), (0, Vec::new()));
}

#[test]
fn a_continuation_that_a_script_writes_out_is_played_for_a_driven_run_too() {
    let world = continuable();
    let written = json!({"live": true, "on": {"continue": ["effect", {"report": "verified"}]}});
    let driven = json!({"steps": [{"gate": "admit"}, "drive"], "bridge": written});
    std::fs::write(world.path("script.json"), driven.to_string()).unwrap();
    assert_eq!(Bridge::start(&world).act(&world, "continue", "1")["decision"]["status"], "completed");
    assert_eq!(effects(&world), 1);
}

#[test]
fn a_continuation_saves_once_replaces_the_report_and_removes_the_pause() {
    let world = continuable();
    let before = (world.report(), world.json("pending_escalation.json"));
    let mut bridge = live(&world, json!({}));
    let decision = bridge.act(&world, "continue", "1")["decision"].clone();
    assert_eq!((&decision["status"], &decision["report_success"]), (&json!("completed"), &json!(true)));
    assert!(decision["transition_receipt_digest"].as_str().unwrap().starts_with("sha256:"));
    assert_eq!(statuses(&world), WHOLE);
    assert_eq!(lines(&world, "decision").len(), 3);
    assert_eq!(effects(&world), 1);
    let report = world.report();
    assert_valid(Schema::FlowReport, &report);
    assert_eq!(oracle::transaction(&report), "VERIFIED");
    assert_eq!(
        (&report["run_id_sha256"], &report["started_at"]),
        (&before.0["run_id_sha256"], &before.0["started_at"])
    );
    assert_eq!(report["results"][0]["actuation"], "human_attended");
    assert_eq!(
        (&report["results"][0]["delivery_attempted"], &report["results"][1]["delivery_attempted"]),
        (&json!(false), &json!(true))
    );
    for gone in ["pending_escalation.json", ".report.terminal-candidate.json", ".attended_decisions.lock"] {
        assert!(!world.run_dir().join(gone).exists(), "{gone}");
    }
    assert_eq!(world.json("approval.json")["pause_binding_sha256"], pause_digest(&before.1).as_str());
    assert_eq!(
        world.json("checkpoints/step_0000_step_000.json")["attended_capability_digest"].as_str().map(str::len),
        Some(71)
    );
    assert_eq!(world.json("checkpoints/step_0001_step_001.json")["attended_capability_digest"], Value::Null);
    assert_eq!(bridge.list(), Vec::<Value>::new());
    assert_eq!(bridge.act(&world, "continue", "1")["decision"], decision);
    assert_eq!((effects(&world), statuses(&world).len()), (1, 3));
}

#[test]
fn one_script_holds_the_play_of_the_run_and_the_part_of_the_bridge() {
    let world = World::new();
    let whole = json!({
        "steps": ["run_dir", {"report": "failed_platform"}, {"pause": {"category": "halt"}}],
        "bridge": {"live": true, "on": {"continue": ["effect", "effect", {"decide": "halted"}]}},
    });
    assert_valid(Schema::FlowScript, &whole);
    assert_eq!(world.launch_script(whole).output().unwrap().status.code(), Some(1));
    let decision = Bridge::start(&world).act(&world, "continue", "1")["decision"].clone();
    assert_eq!((&decision["status"], effects(&world)), (&json!("halted"), 2));
    script(&world, json!({"live": false}));
    let ended =
        world.call(&["--script", "script.json", "run", "alpha", "--profile", "standard", "--run-dir", "second"]);
    assert_eq!(ended.code, Some(0), "a script without plays is no script of the run: {ended:?}");
}

#[test]
fn checkpoints_have_the_keys_of_real_ones() {
    let world = continuable();
    live(&world, json!({})).act(&world, "continue", "1");
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let real = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../schemas/samples/flow-1.35.1/after_continue/checkpoints/step_0000_step_000.json");
    let real: Value = serde_json::from_slice(&std::fs::read(real).unwrap()).unwrap();
    assert_eq!(keys(&world.json("checkpoints/step_0000_step_000.json")), keys(&real));
}

#[test]
fn the_step_that_the_person_did_is_not_done_again() {
    let world = paused("reconciliation_required", json!({"category": "delivery_uncertain"}));
    let decision = live(&world, json!({})).act(&world, "continue", "1")["decision"].clone();
    assert_eq!((&decision["status"], &decision["next_transition"]), (&json!("completed"), &json!("<complete>")));
    assert_eq!(effects(&world), 0);
    assert_eq!(world.report()["results"][1]["actuation"], "human_attended");
}

#[test]
fn a_live_check_that_refuses_leaves_the_pause_and_a_new_key_may_try_again() {
    let world = continuable();
    let before = (world.report(), world.json("pending_escalation.json"), world.json("attended_capability.json"));
    let mut bridge = live(&world, json!({"on": {"continue": [{"decide": "refused"}]}}));
    let decision = bridge.act(&world, "continue", "1")["decision"].clone();
    assert_eq!((&decision["status"], &decision["report_success"]), (&json!("refused"), &json!(false)));
    assert_eq!(statuses(&world), ["prepared", "delivery_started", "refused"]);
    assert_eq!(before, (world.report(), world.json("pending_escalation.json"), world.json("attended_capability.json")));
    assert_eq!(bridge.act(&world, "continue", "1")["decision"], decision);
    script(&world, json!({"live": true}));
    assert_eq!(bridge.act(&world, "continue", "2")["decision"]["status"], "completed");
    assert_eq!(effects(&world), 1);
}

#[test]
fn a_later_halt_is_a_new_pause_under_the_same_item() {
    let world = continuable();
    let (old, key) = (
        world.json("attended_capability.json"),
        std::fs::read(world.run_dir().join(".attended_capability.key")).unwrap(),
    );
    let mut bridge = live(
        &world,
        json!({"on": {"continue": ["effect", {"report": "reconciliation_required"}, {"pause": {"category": "effect_escalated"}}]}}),
    );
    let before = bridge.list()[0].clone();
    let stale = order(&world, "teach", "2");
    let decision = bridge.act(&world, "continue", "1")["decision"].clone();
    assert_eq!((&decision["status"], &decision["report_success"]), (&json!("halted"), &json!(false)));
    let after = bridge.list()[0].clone();
    assert_eq!(after["id"], before["id"]);
    assert_ne!(after["capability"]["digest"], before["capability"]["digest"]);
    assert_eq!(after["category"], "effect_escalated");
    let new = world.json("attended_capability.json");
    assert_eq!((&new["event_sequence"], &new["step_id"]), (&json!(2), &json!("step_001")));
    assert!(signature_holds(&new, &key));
    assert_eq!(new["pause_digest"], pause_digest(&world.json("pending_escalation.json")).as_str());
    assert_eq!(world.json("attended_capability_history.json"), json!([old]));
    assert_eq!(world.report()["transaction_outcome"], "RECONCILIATION_REQUIRED");
    assert_eq!(bridge.ask(stale), json!({"ok": false, "kind": "refused"}));
    assert_eq!(bridge.act(&world, "reject", "3")["decision"]["status"], "rejected");
}

#[test]
fn between_the_pause_and_the_new_report_there_is_neither() {
    let world = continuable();
    let before = world.report();
    let mut bridge = live(&world, json!({"on": {"continue": [{"report": "verified"}, {"hold": "between"}]}}));
    bridge.send(order(&world, "continue", "1"));
    world.await_event("held");
    assert!(!world.run_dir().join("pending_escalation.json").exists());
    assert!(world.run_dir().join(".report.terminal-candidate.json").exists());
    assert_eq!(world.report(), before);
    let mut other = Bridge::start(&world);
    assert_eq!(other.ask(json!({"op": "hello"}))["ok"], true);
    world.release("between");
    assert_eq!(bridge.answer()["decision"]["status"], "completed");
    assert_eq!(world.report()["transaction_outcome"], "VERIFIED");
}

#[test]
fn an_executor_that_breaks_off_leaves_the_delivery_uncertain() {
    let world = continuable();
    let mut bridge = live(&world, json!({"on": {"continue": ["effect", {"traceback": "TimeoutError"}]}}));
    assert_eq!(bridge.act(&world, "continue", "1"), json!({"ok": false, "kind": "failed"}));
    assert_eq!(statuses(&world), ["prepared", "delivery_started", "delivery_uncertain"]);
    script(&world, json!({"live": true}));
    for action in ["continue", "reject"] {
        assert_eq!(bridge.act(&world, action, action)["kind"], "refused", "{action}");
    }
    assert_eq!(bridge.act(&world, "continue", "1")["kind"], "refused");
    assert_eq!(bridge.act(&world, "teach", "2")["decision"]["status"], "needs_demonstration");
    assert_eq!(effects(&world), 1);
}

#[test]
fn a_crash_is_told_by_the_records_that_it_left() {
    for (point, records, saves, then) in
        [("prepared", 1, 0, "ok"), ("delivery_started", 2, 0, "refused"), ("after", 3, 1, "ok")]
    {
        let world = continuable();
        let mut bridge = live(&world, json!({"crash_at": {"at": point, "times": 1}}));
        bridge.send(order(&world, "continue", "1"));
        assert_eq!((bridge.line(), bridge.end()), (None, None));
        assert_eq!(statuses(&world), WHOLE[..records], "{point}");
        assert_eq!(lines(&world, "crash")[0]["at_point"], point);
        let again = Bridge::start(&world).act(&world, "continue", "1");
        let told = if again["ok"] == true { "ok" } else { again["kind"].as_str().unwrap() };
        assert_eq!(told, then, "{point}: {again}");
        assert_eq!(effects(&world), saves, "{point}");
    }
}

#[test]
fn a_continuation_holds_the_run_until_its_lease_runs_out() {
    let world = continuable();
    let mut bridge = live(&world, json!({"crash_at": {"at": "prepared", "times": 1}}));
    bridge.send(order(&world, "continue", "1"));
    assert_eq!((bridge.line(), bridge.end()), (None, None));
    let mut next = Bridge::start(&world);
    assert_eq!(next.act(&world, "continue", "2")["kind"], "refused");
    let mut lease = world.json(".flow-fake-lease.json");
    lease["expires_at"] = json!("2026-01-01T00:00:00.000000+00:00");
    std::fs::write(world.run_dir().join(".flow-fake-lease.json"), lease.to_string()).unwrap();
    assert_eq!(next.act(&world, "continue", "3")["decision"]["status"], "completed");
}

#[test]
fn a_reject_comes_before_a_continuation_that_has_done_nothing_yet() {
    let world = continuable();
    let mut continuing = live(&world, json!({"validating": [{"hold": "checking"}]}));
    continuing.send(order(&world, "continue", "1"));
    world.await_event("held");
    let mut rejecting = Bridge::start(&world);
    rejecting.send(order(&world, "reject", "2"));
    super::world::wait_until("the wish to reject", || world.json(".flow-fake-lease.json")["reject_requested"] == true);
    world.release("checking");
    assert_eq!(rejecting.answer()["decision"]["status"], "rejected");
    assert_eq!(continuing.answer()["decision"]["status"], "refused");
    assert_eq!(statuses(&world), ["prepared", "refused", "rejected"]);
    assert_eq!((effects(&world), &world.report()["transaction_outcome"]), (0, &json!("CANCELED")));
}

#[test]
fn a_reject_comes_too_late_once_the_delivery_began() {
    let world = continuable();
    let mut continuing = live(&world, json!({"on": {"continue": [{"hold": "acting"}]}}));
    continuing.send(order(&world, "continue", "1"));
    world.await_event("held");
    assert_eq!(Bridge::start(&world).act(&world, "reject", "2")["kind"], "refused");
    world.release("acting");
    assert_eq!(continuing.answer()["decision"]["status"], "completed");
}

#[test]
fn only_a_declared_guard_before_a_step_that_writes_nothing_allows_a_skip() {
    for (shape, pause, allowed) in [
        ("failed_platform", json!({"category": "unmet_guard", "guard_skips": true}), true),
        ("failed_platform", json!({"category": "unmet_guard"}), false),
        ("reconciliation_required", json!({"category": "unmet_guard", "guard_skips": true}), false),
    ] {
        let world = paused(shape, pause.clone());
        let answer = live(&world, json!({})).act(&world, "skip", "1");
        assert_eq!(answer["ok"], allowed, "{pause}: {answer}");
        if allowed {
            let skipped = &world.report()["results"][0];
            assert_eq!((&skipped["skipped"], &skipped["actuation"]), (&json!(true), &json!("human_attended_skip")));
        }
    }
    let world = paused("failed_platform", json!({"category": "halt", "guard_skips": true}));
    let actions = json!(["continue", "skip", "reject", "teach", "escalate"]);
    assert_eq!(world.json("attended_capability.json")["allowed_actions"], actions);
}

#[test]
fn a_pause_that_is_too_old_takes_no_decision_and_is_still_shown() {
    let (day, week) = (24 * 3600, 7 * 24 * 3600);
    for (pause, fits) in [
        (json!({"category": "halt", "age_s": day - 60}), true),
        (json!({"category": "halt", "age_s": day}), false),
        (json!({"category": "halt", "age_s": week - 60, "capability_age_s": 0}), true),
        (json!({"category": "halt", "age_s": week, "capability_age_s": 0}), false),
    ] {
        let world = paused("failed_platform", pause.clone());
        let mut bridge = Bridge::start(&world);
        assert!(bridge.list()[0]["capability"].is_object());
        assert_eq!(bridge.act(&world, "teach", "1")["ok"], fits, "{pause}");
    }
}
