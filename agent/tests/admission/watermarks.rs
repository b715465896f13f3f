//! What was seen once: a later look may see more, never less, and a clock may go on, never back.

use std::os::unix::fs::PermissionsExt;

use openadapt_agent::admission::Reason;
use serde_json::{Value, json};

use crate::forge::{Forge, hash_row, sha256};
use crate::world::World;

const FILE: &str = "admission-watermark.json";

fn verdict(world: &World, forge: &Forge) -> Result<(), Reason> {
    world.verdict(&forge.ledger(), Some(&forge.pack()))
}

#[test]
fn the_second_revision_hides_the_first_for_good() {
    let first = Forge::new();
    let second = first.clone().revoking(&[("qualification-release", &sha256(b"something else"))]);
    let world = World::of(first.root());
    assert_eq!(verdict(&world, &first), Ok(()));
    assert_eq!(verdict(&world, &second), Ok(()));
    assert_eq!(verdict(&world, &first), Err(Reason::TrustStateRolledBack));
    assert_eq!(verdict(&world, &second), Ok(()));
}

#[test]
fn an_earlier_revision_is_a_rollback_though_nothing_was_revoked_since() {
    let first = Forge::new();
    let second = first.clone().revoking(&[]);
    let world = World::of(first.root());
    assert_eq!(verdict(&world, &second), Ok(()));
    assert_eq!(verdict(&world, &first), Err(Reason::TrustStateRolledBack));
}

#[test]
fn a_revocation_that_was_seen_stays_seen_though_nothing_was_admitted_with_it() {
    let first = Forge::new();
    let id = first.latest()["admission_id_sha256"].as_str().unwrap().to_owned();
    let revoked = first.clone().revoking(&[("qualification-release", &id)]);
    let world = World::of(first.root());
    assert_eq!(verdict(&world, &revoked), Err(Reason::AdmissionRevoked));
    assert_eq!(verdict(&world, &first), Err(Reason::TrustStateRolledBack));
}

#[test]
fn a_later_revision_loses_no_entry() {
    let one = sha256(b"one");
    let second = Forge::new().revoking(&[("x", &one)]);
    let world = World::of(second.root());
    assert_eq!(verdict(&world, &second), Ok(()));
    assert_eq!(verdict(&world, &second.clone().revoking(&[])), Err(Reason::TrustStateRolledBack));
    let third = second.revoking(&[("x", &one), ("x", &sha256(b"two"))]);
    assert_eq!(verdict(&world, &third), Ok(()));
}

#[test]
fn another_state_of_the_same_revision_is_a_rollback() {
    let first = Forge::new();
    let mut other = first.clone();
    other.revocation["observed_at"] = json!("2026-09-01T00:00:01Z");
    let other = other.linked();
    let world = World::of(first.root());
    assert_eq!(verdict(&world, &first), Ok(()));
    assert_eq!(verdict(&world, &other), Err(Reason::TrustStateRolledBack));
}

fn second_row(forge: &Forge, change: impl FnOnce(&mut Value)) -> Forge {
    let mut forge = forge.clone();
    let mut row = forge.latest().clone();
    row["release_identity"]["sequence"] = json!(2);
    change(&mut row);
    forge.rows.push(row);
    forge.linked()
}

#[test]
fn a_ledger_that_forgot_its_latest_row_is_a_rollback() {
    let first = Forge::new();
    let second = second_row(&first, |_| {});
    let world = World::of(first.root());
    assert_eq!(verdict(&world, &second), Ok(()));
    assert_eq!(verdict(&world, &first), Err(Reason::TrustStateRolledBack));
    let other = second_row(&first, |row| row["publication_policy_sha256"] = json!(sha256(b"another policy")));
    assert_eq!(verdict(&world, &other), Err(Reason::TrustStateRolledBack));
}

#[test]
fn a_clock_that_was_set_back_is_not_believed() {
    let forge = Forge::new();
    let mut world = World::of(forge.root());
    assert_eq!(verdict(&world, &forge), Ok(()));
    for (now, expected) in [
        ("2026-10-19T12:00:00Z", Err(Reason::ClockUntrusted)),
        ("2026-10-20T11:54:59Z", Err(Reason::ClockUntrusted)),
        ("2026-10-20T11:55:00Z", Ok(())),
        ("2026-10-21T12:00:00Z", Ok(())),
        ("2026-10-20T12:00:00Z", Err(Reason::ClockUntrusted)),
    ] {
        world = world.at(now);
        assert_eq!(verdict(&world, &forge), expected, "{now}");
    }
}

#[test]
fn what_was_seen_is_private_and_written_only_when_something_was_verified() {
    let forge = Forge::new();
    let world = World::of(forge.root());
    assert!(world.verdict(&forge.ledger(), None).is_err());
    assert!(!world.path(FILE).exists());
    let mut forged = forge.rows[0].clone();
    forged["release_identity"]["sequence"] = json!(9_007_199_254_740_991_u64);
    hash_row(&mut forged);
    assert_eq!(verdict(&world, &forge), Ok(()));
    assert_eq!(world.path(FILE).metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let text = std::fs::read_to_string(world.path(FILE)).unwrap();
    assert!(!text.contains("admitted"), "no verdict is kept: {text}");
}

#[test]
fn a_memory_that_cant_be_believed_admits_nothing() {
    let forge = Forge::new();
    let world = World::of(forge.root());
    assert_eq!(verdict(&world, &forge), Ok(()));
    let good = std::fs::read(world.path(FILE)).unwrap();
    let text = String::from_utf8(good.clone()).unwrap();
    for corrupt in [
        String::new(),
        "{}".to_owned(),
        text.replace("2026", "26"),
        text.replace("\"sequence\":1", "\"sequence\":0"),
        text.replace("/v1", "/v2"),
        text[..text.len() / 2].to_owned(),
    ] {
        std::fs::write(world.path(FILE), corrupt).unwrap();
        assert_eq!(verdict(&world, &forge), Err(Reason::ClockUntrusted));
    }
    std::fs::remove_file(world.path(FILE)).unwrap();
    std::os::unix::fs::symlink("elsewhere", world.path(FILE)).unwrap();
    assert_eq!(verdict(&world, &forge), Err(Reason::ClockUntrusted));
    std::fs::remove_file(world.path(FILE)).unwrap();
    std::fs::write(world.path(FILE), good).unwrap();
    assert_eq!(verdict(&world, &forge), Ok(()));
}
