//! The gate on a real folder, with servers that die between any two writes.

mod crashes;
mod older_agent;
mod races;
mod sequences;

use std::path::PathBuf;

use rusqlite::Connection;

use super::history::History;
use super::opening::Opening;
use super::*;
use crate::contract::reason::Reason;
use crate::contract::result::{ResultFacts, RunResult};
use crate::runs::clock::utc_now;
use crate::runs::dispatch::{DispatchState, Revocation};
use crate::runs::index::{self, EntryRead};
use crate::runs::ledger::Ledger;
use crate::runs::record::owner::Liveness;
use crate::runs::record::{Phase, RecordRead, RunRecord, StoredResult};
use crate::runs::request_hash::{Era, RequestHash};
use crate::runs::store::RunStore;

struct World {
    temp: tempfile::TempDir,
}

/// One server on the world's folder. Dropping it is its death.
struct Server {
    store: RunStore,
    ledger: Ledger,
}

impl World {
    fn new() -> Self {
        Self { temp: tempfile::tempdir().unwrap() }
    }

    fn server(&self) -> Server {
        let store = RunStore::open(&self.temp.path().join("runs")).unwrap();
        let ledger = store.open_ledger().unwrap();
        Server { store, ledger }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.temp.path().join("runs/openadapt-agent").join(name)
    }

    fn sqlite(&self) -> Connection {
        Connection::open(self.at("ledger.sqlite")).unwrap()
    }

    fn index_file(&self, era: Era) -> PathBuf {
        self.at("requests").join(format!("{}.json", hash().hex(era)))
    }
}

impl Server {
    fn begin(&self, ask: &Ask) -> Begin {
        self.try_begin(ask).unwrap()
    }

    fn try_begin(&self, ask: &Ask) -> Result<Begin, StoreError> {
        RequestGate::new(&self.store, &self.ledger).begin(ask, |guard, run_id| {
            assert_eq!(guard.stripe(), RequestHash::of(&ask.request_id).stripe());
            Ok::<_, StoreError>(self.settle(run_id))
        })
    }

    fn start(&self, ask: &Ask) -> Started {
        match self.begin(ask) {
            Begin::Start(started) => started,
            other => panic!("{other:?}"),
        }
    }

    fn replayed(&self, ask: &Ask) -> RunId {
        match self.begin(ask) {
            Begin::Replay { run_id, doubted: false } => run_id,
            other => panic!("{other:?}"),
        }
    }

    /// What a service does with a run that it has to judge: a finished one by its reason, an undispatched one whose server
    /// is dead by proof.
    fn settle(&self, run_id: &RunId) -> bool {
        let RecordRead::Valid(record) = self.store.read(run_id).unwrap() else { return false };
        if let Some(result) = record.result() {
            return result.reason.allows_new_attempt();
        }
        let dispatch = self.store.dispatch();
        let undispatched =
            matches!(dispatch.state(run_id).unwrap(), DispatchState::NoIntent | DispatchState::Unclaimed);
        let dead = record.process.liveness(self.store.root().servers()).unwrap() == Liveness::Dead;
        let proven =
            dead && undispatched && dispatch.revoke(run_id, self.store.server_id()).unwrap() == Revocation::Revoked;
        if proven {
            self.finish(run_id, Reason::PlatformError);
        }
        proven
    }

    fn finish(&self, run_id: &RunId, reason: Reason) {
        let record = self.record(run_id);
        let result = RunResult {
            reason,
            run_id: Some(run_id.clone()),
            request_id: record.request_id.clone(),
            workflow: record.workflow.clone(),
            mode: record.mode,
            replayed: false,
            facts: ResultFacts::default(),
        };
        self.store.write(&record.finished(StoredResult::of(&result).unwrap())).unwrap();
    }

    fn record(&self, run_id: &RunId) -> RunRecord {
        match self.store.read(run_id).unwrap() {
            RecordRead::Valid(record) => *record,
            other => panic!("{other:?}"),
        }
    }

    fn attempts(&self) -> Vec<RunId> {
        match index::read(self.store.root().requests(), &hash(), Era::Ours, self.store.key()).unwrap() {
            EntryRead::Valid(entry) => entry.attempts,
            other => panic!("{other:?}"),
        }
    }
}

