use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::claim::claim_name;
use super::flow_ledger::{CLAIMS, CONSTRUCTION_LOCK, FILE};
use super::*;
use crate::contract::ids::RequestId;
use crate::runs::request_hash::{Attempt, Era, RequestHash};

struct World {
    temp: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        Self { temp: tempfile::tempdir().unwrap() }
    }

    fn root(&self) -> StoreRoot {
        StoreRoot::open(&self.temp.path().join("runs")).unwrap()
    }

    fn open(&self) -> Result<Ledger, LedgerFault> {
        Ledger::open(&self.root())
    }

    fn ledger(&self) -> Ledger {
        let ledger = self.open().unwrap();
        assert_eq!(ledger.fallback_reason(), None);
        ledger
    }

    fn at(&self, name: &str) -> PathBuf {
        self.temp.path().join("runs/openadapt-agent").join(name)
    }

    fn sqlite(&self) -> Connection {
        Connection::open(self.at(FILE)).unwrap()
    }

    fn claim(&self, key: &LedgerKey) -> PathBuf {
        self.at(CLAIMS).join(claim_name(key.as_str()))
    }

    /// Takes the row of a key away, as a crash between claim and row would have left it.
    fn drop_row(&self, key: &LedgerKey) {
        self.sqlite().execute("DELETE FROM reservations WHERE reservation_key = ?1", [key.as_str()]).unwrap();
    }

    fn give_row_to(&self, key: &LedgerKey, run_id: &str) {
        self.sqlite()
            .execute("UPDATE reservations SET run_id = ?2 WHERE reservation_key = ?1", [key.as_str(), run_id])
            .unwrap();
    }
}

fn key(request: &str) -> LedgerKey {
    RequestHash::of(&RequestId::parse(request).unwrap()).ledger_key(Attempt::FIRST, Era::Ours)
}

fn run(name: &str) -> RunId {
    RunId::parse(&format!("run-{name}")).unwrap()
}

fn look(ledger: &Ledger, key: &LedgerKey) -> Lookup {
    ledger.lookup(std::slice::from_ref(key)).unwrap().remove(0)
}

fn owned(name: &str) -> Reservation {
    Reservation::Owned { run_id: run(name) }
}

const VERIFIED: TransactionOutcome = TransactionOutcome::Verified;

#[test]
fn neither_claim_nor_row_means_unseen() {
    let world = World::new();
    let (ledger, key) = (world.ledger(), key("abcd"));
    assert_eq!(look(&ledger, &key), Lookup::None);
    assert!(matches!(ledger.record_outcome(&key, &run("a"), VERIFIED), Err(LedgerFault::NoReservation)));
    assert_eq!(ledger.reserve(&key, &run("a")).unwrap(), Reservation::Reserved);
}

#[test]
fn claim_and_equal_row_are_a_record_that_only_its_owner_completes() {
    let world = World::new();
    let (ledger, key) = (world.ledger(), key("abcd"));
    ledger.reserve(&key, &run("a")).unwrap();
    assert_eq!(look(&ledger, &key), Lookup::Record { run_id: run("a"), outcome: None });
    assert_eq!(ledger.reserve(&key, &run("b")).unwrap(), owned("a"));
    assert_eq!(ledger.reserve(&key, &run("a")).unwrap(), owned("a"), "also for its own run");
    assert!(matches!(ledger.record_outcome(&key, &run("b"), VERIFIED), Err(LedgerFault::OtherOwner)));
    ledger.record_outcome(&key, &run("a"), VERIFIED).unwrap();
    assert_eq!(look(&ledger, &key), Lookup::Record { run_id: run("a"), outcome: Some(VERIFIED) });
}

