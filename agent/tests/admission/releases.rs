//! One row: what it must say, when it counts, and whether it is what is installed.

use openadapt_agent::admission::release::Installed;
use openadapt_agent::admission::{Reason, TargetId};
use serde_json::{Value, json};

use crate::forge::{Forge, hash_row};
use crate::world::{NOW, VERSION, WHEEL, World, judged};

/// One thing that is changed, by its name.
type Change<T> = (&'static str, fn(&mut T));

/// The latest row changed, its digests made anew, everything signed.
fn changed(change: impl FnOnce(&mut Value)) -> Result<(), Reason> {
    let mut forge = Forge::new();
    change(&mut forge.rows[0]);
    judged(&forge.linked())
}

#[test]
fn a_row_is_about_its_own_target() {
    for (key, value, reason) in [
        ("target", "flow", Reason::TargetMismatch),
        ("claim_scope", "qualified_agent_bridge_release", Reason::ClaimScopeMismatch),
        ("verdict", "rejected", Reason::VerdictNotAccepted),
    ] {
        assert_eq!(changed(|row| row[key] = value.into()), Err(reason), "{key}");
    }
    assert_eq!(changed(|row| row["release"]["kind"] = json!("hybrid")), Err(Reason::ReleaseKindMismatch));
    for (key, value) in
        [("repository_id", "1"), ("ref", "refs/heads/other"), ("environment", "qualification-admission")]
    {
        assert_eq!(changed(|row| row["issuer"][key] = value.into()), Err(Reason::IssuerMismatch), "{key}");
    }
}

#[test]
fn a_row_of_another_target_is_a_target_mismatch_whatever_else_is_wrong() {
    let forge = Forge::new();
    let mut ledger = forge.ledger();
    ledger["targets"][5]["admission_history"] = ledger["targets"][0]["admission_history"].clone();
    ledger["targets"][5]["latest_admission"] = ledger["targets"][0]["latest_admission"].clone();
    let world = World { target: TargetId::parse("flow").unwrap(), ..World::of(forge.root()) };
    assert_eq!(world.verdict(&ledger, Some(&forge.pack())), Err(Reason::TargetMismatch));
}

#[test]
fn a_row_has_its_shape() {
    let malformed: [Change<Value>; 16] = [
        ("another key", |row| row["more"] = json!(1)),
        ("a null revocation", |row| row["revoked_at"] = Value::Null),
        ("no class", |row| row["evidence_class"] = json!("other")),
        ("a day that isn't", |row| row["issued_at"] = json!("2026-02-29T00:00:00Z")),
        ("an offset", |row| row["issued_at"] = json!("2026-10-01T08:00:00+00:00")),
        ("a small z", |row| row["not_before"] = json!("2026-10-01T08:00:00z")),
        ("an end before the beginning", |row| row["expires_at"] = json!("2026-09-01T08:00:00Z")),
        ("a bare digest", |row| row["publication_policy_sha256"] = json!("0".repeat(64))),
        ("a deployment in a package", |row| row["release"]["deployment_id"] = json!("1")),
        ("a tag of another version", |row| row["release"]["tag"] = json!("v1")),
        ("a short commit", |row| row["release"]["source_commit"] = json!("abc")),
        ("an empty file", |row| row["release"]["artifacts"][0]["size_bytes"] = json!(0)),
        ("a place of no known name", |row| row["release"]["artifacts"][0]["publish_destinations"] = json!(["ftp"])),
        ("a name twice", |row| {
            let name = row["release"]["artifacts"][0]["name"].as_str().unwrap().to_uppercase();
            row["release"]["artifacts"][1]["name"] = json!(name);
        }),
        ("an object elsewhere", |row| row["production_acceptance_summary_reference"]["object_path"] = json!("x")),
        ("another channel", |row| row["release_identity"]["channel"] = json!("beta")),
    ];
    for (what, change) in malformed {
        assert_eq!(changed(change), Err(Reason::AdmissionMalformed), "{what}");
    }
}

#[test]
fn one_changed_character_breaks_a_digest() {
    let forge = Forge::new();
    let mut ledger = forge.ledger();
    let digest = &mut ledger["targets"][0]["latest_admission"]["release"]["artifacts"][0]["sha256"];
    *digest = digest.as_str().unwrap().replacen(":5", ":6", 1).into();
    ledger["targets"][0]["admission_history"][0] = ledger["targets"][0]["latest_admission"].clone();
    let world = World::of(forge.root());
    assert_eq!(world.verdict(&ledger, Some(&forge.pack())), Err(Reason::AdmissionDigestMismatch));
    let unsorted = |row: &mut Value| row["release"]["artifacts"].as_array_mut().unwrap().reverse();
    assert_eq!(changed(unsorted), Err(Reason::AdmissionDigestMismatch));
}

#[test]
fn a_row_that_somebody_made_anew_has_no_signature() {
    let honest = Forge::new();
    let mut forged = honest.clone();
    forged.rows[0]["release"]["artifacts"][0]["sha256"] = json!(format!("sha256:{}", "0".repeat(64)));
    hash_row(&mut forged.rows[0]);
    let world = World::of(honest.root());
    assert_eq!(world.verdict(&forged.ledger(), Some(&honest.pack())), Err(Reason::SignatureUnavailable));
    let mut forced = honest.pack();
    forced["objects"][0]["object_base64"] = forged.pack()["objects"][0]["object_base64"].clone();
    assert_eq!(world.verdict(&forged.ledger(), Some(&forced)), Err(Reason::SignatureInvalid));
}

#[test]
fn a_row_counts_from_its_beginning_to_before_its_end() {
    let dated = |row: &mut Value| row["expires_at"] = json!(NOW);
    assert_eq!(changed(dated), Err(Reason::AdmissionExpired));
    assert_eq!(changed(|row| row["expires_at"] = json!("2026-10-20T12:00:01Z")), Ok(()));
    assert_eq!(changed(|row| row["expires_at"] = json!("2026-10-31T08:00:01Z")), Err(Reason::ValidityTooLong));
    assert_eq!(changed(|row| row["not_before"] = json!(NOW)), Ok(()));
    assert_eq!(changed(|row| row["not_before"] = json!("2026-10-20T12:00:01Z")), Err(Reason::AdmissionNotYetValid));
    let later = |row: &mut Value| {
        row["issued_at"] = json!("2026-10-20T12:05:01Z");
        row["not_before"] = json!(NOW);
    };
    assert_eq!(changed(later), Err(Reason::AdmissionNotYetValid));
}

#[test]
fn a_row_without_an_end_counts_only_with_what_is_revoked_beside_it() {
    let forge = Forge::new();
    assert!(forge.latest()["expires_at"].is_null());
    assert_eq!(World::of(forge.root()).verdict(&forge.ledger(), None), Err(Reason::SignatureUnavailable));
    assert_eq!(judged(&forge), Ok(()));
}

#[test]
fn a_row_that_says_it_was_revoked_is_revoked() {
    let mut forge = Forge::new();
    forge.rows[0]["revoked_at"] = json!("2026-10-10T00:00:00Z");
    hash_row(&mut forge.rows[0]);
    assert_eq!(World::of(forge.root()).verdict(&forge.ledger(), None), Err(Reason::AdmissionRevoked));
}

#[test]
fn only_what_is_installed_is_admitted() {
    let forge = Forge::new();
    let verdict = |version: &str, artifact: Option<&str>| {
        let installed = Installed { version: version.to_owned(), artifact_sha256: artifact.map(str::to_owned) };
        World { installed, ..World::of(forge.root()) }.verdict(&forge.ledger(), Some(&forge.pack()))
    };
    assert_eq!(verdict(VERSION, Some(WHEEL)), Ok(()));
    assert_eq!(verdict("9.1.1", Some(WHEEL)), Err(Reason::ReleaseMismatch));
    assert_eq!(verdict(VERSION, Some(&format!("sha256:{}", "0".repeat(64)))), Err(Reason::ReleaseDigestMismatch));
    assert_eq!(verdict(VERSION, None), Err(Reason::ReleaseDigestMismatch));
    let elsewhere = |row: &mut Value| row["release"]["source_repository"] = json!("OpenAdaptAI/openadapt-flow");
    assert_eq!(changed(elsewhere), Err(Reason::ReleaseMismatch));
}

#[test]
fn another_target_is_judged_as_a_release_and_not_as_what_is_installed_here() {
    let mut forge = Forge::new();
    forge.target = "flow";
    let row = &mut forge.rows[0];
    row["target"] = json!("flow");
    row["claim_scope"] = json!("production_flow");
    row["release"]["source_repository"] = json!("OpenAdaptAI/openadapt-flow");
    row["release"]["source_repository_id"] = json!("1291376938");
    let forge = forge.linked();
    let world = World { target: TargetId::parse("flow").unwrap(), ..World::of(forge.root()) };
    assert_eq!(world.verdict(&forge.ledger(), Some(&forge.pack())), Ok(()));
    assert_eq!(judged(&forge), Err(Reason::NoAdmission));
}
