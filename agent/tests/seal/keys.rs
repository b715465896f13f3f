//! Pinned keys: one entry that can't be believed and none is, and what a list may change.

use openadapt_agent::seal::keys::Whereabouts;
use openadapt_agent::seal::pin::Plan;
use openadapt_agent::seal::receipt::{self, Refusal};
use openadapt_agent::seal::{Keys, document};
use serde_json::{Value, json};

use crate::forge::{Issuer, pinned, receipt as plain, tree};

fn read(document: &Value) -> Option<Keys> {
    Keys::read(document.to_string().as_bytes())
}

#[test]
fn one_bad_entry_makes_the_whole_list_unbelievable() {
    let (good, other) = (Issuer::new(1).entry(), Issuer::new(2).entry());
    assert!(read(&json!({ "keys": [good, other] })).is_some());
    let changed = |key: &str, value: Value| {
        let mut entry = other.clone();
        entry[key] = value;
        read(&json!({ "keys": [good, entry] }))
    };
    for (key, value) in [
        ("key_id", json!("seal-ed25519-0000000000000000")),
        ("key_id", json!("x")),
        ("public_key", json!("AAAA")),
        ("public_key", json!("not base64")),
        ("public_key", json!(1)),
        ("status", json!("trusted")),
        ("status", json!("revoked")),
        ("status", Value::Null),
        ("revoked_at", json!("2026-01-01T00:00:00Z")),
    ] {
        assert!(changed(key, value.clone()).is_none(), "{key} {value}");
    }
    assert!(read(&json!({ "keys": [good, good] })).is_none());
    assert!(read(&json!({ "keys": "x" })).is_none());
    assert!(read(&json!({})).is_none());
}

#[test]
fn a_revoked_key_counts_for_what_it_signed_before() {
    let issuer = Issuer::new(1);
    let sealed = tree(&issuer.sealed(&plain()));
    let verdict = |at: &str| receipt::verify(&sealed, &pinned(&[issuer.revoked(at)])).map(|_| ());
    assert_eq!(verdict("2026-10-04T10:00:01Z"), Ok(()));
    assert_eq!(verdict("2026-10-04T10:00:00Z"), Err(Refusal::RevokedKey));
    assert_eq!(receipt::verify(&sealed, &Keys::default()).map(|_| ()), Err(Refusal::NoPinnedKeys));
    let other = pinned(&[Issuer::new(2).entry()]);
    assert_eq!(receipt::verify(&sealed, &other).map(|_| ()), Err(Refusal::UnknownKey));
}

#[test]
fn a_list_adds_only_what_a_person_names_and_takes_trust_without_asking() {
    let (known, new, gone) = (Issuer::new(1), Issuer::new(2), Issuer::new(3));
    let before = pinned(&[known.entry(), gone.entry()]);
    let at = "2026-10-01T00:00:00Z";
    let listed = pinned(&[known.revoked(at), new.entry(), Issuer::new(4).revoked(at)]);
    let plan = Plan::of(&before, &listed);
    assert_eq!(plan.offered.iter().map(|key| key.id().to_owned()).collect::<Vec<_>>(), [new.id()]);
    assert_eq!(plan.missing, [gone.id()]);
    let without = plan.applied(&before, &[]);
    assert!(without.get(&new.id()).is_none());
    assert!(without.get(&known.id()).unwrap().revoked_at().is_some());
    assert!(without.get(&gone.id()).unwrap().revoked_at().is_none());
    let with = plan.applied(&before, &[new.id(), Issuer::new(4).id()]);
    assert!(with.get(&new.id()).is_some());
    assert!(with.get(&Issuer::new(4).id()).is_none(), "a key that is listed as revoked is never pinned");
}

#[test]
fn a_list_never_gives_trust_back() {
    let key = Issuer::new(1);
    let before = pinned(&[key.revoked("2026-10-01T00:00:00Z")]);
    for listed in [pinned(&[key.entry()]), pinned(&[key.revoked("2026-11-01T00:00:00Z")]), pinned(&[])] {
        let plan = Plan::of(&before, &listed);
        assert_eq!(plan.applied(&before, &[key.id()]), before);
    }
    let earlier = Plan::of(&before, &pinned(&[key.revoked("2026-09-01T00:00:00Z")])).applied(&before, &[]);
    assert_ne!(earlier, before);
}

#[test]
fn keys_are_looked_for_where_a_person_said() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (Issuer::new(1), Issuer::new(2));
    let list = |issuer: &Issuer| json!({ "keys": [issuer.entry()] }).to_string();
    std::fs::create_dir(folder.path().join(".openadapt")).unwrap();
    std::fs::write(folder.path().join(".openadapt/seal-keys.json"), list(&a)).unwrap();
    let home = Whereabouts { home: Some(folder.path().to_owned()), ..Whereabouts::default() };
    assert!(home.keys().get(&a.id()).is_some());
    let inline = Whereabouts { inline: Some(list(&b)), ..home.clone() };
    assert!(inline.keys().get(&b.id()).is_some());
    let named = Whereabouts { path: Some(folder.path().join("none.json")), ..inline };
    assert!(named.keys().is_empty(), "a file that was named and can't be read isn't replaced by another");
    let broken = Whereabouts { inline: Some("{".to_owned()), ..home };
    assert!(broken.keys().is_empty());
}

#[test]
fn a_pinned_file_reads_back_as_it_was_written() {
    let keys = pinned(&[Issuer::new(1).entry(), Issuer::new(2).revoked("2026-10-01T00:00:00Z")]);
    let written = keys.to_file("https://example.org/keys", "2026-10-20T12:00:00Z".parse().unwrap());
    assert_eq!(Keys::read(&written), Some(keys));
    assert!(String::from_utf8(written).unwrap().contains("openadapt.seal-keys-pin/v1"));
}

#[test]
fn what_holds_no_receipt_says_so() {
    let keys = Keys::default();
    let reason = |text: &str| document::look(text.as_bytes(), &keys).key;
    assert_eq!(reason("{"), Err(Refusal::Unreadable));
    assert_eq!(reason("{}"), Err(Refusal::NoReceipt));
    assert_eq!(reason("[]"), Err(Refusal::NoReceipt));
    assert_eq!(reason(r#"{"execute_receipt": {}}"#), Err(Refusal::Unsigned));
    assert_eq!(reason(r#"{"seal_signature": 1}"#), Err(Refusal::Malformed));
}
