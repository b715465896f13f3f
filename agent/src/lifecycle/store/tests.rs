//! tests of the module beside it

use proptest::prelude::*;
use rusqlite::Connection;

use super::*;
use crate::contract::reason::Reason;
use crate::lifecycle::contracts::Executor;
use crate::lifecycle::machine::Ready;
use crate::lifecycle::testing::{World, sealing};
use crate::lifecycle::types::{Code, Delivery, Execution, Permission, Phase, Triple};

impl World {
    fn sqlite(&self) -> Connection {
        Connection::open(self.temp.path().join("runs/openadapt-agent/lifecycle.sqlite")).unwrap()
    }

    fn events(&self, action: &Action) -> Vec<String> {
        let events = self.store.actions().events(action.run_id(), 0).unwrap();
        assert!(events.iter().zip(1..).all(|(event, seq)| event.seq == seq), "{events:?}");
        events.into_iter().map(|event| event.event).collect()
    }

    /// An action that was claimed and sealed.
    fn sealed(&self, reason: Reason) -> Action {
        let (action, token) = self.dispatched(&self.new_action("abcd", 1));
        assert!(self.store.actions().claim(action.run_id(), token.as_str(), Executor::Flow).unwrap());
        let action = self.found(action.run_id());
        self.store.actions().record(&action, &sealing(&action, reason, true)).unwrap();
        self.found(action.run_id())
    }

    fn receipt(&self, action: &Action) -> ReceiptRead {
        self.store.actions().find(action.run_id()).unwrap().unwrap().receipt.unwrap()
    }
}

#[test]
fn an_action_that_is_run_tells_its_events_in_the_order_of_the_grammar() {
    let world = World::new();
    let action = world.sealed(Reason::SavedAndChecked);
    world.store.actions().checkpoint(&action, None).unwrap();
    world.store.actions().mark_projected(&world.found(action.run_id())).unwrap();
    let told = [
        "action.prepared",
        "permission.decided",
        "action.reserved",
        "action.dispatched",
        "action.claimed",
        "executor.started",
        "executor.completed",
        "receipt.recorded",
        "checkpoint.committed",
        "projection.completed",
    ];
    assert_eq!(world.events(&action), told);
    let action = world.found(action.run_id());
    assert_eq!((action.phase, action.delivery), (Phase::Projected, Delivery::Projected));
}

#[test]
fn a_refusal_is_a_whole_decision_without_a_dispatch() {
    let world = World::new();
    let new = NewAction { attempt: None, ..world.new_action("abcd", 1) };
    let draft = world.store.actions().draft(&new).unwrap();
    let refused = Sealing { permission: Some(Permission::Deny), ..sealing(&draft, Reason::RetryLimit, false) };
    world.store.actions().refuse(&draft, &refused).unwrap();
    assert_eq!(world.events(&draft), ["action.prepared", "permission.decided", "receipt.recorded"]);
    let action = world.found(&new.run_id);
    assert_eq!((action.execution, action.dispatched), (Some(Execution::NotStarted), false));
}

/// E07.
#[test]
fn the_same_receipt_again_changes_nothing_and_another_one_is_a_conflict() {
    let world = World::new();
    let (action, _) = world.dispatched(&world.new_action("abcd", 1));
    let actions = world.store.actions();
    actions.record(&action, &sealing(&action, Reason::SavedAndChecked, true)).unwrap();
    actions.record(&action, &sealing(&action, Reason::SavedAndChecked, true)).unwrap();
    let other = actions.record(&action, &sealing(&action, Reason::PlatformError, false));
    assert!(matches!(other, Err(StoreFault::ReceiptConflict)), "{other:?}");
    assert_eq!(actions.receipts(&action).unwrap().len(), 1);
}

/// E08.
#[test]
fn a_server_that_was_overtaken_seals_nothing_and_the_first_receipt_stands() {
    let world = World::new();
    let (action, _) = world.dispatched(&world.new_action("abcd", 1));
    let another = world.another();
    let theirs = another.actions().find(action.run_id()).unwrap().unwrap().action;
    another.actions().record(&theirs, &sealing(&theirs, Reason::Interrupted, true)).unwrap();
    let late = world.store.actions().revise(&action, 1, &sealing(&action, Reason::SavedAndChecked, true));
    assert!(matches!(late, Err(StoreFault::StaleOwner)), "{late:?}");
    let ReceiptRead::Valid(receipt) = world.receipt(&action) else { panic!("the receipt holds") };
    assert_eq!((receipt.result.word(), receipt.recovered), ("interrupted", true));
    let taken = world.found(action.run_id());
    assert_eq!((taken.owner, taken.generation), (Some(another.server_id()), 2));
}