#[test]
fn an_outcome_is_written_once() {
    let world = World::new();
    let ledger = world.ledger();
    for (index, first) in TransactionOutcome::ALL.iter().enumerate() {
        let key = key(&format!("request-{index}"));
        ledger.reserve(&key, &run("a")).unwrap();
        ledger.record_outcome(&key, &run("a"), *first).unwrap();
        for second in TransactionOutcome::ALL {
            let again = ledger.record_outcome(&key, &run("a"), *second);
            match again {
                Ok(()) => assert_eq!(first, second),
                Err(LedgerFault::OutcomeAlreadyRecorded) => assert_ne!(first, second),
                Err(fault) => panic!("{fault}"),
            }
        }
        assert_eq!(look(&ledger, &key), Lookup::Record { run_id: run("a"), outcome: Some(*first) });
    }
}

#[test]
fn a_claim_without_a_row_is_used_and_names_its_owner() {
    let world = World::new();
    let (ledger, key) = (world.ledger(), key("abcd"));
    ledger.reserve(&key, &run("a")).unwrap();
    world.drop_row(&key);
    assert_eq!(look(&ledger, &key), Lookup::ClaimOnly { run_id: run("a") });
    assert_eq!(ledger.reserve(&key, &run("b")).unwrap(), owned("a"));
    assert!(matches!(ledger.record_outcome(&key, &run("a"), VERIFIED), Err(LedgerFault::NoReservation)));
}

#[test]
fn a_row_without_a_claim_is_an_error_and_leaves_a_claim_behind() {
    let world = World::new();
    let (ledger, key) = (world.ledger(), key("abcd"));
    ledger.reserve(&key, &run("a")).unwrap();
    fs::remove_file(world.claim(&key)).unwrap();
    assert_eq!(look(&ledger, &key), Lookup::Broken { run_id: Some(run("a")) });
    assert!(matches!(ledger.record_outcome(&key, &run("a"), VERIFIED), Err(LedgerFault::NoReservation)));
    assert!(matches!(ledger.reserve(&key, &run("b")), Err(LedgerFault::OtherOwner)));
    assert!(world.claim(&key).exists());
}

#[test]
fn claim_and_row_of_different_owners_are_broken_and_used() {
    let world = World::new();
    let (ledger, key) = (world.ledger(), key("abcd"));
    ledger.reserve(&key, &run("a")).unwrap();
    world.give_row_to(&key, "run-b");
    assert_eq!(look(&ledger, &key), Lookup::Broken { run_id: Some(run("a")) });
    assert_eq!(ledger.reserve(&key, &run("c")).unwrap(), owned("a"));
    for owner in ["a", "b"] {
        assert!(matches!(ledger.record_outcome(&key, &run(owner), VERIFIED), Err(LedgerFault::OtherOwner)), "{owner}");
    }
}

#[test]
fn claim_and_row_of_different_times_are_broken() {
    let world = World::new();
    let (ledger, key) = (world.ledger(), key("abcd"));
    ledger.reserve(&key, &run("a")).unwrap();
    world.sqlite().execute("UPDATE reservations SET reserved_at = 'yesterday'", []).unwrap();
    assert_eq!(look(&ledger, &key), Lookup::Broken { run_id: Some(run("a")) });
}

#[test]
fn an_outcome_that_isnt_one_of_the_eight_is_broken() {
    let world = World::new();
    let (ledger, key) = (world.ledger(), key("abcd"));
    ledger.reserve(&key, &run("a")).unwrap();
    world.sqlite().execute("UPDATE reservations SET outcome = 'FINE'", []).unwrap();
    assert_eq!(look(&ledger, &key), Lookup::Broken { run_id: Some(run("a")) });
}

#[test]
fn a_claim_that_cant_be_read_or_is_about_another_key_or_ledger_counts_as_used() {
    let world = World::new();
    let ledger = world.ledger();
    let other = key("other");
    ledger.reserve(&other, &run("a")).unwrap();
    let good = fs::read_to_string(world.claim(&other)).unwrap();
    let elsewhere = good.replace("/runs/openadapt-agent", "/elsewhere");
    let huge = "x".repeat(70_000);
    for (index, content) in ["", "{", "[]", "null", &good, &elsewhere, &huge].into_iter().enumerate() {
        let key = key(&format!("request-{index}"));
        fs::write(world.claim(&key), content).unwrap();
        assert_eq!(look(&ledger, &key), Lookup::Broken { run_id: None }, "{content:.40}");
        assert!(matches!(ledger.reserve(&key, &run("b")), Err(LedgerFault::UnreadableClaim)));
        assert!(matches!(ledger.record_outcome(&key, &run("b"), VERIFIED), Err(LedgerFault::UnreadableClaim)));
    }
    let key = key("symlink");
    symlink(world.claim(&other), world.claim(&key)).unwrap();
    assert_eq!(look(&ledger, &key), Lookup::Broken { run_id: None });
}

