//! What a person decides about a run folder after Flow has ended.

use flow_fake::pause::pause_digest;
use schemas::Schema;
use serde_json::{Value, json};

use super::oracle;
use super::world::{World, assert_valid};

fn paused(shape: &str) -> World {
    let world = World::new();
    world.play(json!([{"gate": "admit"}, "run_dir", {"report": shape}, {"pause": {"category": "identity"}}]));
    world
}

fn done(world: &World, args: &[&str]) {
    let ended = world.call(args);
    assert_eq!(ended.code, Some(0), "{args:?}: {ended:?}");
}

#[test]
fn a_reject_keeps_the_pause_and_cancels_what_is_proven_effect_free() {
    let outcomes = [
        ("halted_before_effect", "CANCELED"),
        ("failed_platform", "CANCELED"),
        ("rejected_policy", "REJECTED_POLICY"),
        ("reconciliation_required", "RECONCILIATION_REQUIRED"),
    ];
    for (shape, outcome) in outcomes {
        let world = paused(shape);
        let before = world.report();
        done(&world, &["pause", "run", "--set", "reject"]);
        let report = world.report();
        assert_eq!(world.json("pending_escalation.json")["status"], "rejected");
        assert_eq!((&report["transaction_outcome"], &report["canceled"]), (&json!(outcome), &json!(true)), "{shape}");
        assert_eq!(report["execution_outcome"], before["execution_outcome"]);
        assert_eq!(oracle::transaction(&report), outcome);
        assert_valid(Schema::FlowReport, &report);
        let decisions = world.json("attended_decisions.json");
        assert_eq!(decisions["decisions"][0]["action"], "reject");
        assert_eq!(decisions["decisions"][0]["status"], "rejected");
    }
}

#[test]
fn a_continuation_removes_the_pause_and_replaces_the_report_of_the_same_run() {
    let world = paused("halted_before_effect");
    let before = world.report();
    done(&world, &["pause", "run", "--set", "continue", "--shape", "verified"]);
    let report = world.report();
    assert!(!world.run_dir().join("pending_escalation.json").exists());
    assert!(!world.run_dir().join(".report.terminal-candidate.json").exists());
    assert!(world.run_dir().join("attended_capability.json").exists());
    assert_eq!(report["transaction_outcome"], "VERIFIED");
    let same =
        ["run_id_sha256", "started_at", "workflow_name", "workflow_contract_sha256", "bundle_content_digest", "params"];
    for key in same {
        assert_eq!(report[key], before[key], "{key}");
    }
    assert_valid(Schema::FlowReport, &report);
}

#[test]
fn between_clear_and_report_there_is_no_pause_and_the_old_report() {
    let world = paused("halted_before_effect");
    let before = world.report();
    done(&world, &["pause", "run", "--set", "clear"]);
    assert!(!world.run_dir().join("pending_escalation.json").exists());
    assert_eq!(world.report(), before);
    done(&world, &["report", "run", "--shape", "reconciliation_required", "--patch", r#"{"params": {"note": "y"}}"#]);
    assert_eq!(world.report()["transaction_outcome"], "RECONCILIATION_REQUIRED");
    assert_eq!(world.report()["params"]["note"], "y");
}

#[test]
fn a_report_of_another_run_can_be_put_there() {
    let world = paused("halted_before_effect");
    let before = world.report();
    done(&world, &["report", "run", "--shape", "verified", "--fresh-run"]);
    assert_ne!(world.report()["run_id_sha256"], before["run_id_sha256"]);
    assert_eq!(world.report()["workflow_contract_sha256"], before["workflow_contract_sha256"]);
}

#[test]
fn an_approval_is_bound_to_the_exact_pause() {
    let world = paused("halted_before_effect");
    done(&world, &["pause", "run", "--set", "approved"]);
    let pending = world.json("pending_escalation.json");
    assert_eq!(pending["status"], "approved");
    let binding = pause_digest(&pending);
    assert_eq!(world.json("approval.json")["pause_binding_sha256"], binding.as_str());
    assert_eq!(world.json(&format!("approval_history/{}.json", &binding[7..])), world.json("approval.json"));
    done(&world, &["pause", "run", "--set", "continuing"]);
    assert_eq!(world.json("pending_escalation.json")["status"], "continuing");
    done(&world, &["pause", "run", "--set", "pending"]);
    assert_eq!(world.json("pending_escalation.json")["status"], "pending");
}

#[test]
fn every_decision_is_a_journal_line_about_the_same_launch() {
    let world = paused("halted_before_effect");
    done(&world, &["pause", "run", "--set", "reject"]);
    done(&world, &["report", "run", "--shape", "canceled"]);
    let lines: Vec<Value> = world.journal().into_iter().filter(|line| line["afterwards"] == true).collect();
    assert_eq!(lines.iter().map(|line| line["event"].clone()).collect::<Vec<_>>(), ["pause", "report"]);
    for line in lines {
        assert_valid(Schema::FlowJournalLine, &line);
        assert_eq!((&line["bundle"], &line["launch"]), (&json!("alpha"), &json!(1)));
    }
}

#[test]
fn mistakes_are_the_harness_to_blame() {
    let world = paused("halted_before_effect");
    let wrong: [&[&str]; 6] = [
        &["pause", "run"],
        &["pause", "run", "--set", "forgive"],
        &["pause", "nowhere", "--set", "reject"],
        &["report", "run", "--shape", "vverified"],
        &["report", "nowhere", "--shape", "verified"],
        &["report", "run", "--shape", "verified", "--patch", "{"],
    ];
    for args in wrong {
        let ended = world.call(args);
        assert_eq!(ended.code, Some(64), "{args:?}: {ended:?}");
        assert!(ended.stderr.contains("\n\nhint: "), "{ended:?}");
    }
}
