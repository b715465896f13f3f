//! What a crash between any two writes of an attempt leaves, and how the next caller repairs it.

use super::*;

/// Opens an attempt and dies after so many of its three writes.
fn die_after(writes: usize, world: &World, ask: &Ask) -> Started {
    let server = world.server();
    let attempt = Attempt::FIRST;
    let opening = Opening::new(&server.store, ask, attempt);
    let mut history = History::default();
    if writes >= 1 {
        opening.write_record().unwrap();
    }
    if writes >= 2 {
        opening.reserve(&server.ledger).unwrap();
    }
    if writes >= 3 {
        opening.enter_in_index(&mut history).unwrap();
    }
    opening.started().clone()
}

#[test]
fn after_no_write_or_the_record_alone_the_next_caller_starts_the_first_attempt() {
    for writes in [0, 1] {
        let (world, ask) = (World::new(), ask());
        let dead = die_after(writes, &world, &ask);
        let server = world.server();
        let started = server.start(&ask);
        assert_ne!(started.run_id, dead.run_id);
        assert_eq!(started.attempt, Attempt::FIRST);
        assert_eq!(server.attempts(), [started.run_id]);
    }
}

#[test]
fn after_the_reservation_the_next_caller_finds_the_dead_attempt_and_starts_the_second() {
    for writes in [2, 3] {
        let (world, ask) = (World::new(), ask());
        let dead = die_after(writes, &world, &ask);
        let server = world.server();
        let started = server.start(&ask);
        assert_eq!(started.ledger_key, key(2, Era::Ours));
        assert_eq!(server.attempts(), [dead.run_id.clone(), started.run_id]);
        assert_eq!(server.record(&dead.run_id).result().unwrap().reason, Reason::PlatformError);
    }
}

#[test]
fn after_the_reservation_other_work_conflicts_with_the_dead_attempt() {
    for writes in [2, 3] {
        let world = World::new();
        let dead = die_after(writes, &world, &ask());
        let Begin::Conflict { first_run_id } = world.server().begin(&ask_for("b")) else { panic!("no conflict") };
        assert_eq!(first_run_id, dead.run_id);
    }
}

#[test]
fn between_claim_and_row_the_next_caller_finds_the_dead_attempt_and_starts_the_second() {
    let (world, ask) = (World::new(), ask());
    let dead = die_after(2, &world, &ask);
    world.sqlite().execute("DELETE FROM reservations", []).unwrap();
    let server = world.server();
    assert_eq!(server.start(&ask).ledger_key, key(2, Era::Ours));
    assert_eq!(server.attempts()[0], dead.run_id);
}

#[test]
fn while_the_server_lives_its_half_open_attempt_is_replayed() {
    let (world, ask) = (World::new(), ask());
    let (living, other) = (world.server(), world.server());
    let opening = Opening::new(&living.store, &ask, Attempt::FIRST);
    opening.write_record().unwrap();
    opening.reserve(&living.ledger).unwrap();
    assert_eq!(other.replayed(&ask), opening.started().run_id);
    assert_eq!(other.attempts(), [opening.started().run_id.clone()]);
}

#[test]
fn a_crash_during_the_repair_is_repaired_like_any_other() {
    let (world, ask) = (World::new(), ask());
    let first = die_after(2, &world, &ask);
    {
        let server = world.server();
        server.settle(&first.run_id);
        let second = Opening::new(&server.store, &ask, Attempt::at(1));
        second.write_record().unwrap();
        second.reserve(&server.ledger).unwrap();
    }
    let server = world.server();
    assert_eq!(server.start(&ask).ledger_key, key(3, Era::Ours));
    assert_eq!(server.attempts().len(), 3);
}

#[test]
fn an_index_that_is_gone_or_corrupt_is_rebuilt_from_the_ledger() {
    for damage in [None, Some(""), Some("{}"), Some("\"attempts\"")] {
        let (world, ask) = (World::new(), ask());
        let server = world.server();
        let first = server.start(&ask);
        server.finish(&first.run_id, Reason::Canceled);
        let second = server.start(&ask);
        server.finish(&second.run_id, Reason::SavedAndChecked);
        let index = world.index_file(Era::Ours);
        match damage {
            Some(text) => std::fs::write(&index, text).unwrap(),
            None => std::fs::remove_file(&index).unwrap(),
        }
        assert_eq!(server.replayed(&ask), second.run_id, "{damage:?}");
        assert_eq!(server.attempts(), [first.run_id.clone(), second.run_id]);
        let Begin::Conflict { first_run_id } = server.begin(&ask_for("b")) else { panic!("no conflict") };
        assert_eq!(first_run_id, first.run_id);
        let aside = PathBuf::from(format!("{}.corrupt-1", index.display()));
        assert_eq!(aside.exists(), damage.is_some());
    }
}

#[test]
fn a_reservation_that_cant_be_read_becomes_a_run_that_nobody_answers_for() {
    let (world, ask) = (World::new(), ask());
    die_after(2, &world, &ask);
    let claims = std::fs::read_dir(world.at(".ledger.sqlite.claims")).unwrap();
    for claim in claims {
        std::fs::write(claim.unwrap().path(), "").unwrap();
    }
    world.sqlite().execute("DELETE FROM reservations", []).unwrap();
    let server = world.server();
    let orphan = server.replayed(&ask);
    let record = server.record(&orphan);
    assert_eq!(record.process.liveness(server.store.root().servers()).unwrap(), Liveness::Unprovable);
    assert_eq!(world.server().replayed(&ask), orphan, "the same run every time");
}

#[test]
fn an_attempt_that_cant_be_reserved_is_handed_back_to_be_finished() {
    let (world, ask) = (World::new(), ask());
    let server = world.server();
    world
        .sqlite()
        .execute_batch("CREATE TRIGGER full BEFORE INSERT ON reservations BEGIN SELECT RAISE(ABORT, 'full'); END")
        .unwrap();
    let Begin::Abandoned { run_id, .. } = server.begin(&ask) else { panic!("not abandoned") };
    assert_eq!(server.record(&run_id).phase, Phase::Running);
    server.finish(&run_id, Reason::PlatformError);
    world.sqlite().execute_batch("DROP TRIGGER full").unwrap();
    assert_eq!(server.start(&ask).ledger_key, key(2, Era::Ours), "the claim was made");
    assert_eq!(server.attempts()[0], run_id);
}