#[test]
fn of_many_reservations_of_one_key_exactly_one_wins_and_the_others_name_it() {
    let world = World::new();
    let key = key("abcd");
    let answers: Vec<(RunId, Reservation)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..16)
            .map(|index| {
                let (world, key) = (&world, &key);
                scope.spawn(move || {
                    let run_id = run(&index.to_string());
                    let answer = world.ledger().reserve(key, &run_id).unwrap();
                    (run_id, answer)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let winners: Vec<_> = answers.iter().filter(|(_, answer)| *answer == Reservation::Reserved).collect();
    assert_eq!(winners.len(), 1);
    let winner = winners[0].0.clone();
    for (run_id, answer) in &answers {
        assert!(*run_id == winner || *answer == Reservation::Owned { run_id: winner.clone() });
    }
    assert_eq!(look(&world.ledger(), &key), Lookup::Record { run_id: winner, outcome: None });
}

#[test]
fn the_files_of_a_ledger_are_private_and_its_journal_mode_is_delete() {
    let world = World::new();
    world.ledger().reserve(&key("abcd"), &run("a")).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&world.at(FILE)), 0o600);
    assert_eq!(mode(&world.at(CONSTRUCTION_LOCK)), 0o600);
    assert_eq!(mode(&world.at(CLAIMS)), 0o700);
    assert_eq!(mode(&world.claim(&key("abcd"))), 0o600);
    let journal: String = world.sqlite().query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
    assert_eq!(journal, "delete");
    for pragma in ["user_version", "application_id"] {
        let value: i64 = world.sqlite().query_row(&format!("PRAGMA {pragma}"), [], |row| row.get(0)).unwrap();
        assert_eq!(value, 0, "{pragma}");
    }
}

#[test]
fn a_garbage_ledger_is_refused_and_left_as_it_is() {
    for garbage in [&b"x"[..], b"{\"abcd:1\": {}}", b"SQLite format 2\0....", &[0; 4096]] {
        let world = World::new();
        world.root();
        fs::write(world.at(FILE), garbage).unwrap();
        let fault = world.open().unwrap_err();
        assert!(matches!(fault, LedgerFault::Garbage), "{fault}");
        assert_eq!(fs::read(world.at(FILE)).unwrap(), garbage);
        assert!(!world.at("claims").exists(), "the fallback is not selected");
    }
}

#[test]
fn a_damaged_database_is_refused_and_left_as_it_is() {
    let world = World::new();
    world.ledger().reserve(&key("abcd"), &run("a")).unwrap();
    let mut bytes = fs::read(world.at(FILE)).unwrap();
    bytes[100..].fill(0xab);
    fs::write(world.at(FILE), &bytes).unwrap();
    let fault = world.open().unwrap_err();
    assert!(matches!(fault, LedgerFault::Damaged | LedgerFault::Garbage), "{fault}");
    assert_eq!(fs::read(world.at(FILE)).unwrap(), bytes);
}

#[test]
fn a_ledger_that_turns_to_garbage_while_in_use_is_refused() {
    let world = World::new();
    let ledger = world.ledger();
    fs::write(world.at(FILE), "garbage in its place").unwrap();
    assert!(matches!(ledger.lookup(&[key("abcd")]), Err(LedgerFault::Garbage)));
    assert!(matches!(ledger.reserve(&key("abcd"), &run("a")), Err(LedgerFault::Garbage)));
    assert!(!world.claim(&key("abcd")).exists());
}

#[test]
fn a_ledger_that_is_gone_while_its_claims_are_there_is_refused_and_not_made_anew() {
    for empty in [true, false] {
        let world = World::new();
        world.ledger().reserve(&key("abcd"), &run("a")).unwrap();
        fs::remove_file(world.at(FILE)).unwrap();
        if empty {
            fs::write(world.at(FILE), "").unwrap();
        }
        assert!(matches!(world.open(), Err(LedgerFault::Lost)));
        assert_eq!(world.at(FILE).exists(), empty);
    }
}

#[test]
fn a_ledger_that_lost_its_table_of_reservations_is_refused_and_not_made_anew() {
    let world = World::new();
    world.ledger().reserve(&key("abcd"), &run("a")).unwrap();
    rusqlite::Connection::open(world.at(FILE)).unwrap().execute_batch("DROP TABLE reservations").unwrap();
    assert!(matches!(world.open(), Err(LedgerFault::Lost)));
}

#[test]
fn an_empty_file_without_claims_is_a_ledger_whose_maker_died_and_is_finished() {
    let world = World::new();
    world.root();
    fs::write(world.at(FILE), "").unwrap();
    assert_eq!(world.ledger().reserve(&key("abcd"), &run("a")).unwrap(), Reservation::Reserved);
}

#[test]
fn a_database_of_something_else_is_refused() {
    let world = World::new();
    world.root();
    world.sqlite().execute_batch("CREATE TABLE notes (text TEXT)").unwrap();
    assert!(matches!(world.open(), Err(LedgerFault::OwnerOrSchemaMismatch)));
}

#[test]
fn a_ledger_of_another_namespace_schema_or_place_is_refused() {
    for (column, value) in [
        ("namespace", "openadapt-flow-runtime/v1"),
        ("schema_version", "openadapt.idempotency-ledger/v4"),
        ("owner_path", "/elsewhere/ledger.sqlite"),
    ] {
        let world = World::new();
        let ledger = world.ledger();
        world.sqlite().execute(&format!("UPDATE ledger_metadata SET {column} = ?1"), [value]).unwrap();
        assert!(matches!(world.open(), Err(LedgerFault::OwnerOrSchemaMismatch)), "{column}");
        assert!(matches!(ledger.lookup(&[key("abcd")]), Err(LedgerFault::OwnerOrSchemaMismatch)), "{column}");
    }
}

#[test]
fn a_copied_ledger_is_refused() {
    let (world, copy) = (World::new(), World::new());
    world.ledger().reserve(&key("abcd"), &run("a")).unwrap();
    copy.root();
    fs::copy(world.at(FILE), copy.at(FILE)).unwrap();
    assert!(matches!(copy.open(), Err(LedgerFault::OwnerOrSchemaMismatch)));
}

#[test]
fn reservations_without_metadata_are_refused() {
    let world = World::new();
    world.ledger().reserve(&key("abcd"), &run("a")).unwrap();
    world.sqlite().execute("DELETE FROM ledger_metadata", []).unwrap();
    assert!(matches!(world.open(), Err(LedgerFault::OwnerOrSchemaMismatch)));
}

#[test]
fn symlinks_in_place_of_the_ledger_its_lock_or_its_claims_are_refused() {
    for name in [FILE, CONSTRUCTION_LOCK] {
        let world = World::new();
        world.root();
        symlink(world.temp.path().join("elsewhere"), world.at(name)).unwrap();
        assert!(matches!(world.open(), Err(LedgerFault::NotOurs(_))), "{name}");
        assert!(!world.temp.path().join("elsewhere").exists());
    }
    let world = World::new();
    world.root();
    symlink(world.temp.path(), world.at(CLAIMS)).unwrap();
    assert!(matches!(world.open(), Err(LedgerFault::NotOurs(_))));
}

#[test]
fn a_folder_that_moves_while_it_is_in_use_is_noticed() {
    let world = World::new();
    let ledger = world.ledger();
    fs::rename(world.at(""), world.temp.path().join("runs/moved")).unwrap();
    assert!(matches!(ledger.reserve(&key("abcd"), &run("a")), Err(LedgerFault::FolderMoved)));
    world.root();
    assert!(matches!(ledger.lookup(&[key("abcd")]), Err(LedgerFault::FolderMoved)));
}

#[test]
fn a_writer_that_holds_the_database_is_waited_for() {
    let world = World::new();
    let (ledger, other) = (world.ledger(), world.sqlite());
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| ledger.reserve(&key("abcd"), &run("a")).unwrap());
        while !world.claim(&key("abcd")).exists() {
            std::thread::yield_now();
        }
        other.execute_batch("COMMIT").unwrap();
        assert_eq!(waiting.join().unwrap(), Reservation::Reserved);
    });
}