/// E09.
#[test]
fn a_receipt_of_which_one_byte_was_changed_is_believed_by_nobody() {
    let edits = [
        "result_json = replace(result_json, 'not_sure', 'not_surf')",
        "result_json = replace(result_json, 'run-', 'rum-')",
        "executor_started = 0",
        "recorded_at = '2026'",
        "evidence_json = '{\"a\":\"b\"}'",
        "policy_version = 7",
        "call_id = 'call-another'",
        "args_digest = 'b'",
        "recovered = 1 - recovered",
        "digest = replace(digest, substr(digest, 1, 1), 'x')",
    ];
    for edit in edits {
        let world = World::new();
        let action = world.sealed(Reason::SaveNotConfirmed);
        let sqlite = world.sqlite();
        sqlite.execute_batch("DROP TRIGGER receipts_are_never_changed").unwrap();
        sqlite.execute(&format!("UPDATE receipts SET {edit}"), []).unwrap();
        assert_eq!(world.receipt(&action), ReceiptRead::Corrupt { revision: 1 }, "{edit}");
    }
}

#[test]
fn a_receipt_can_be_neither_changed_nor_removed() {
    let world = World::new();
    world.sealed(Reason::SavedAndChecked);
    for statement in ["UPDATE receipts SET reason = 'canceled'", "DELETE FROM receipts"] {
        let refused = world.sqlite().execute(statement, []).unwrap_err();
        assert!(matches!(StoreFault::from(refused), StoreFault::ReceiptConflict), "{statement}");
    }
}

#[test]
fn a_review_leads_forward_and_never_to_what_may_be_retried() {
    for reason in Reason::ALL.iter().copied().filter(|reason| reason.is_terminal()) {
        let world = World::new();
        let seen = world.sealed(Reason::PersonNeeded);
        let revised = world.store.actions().revise(&seen, 1, &sealing(&seen, reason, true));
        assert_eq!(revised.is_ok(), !reason.row().safe_to_retry && !is_no_review(reason), "{reason:?} {revised:?}");
        let world = World::new();
        let settled = world.sealed(Reason::SaveNotConfirmed);
        let revised = world.store.actions().revise(&settled, 1, &sealing(&settled, reason, true));
        assert_eq!(revised.is_ok(), reason == Reason::ResultUnreadable, "{reason:?} {revised:?}");
    }
}

fn is_no_review(reason: Reason) -> bool {
    matches!(reason, Reason::RequestIdConflict | Reason::RetryLimit)
}

/// A02, B11: the dispatch compares everything that it rests on.
#[test]
fn what_changed_between_the_decision_and_the_dispatch_stops_it() {
    let dispatch = |edit: &str, conditions: &str| {
        let world = World::new();
        let actions = world.store.actions();
        let reserved = actions.reserve(actions.prepare_allowed(&world.new_action("abcd", 1)).unwrap()).unwrap();
        if !edit.is_empty() {
            world.sqlite().execute_batch(edit).unwrap();
        }
        let still = Revalidation { control_seq: 0, conditions_digest: conditions };
        let run_id = reserved.action().run_id().clone();
        let dispatched = actions.commit_dispatch(Ready::Attempt(reserved), still).unwrap();
        let action = world.store.actions().find(&run_id).unwrap().map(|known| known.action.dispatched);
        match dispatched {
            Dispatch::Started(_) => None,
            Dispatch::Stale(code) => {
                assert_eq!(action, Some(false));
                Some(code)
            }
        }
    };
    assert_eq!(dispatch("", "c"), None);
    assert_eq!(dispatch("", "another"), Some(Code::PermissionStale));
    assert_eq!(dispatch("INSERT INTO controls VALUES (1, '*', 1, 'x')", "c"), Some(Code::PermissionStale));
    for column in ["call_id", "args_digest"] {
        assert_eq!(
            dispatch(&format!("UPDATE actions SET {column} = 'x'"), "c"),
            Some(Code::BindingMismatch),
            "{column}"
        );
    }
    assert_eq!(dispatch("UPDATE actions SET generation = 2", "c"), Some(Code::BindingMismatch));
}