fn ask() -> Ask {
    ask_for("a")
}

fn ask_for(work: &str) -> Ask {
    Ask {
        request_id: RequestId::parse("req-normal").unwrap(),
        fingerprint: Fingerprint::parse(&work.repeat(64)).unwrap(),
        workflow: "add_note".to_owned(),
        mode: Mode::Production,
    }
}

fn hash() -> RequestHash {
    RequestHash::of(&ask().request_id)
}

fn key(number: usize, era: Era) -> LedgerKey {
    hash().ledger_key(Attempt::at(number - 1), era)
}

#[test]
fn a_first_call_starts_and_leaves_record_reservation_and_index() {
    let (world, ask) = (World::new(), ask());
    let server = world.server();
    let started = server.start(&ask);
    assert_eq!((started.attempt, &started.ledger_key), (Attempt::FIRST, &key(1, Era::Ours)));
    let record = server.record(&started.run_id);
    assert_eq!((record.owner(), record.phase), (Some(server.store.server_id()), Phase::Running));
    assert_eq!(record.started_at, started.started_at);
    assert_eq!(server.ledger.lookup(&[started.ledger_key]).unwrap()[0].owner(), Some(&started.run_id));
    assert_eq!(server.attempts(), [started.run_id]);
}

#[test]
fn a_run_that_goes_on_or_ended_for_good_is_replayed() {
    let (world, ask) = (World::new(), ask());
    let server = world.server();
    let started = server.start(&ask);
    assert_eq!(server.replayed(&ask), started.run_id);
    for reason in Reason::ALL.iter().filter(|reason| reason.is_terminal() && !reason.allows_new_attempt()) {
        server.finish(&started.run_id, *reason);
        assert_eq!(server.replayed(&ask), started.run_id, "{reason:?}");
    }
}

#[test]
fn retryable_reasons_allow_five_attempts_and_no_sixth() {
    let (world, ask) = (World::new(), ask());
    let server = world.server();
    let reasons =
        [Reason::NotReadyToRun, Reason::PolicyRefused, Reason::Canceled, Reason::PlatformError, Reason::RunsDisabled];
    let mut runs = Vec::new();
    for (index, reason) in reasons.into_iter().enumerate() {
        let started = server.start(&ask);
        assert_eq!(started.ledger_key, key(index + 1, Era::Ours));
        server.finish(&started.run_id, reason);
        runs.push(started.run_id);
    }
    assert!(matches!(server.begin(&ask), Begin::RetryLimit));
    assert_eq!(server.attempts(), runs);
}

#[test]
fn other_work_under_the_same_request_id_conflicts_with_the_first_attempt() {
    let world = World::new();
    let server = world.server();
    let first = server.start(&ask());
    server.finish(&first.run_id, Reason::Canceled);
    let second = server.start(&ask());
    for finished in [None, Some(Reason::SavedAndChecked)] {
        finished.into_iter().for_each(|reason| server.finish(&second.run_id, reason));
        let Begin::Conflict { first_run_id } = server.begin(&ask_for("b")) else { panic!("no conflict") };
        assert_eq!(first_run_id, first.run_id);
    }
    assert_eq!(server.replayed(&ask()), second.run_id);
}