#[test]
fn a_folder_in_place_of_the_ledger_selects_claim_files_with_the_same_guarantee() {
    for name in [FILE, CONSTRUCTION_LOCK] {
        let world = World::new();
        world.root();
        fs::create_dir(world.at(name)).unwrap();
        let ledger = world.open().unwrap();
        assert_eq!(ledger.fallback_reason(), Some(FallbackReason::FolderInPlace));
        let key = key("abcd");
        assert_eq!(look(&ledger, &key), Lookup::None);
        assert_eq!(ledger.reserve(&key, &run("a")).unwrap(), Reservation::Reserved);
        assert_eq!(ledger.reserve(&key, &run("b")).unwrap(), owned("a"));
        ledger.record_outcome(&key, &run("a"), VERIFIED).unwrap();
        assert_eq!(look(&ledger, &key), Lookup::Record { run_id: run("a"), outcome: None });
        let claims: Vec<_> =
            fs::read_dir(world.at("claims")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(claims, [format!("{}.claim", crate::flow::canonical::sha256_hex(key.as_str().as_bytes())).as_str()]);
    }
}

#[test]
fn a_claim_file_that_cant_be_read_counts_as_used() {
    let world = World::new();
    world.root();
    fs::create_dir(world.at(FILE)).unwrap();
    let ledger = world.open().unwrap();
    let key = key("abcd");
    let name = format!("{}.claim", crate::flow::canonical::sha256_hex(key.as_str().as_bytes()));
    fs::write(world.at("claims").join(name), "{}").unwrap();
    assert_eq!(look(&ledger, &key), Lookup::Broken { run_id: None });
    assert!(matches!(ledger.reserve(&key, &run("a")), Err(LedgerFault::UnreadableClaim)));
}

#[test]
fn each_mechanism_honours_what_the_other_has_claimed() {
    let world = World::new();
    world.ledger().reserve(&key("flow-first"), &run("a")).unwrap();
    fs::rename(world.at(FILE), world.at("kept.sqlite")).unwrap();
    fs::create_dir(world.at(FILE)).unwrap();
    let files = world.open().unwrap();
    assert_eq!(look(&files, &key("flow-first")), Lookup::ClaimOnly { run_id: run("a") });
    assert_eq!(files.reserve(&key("flow-first"), &run("b")).unwrap(), owned("a"));
    files.reserve(&key("files-first"), &run("c")).unwrap();
    fs::remove_dir(world.at(FILE)).unwrap();
    fs::rename(world.at("kept.sqlite"), world.at(FILE)).unwrap();
    let flow = world.ledger();
    assert_eq!(look(&flow, &key("files-first")).owner(), Some(&run("c")));
    assert_eq!(flow.reserve(&key("files-first"), &run("d")).unwrap(), owned("c"));
    assert!(!world.claim(&key("files-first")).exists());
}

#[test]
fn sentences_for_the_operator_name_no_path() {
    let world = World::new();
    world.root();
    fs::write(world.at(FILE), "garbage").unwrap();
    let fault = world.open().unwrap_err();
    let said = format!("{fault}; {}", fault.hint());
    assert!(!said.contains(world.temp.path().to_str().unwrap()), "{said}");
}
