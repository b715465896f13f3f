//! What a Python agent left in the folder, or still does.

use serde_json::json;

use super::*;
use crate::contract::evidence::TransactionOutcome;

fn python_entry(world: &World, attempts: &[&RunId]) {
    let attempts: Vec<_> = attempts.iter().map(|run_id| run_id.as_str()).collect();
    let entry = json!({
        "schema": "openadapt-agent.request/v1", "fingerprint": "a".repeat(64), "workflow": "add_note", "attempts": attempts,
    });
    std::fs::write(world.index_file(Era::Python), entry.to_string()).unwrap();
}

fn python_record(world: &World, run_id: &RunId, number: usize, reason: Reason) {
    let row = reason.row();
    let record = json!({
        "schema": "openadapt-agent.run/v1", "run_id": run_id.as_str(), "request_id": "req-normal",
        "workflow": "add_note", "mode": "production", "state": "finished", "pid": 1, "host": "vm",
        "started_at": utc_now(), "finished_at": utc_now(), "attempt": number, "fingerprint": "a".repeat(64),
        "ledger_key": key(number, Era::Python).as_str(),
        "result": {
            "reason": reason.as_str(), "outcome": row.outcome.as_str(), "safe_to_retry": row.safe_to_retry,
            "record_changed": row.record_changed.as_str(),
        },
    });
    std::fs::write(world.at("runs").join(format!("{run_id}.json")), record.to_string()).unwrap();
}

fn python_attempt(world: &World, server: &Server, number: usize, reason: Reason) -> RunId {
    let run_id = RunId::random();
    server.ledger.reserve(&key(number, Era::Python), &run_id).unwrap();
    python_record(world, &run_id, number, reason);
    run_id
}

#[test]
fn its_result_is_replayed_and_its_work_protected() {
    let world = World::new();
    let server = world.server();
    let done = python_attempt(&world, &server, 1, Reason::SavedAndChecked);
    python_entry(&world, &[&done]);
    assert_eq!(server.replayed(&ask()), done);
    let Begin::Conflict { first_run_id } = server.begin(&ask_for("b")) else { panic!("no conflict") };
    assert_eq!(first_run_id, done);
    assert!(!world.index_file(Era::Ours).exists());
}

#[test]
fn its_attempts_are_counted_on() {
    let world = World::new();
    let server = world.server();
    let first = python_attempt(&world, &server, 1, Reason::Canceled);
    let second = python_attempt(&world, &server, 2, Reason::PlatformError);
    python_entry(&world, &[&first, &second]);
    let third = server.start(&ask());
    assert_eq!(third.ledger_key, key(3, Era::Ours));
    assert_eq!(server.attempts(), [first, second, third.run_id]);
}

#[test]
fn its_reservation_without_an_index_is_found_by_its_shorter_key() {
    let world = World::new();
    let server = world.server();
    let done = python_attempt(&world, &server, 1, Reason::SavedAndChecked);
    assert_eq!(server.replayed(&ask()), done);
    assert_eq!(server.attempts(), [done]);
}

#[test]
fn its_reservation_without_a_record_becomes_a_run_that_nobody_answers_for() {
    let world = World::new();
    let server = world.server();
    let run_id = RunId::random();
    server.ledger.reserve(&key(1, Era::Python), &run_id).unwrap();
    assert_eq!(server.replayed(&ask()), run_id);
    let record = server.record(&run_id);
    assert_eq!((record.owner(), record.phase), (None, Phase::Running));
    assert_eq!(record.process.liveness(server.store.root().servers()).unwrap(), Liveness::Unprovable);
}

#[test]
fn an_edited_record_of_it_is_overruled_by_the_ledger() {
    let world = World::new();
    let server = world.server();
    let run_id = python_attempt(&world, &server, 1, Reason::Canceled);
    python_entry(&world, &[&run_id]);
    server.ledger.record_outcome(&key(1, Era::Python), &run_id, TransactionOutcome::Verified).unwrap();
    assert!(matches!(server.begin(&ask()), Begin::Replay { run_id: replayed, doubted: true } if replayed == run_id));
}

#[test]
fn an_attempt_that_it_made_on_its_own_decides_as_much_as_ours() {
    let world = World::new();
    let server = world.server();
    let first = python_attempt(&world, &server, 1, Reason::Canceled);
    python_entry(&world, &[&first]);
    let ours = server.start(&ask());
    server.finish(&ours.run_id, Reason::Canceled);
    let aside = python_attempt(&world, &server, 2, Reason::SavedAndChecked);
    python_entry(&world, &[&first, &aside]);
    assert_eq!(server.replayed(&ask()), aside);
    python_record(&world, &aside, 2, Reason::Canceled);
    server.ledger.record_outcome(&key(2, Era::Python), &aside, TransactionOutcome::Verified).unwrap();
    assert!(matches!(server.begin(&ask()), Begin::Replay { doubted: true, .. }));
}

#[test]
fn a_corrupt_entry_of_it_is_left_alone_and_the_ledger_is_asked() {
    let world = World::new();
    let server = world.server();
    let done = python_attempt(&world, &server, 1, Reason::SavedAndChecked);
    std::fs::write(world.index_file(Era::Python), "{").unwrap();
    assert_eq!(server.replayed(&ask()), done);
    assert_eq!(std::fs::read_to_string(world.index_file(Era::Python)).unwrap(), "{");
}