#[test]
fn a_revoked_intent_cant_be_claimed_and_a_claimed_one_cant_be_revoked() {
    let world = World::new();
    let actions = world.store.actions();
    let (revoked, token) = world.dispatched(&world.new_action("abcd", 1));
    assert!(actions.revoke(&revoked, &sealing(&revoked, Reason::PlatformError, false)).unwrap());
    assert!(!actions.claim(revoked.run_id(), token.as_str(), Executor::Flow).unwrap());
    let (claimed, token) = world.dispatched(&world.new_action("efgh", 1));
    assert!(actions.claim(claimed.run_id(), token.as_str(), Executor::Flow).unwrap());
    assert!(!actions.revoke(&claimed, &sealing(&claimed, Reason::PlatformError, false)).unwrap());
    assert_eq!(world.events(&revoked)[3..], ["action.dispatched", "action.revoked", "receipt.recorded"]);
}

#[test]
fn events_have_no_gap_and_failures_no_seventeenth() {
    let world = World::new();
    let action = world.sealed(Reason::SavedAndChecked);
    let gap =
        format!("INSERT INTO events (action_id, seq, at, event) VALUES ('{}', 99, '', '')", action.binding.action_id);
    assert!(world.sqlite().execute(&gap, []).is_err());
    let failure =
        |key: usize| world.sqlite().execute("INSERT INTO failures VALUES ('s', ?1, 1, 1)", [key.to_string()]).is_ok();
    assert_eq!((0..20).filter(|key| failure(*key)).count(), 16);
}

#[test]
fn equal_policies_have_one_version_and_later_ones_a_higher_one() {
    let world = World::new();
    let version =
        |digest| world.store.actions().policy_version(digest, 0, crate::contract::outcome::Mode::Production).unwrap();
    let (first, second) = (version("one"), version("two"));
    assert!(first < second);
    let another = world.another();
    let again = another.actions().policy_version("one", 0, crate::contract::outcome::Mode::Production).unwrap();
    assert_eq!(again, first);
}

#[test]
fn files_that_are_no_store_are_refused_and_left_as_they_are() {
    for text in ["no database at all, and long enough that nobody takes it for an empty one", "x"] {
        let temp = tempfile::tempdir().unwrap();
        let folder = Folder::open(temp.path()).unwrap();
        let key = FingerprintKey::open(&folder).unwrap();
        let server = crate::runs::server::ServerIdentity::start(&folder).unwrap();
        let path = temp.path().join(FILE);
        std::fs::write(&path, text).unwrap();
        assert!(Store::open(&folder, &key, server.id()).is_err(), "{text}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn looking_leaves_nothing_behind_whether_a_server_is_there_or_not() {
    let world = World::new();
    let root = world.store.root().folder();
    let names = || {
        let mut names = root.names().unwrap();
        names.sort();
        names
    };
    let look = || Store::open_to_look(root, world.store.key()).unwrap().unwrap().store_id().unwrap();
    let before = names();
    assert_eq!(look(), world.store.actions().store_id().unwrap());
    assert_eq!(names(), before);
    // As a backup has it: the file alone.
    let copy = tempfile::tempdir().unwrap();
    world.sqlite().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    std::fs::copy(root.path().join(FILE), copy.path().join(FILE)).unwrap();
    let folder = Folder::open(copy.path()).unwrap();
    assert!(Store::open_to_look(&folder, world.store.key()).unwrap().is_some());
    assert_eq!(folder.names().unwrap(), [FILE]);
    assert!(Store::open_to_look(&Folder::open(world.temp.path()).unwrap(), world.store.key()).unwrap().is_none());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// A01: the type's own set and the store's check are one.
    #[test]
    fn the_store_takes_exactly_the_legal_triples(
        permission in prop::option::of(prop::sample::select(Permission::ALL)),
        execution in prop::option::of(prop::sample::select(Execution::ALL)),
        delivery in prop::sample::select(Delivery::ALL),
    ) {
        thread_local! {
            static WORLD: World = World::new();
        }
        WORLD.with(|world| {
            let new = NewAction { attempt: None, ..world.new_action("abcd", 1) };
            let action = world.store.actions().prepare(&new).unwrap();
            let phase = match delivery {
                Delivery::Pending => "prepared",
                Delivery::Recorded => "recorded",
                Delivery::Projected => "projected",
            };
            let taken = world.sqlite().execute(
                "UPDATE actions SET permission = ?1, execution = ?2, delivery = ?3, phase = ?4 WHERE action_id = ?5",
                rusqlite::params![
                    permission.map(Permission::as_str),
                    execution.map(Execution::as_str),
                    delivery.as_str(),
                    phase,
                    action.action().binding.action_id.as_str()
                ],
            );
            prop_assert_eq!(taken.is_ok(), Triple { permission, execution, delivery }.is_legal());
            Ok(())
        })?;
    }
}