#[test]
fn a_ledger_outcome_forbids_a_new_attempt_whatever_the_record_says() {
    use crate::contract::evidence::TransactionOutcome::*;
    for (outcome, allowed) in [
        (Verified, false),
        (CompletedUnverified, false),
        (HaltedBeforeEffect, false),
        (ReconciliationRequired, false),
        (RolledBack, false),
        (RejectedPolicy, true),
        (Canceled, true),
        (FailedPlatform, true),
    ] {
        let (world, ask) = (World::new(), ask());
        let server = world.server();
        let started = server.start(&ask);
        server.ledger.record_outcome(&started.ledger_key, &started.run_id, outcome).unwrap();
        server.finish(&started.run_id, Reason::Canceled);
        match server.begin(&ask) {
            Begin::Start(_) => assert!(allowed, "{outcome:?}"),
            Begin::Replay { run_id, doubted: true } => assert!(!allowed && run_id == started.run_id, "{outcome:?}"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_reservation_that_contradicts_itself_forbids_a_new_attempt() {
    let (world, ask) = (World::new(), ask());
    let server = world.server();
    let started = server.start(&ask);
    server.finish(&started.run_id, Reason::Canceled);
    world.sqlite().execute("UPDATE reservations SET run_id = 'run-b'", []).unwrap();
    assert!(matches!(server.begin(&ask), Begin::Replay { run_id, doubted: true } if run_id == started.run_id));
}

#[test]
fn a_corrupt_record_is_replayed_and_never_tried_again() {
    let (world, ask) = (World::new(), ask());
    let server = world.server();
    let started = server.start(&ask);
    let file = world.at("runs").join(format!("{}.json", started.run_id));
    for damage in [Some("half a rec"), None] {
        match damage {
            Some(text) => std::fs::write(&file, text).unwrap(),
            None => std::fs::remove_file(&file).unwrap(),
        }
        assert_eq!(server.replayed(&ask), started.run_id);
    }
}

#[test]
fn an_attempt_that_left_nothing_but_its_reservation_gets_a_record_that_nobody_answers_for() {
    let (world, ask) = (World::new(), ask());
    let server = world.server();
    let started = server.start(&ask);
    std::fs::remove_file(world.at("runs").join(format!("{}.json", started.run_id))).unwrap();
    assert_eq!(server.replayed(&ask), started.run_id);
    assert_eq!(server.record(&started.run_id).owner(), None);
}

#[test]
fn an_attempt_whose_dispatch_is_there_is_left_to_be_judged_by_it() {
    let (world, ask) = (World::new(), ask());
    let server = world.server();
    let started = server.start(&ask);
    server.store.dispatch().revoke(&started.run_id, server.store.server_id()).unwrap();
    std::fs::remove_file(world.at("runs").join(format!("{}.json", started.run_id))).unwrap();
    assert_eq!(server.replayed(&ask), started.run_id);
    assert_eq!(server.store.read(&started.run_id).unwrap(), RecordRead::Missing);
}

#[test]
fn the_ledger_contradicts_a_retryable_record_of_any_attempt_and_no_other_record() {
    use crate::contract::evidence::TransactionOutcome;
    let (world, ask) = (World::new(), ask());
    let server = world.server();
    let first = server.start(&ask);
    server.finish(&first.run_id, Reason::Canceled);
    let second = server.start(&ask);
    server.ledger.record_outcome(&second.ledger_key, &second.run_id, TransactionOutcome::Verified).unwrap();
    let gate = RequestGate::new(&server.store, &server.ledger);
    let contradicted = |run_id| gate.ledger_contradicts(&server.record(run_id)).unwrap();
    assert!(!contradicted(&second.run_id), "it runs");
    server.finish(&second.run_id, Reason::SavedAndChecked);
    assert!(!contradicted(&second.run_id), "it saved");
    server.finish(&second.run_id, Reason::Canceled);
    assert!(contradicted(&second.run_id));
    assert!(!contradicted(&first.run_id));
}

#[test]
fn a_garbage_ledger_starts_nothing_and_leaves_no_record() {
    let (world, ask) = (World::new(), ask());
    let server = world.server();
    std::fs::write(world.at("ledger.sqlite"), "garbage in its place").unwrap();
    assert!(matches!(server.try_begin(&ask), Err(StoreError::Ledger(_))));
    assert_eq!(std::fs::read_dir(world.at("runs")).unwrap().count(), 0);
    assert_eq!(std::fs::read_dir(world.at("requests")).unwrap().count(), 0);
}

#[test]
fn the_gate_stands_on_claim_files_as_well() {
    let (world, ask) = (World::new(), ask());
    RunStore::open(&world.temp.path().join("runs")).unwrap();
    std::fs::create_dir(world.at("ledger.sqlite")).unwrap();
    let server = world.server();
    assert!(server.ledger.fallback_reason().is_some());
    let first = server.start(&ask);
    assert_eq!(server.replayed(&ask), first.run_id);
    std::fs::remove_file(world.index_file(Era::Ours)).unwrap();
    assert_eq!(world.server().replayed(&ask), first.run_id, "found again by its claim");
    server.finish(&first.run_id, Reason::PlatformError);
    assert_eq!(server.start(&ask).ledger_key, key(2, Era::Ours));
}
