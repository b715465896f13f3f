//! The samples, which share no code with this program: each verdict as its file's name has it.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use openadapt_agent::admission::Reason;
use openadapt_agent::admission::status::Verification;
use openadapt_agent::admission::trust::TrustRoot;
use serde_json::Value;

use crate::forge::{Forge, in_domain, registered, sample, sha256};
use crate::world::World;

const ADMITTED: &str = "01_lifecycle__admitted_with_10_pack__alone_signature_unavailable";
const WORKFLOWS: &str = "08_workflows__bundle_3.2.1__admitted_with_10_pack__revoked_with_11_pack";

pub fn root() -> TrustRoot {
    let root = sample("00_test_trust_root");
    let key = URL_SAFE_NO_PAD.decode(root["public_key"].as_str().unwrap()).unwrap().try_into().unwrap();
    TrustRoot::new(key, root["signer_registry_identity_sha256"].as_str().unwrap())
}

fn with_pack(name: &str) -> Result<(), Reason> {
    World::of(root()).verdict(&sample(name), Some(&sample("10_pack__current__ok")))
}

#[test]
fn the_test_root_has_the_names_that_the_sample_says() {
    let told = sample("00_test_trust_root");
    assert_eq!(root().inner_key_id(), told["inner_key_id"].as_str().unwrap());
    assert_eq!(root().outer_key_id(), told["outer_key_id"].as_str().unwrap());
}

#[test]
fn a_good_ledger_is_admitted_with_its_pack_and_never_alone() {
    assert_eq!(with_pack(ADMITTED), Ok(()));
    assert_eq!(World::of(root()).verdict(&sample(ADMITTED), None), Err(Reason::SignatureUnavailable));
}

#[test]
fn the_files_as_they_are_and_not_only_what_they_say() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../schemas/samples/admission/");
    let file = |name: &str| std::path::PathBuf::from(format!("{folder}{name}.json"));
    let status =
        World::of(root()).look_at(&file(ADMITTED), Some(&file(WORKFLOWS)), Some(&file("10_pack__current__ok")));
    assert_eq!((status.verdict, status.verification), (Ok(()), Verification::Full));
    assert_eq!(status.workflows[0].verdict, Ok(()));
    assert!(!status.product_wide());
}

#[test]
fn every_other_ledger_is_refused_as_its_name_says() {
    for (name, reason) in [
        ("02_lifecycle__tampered__admission_digest_mismatch", Reason::AdmissionDigestMismatch),
        ("03_lifecycle__latest_expired_older_present__admission_expired", Reason::AdmissionExpired),
        ("04_lifecycle__future_dated__admission_not_yet_valid", Reason::AdmissionNotYetValid),
        ("06_lifecycle__duplicate_target__ledger_malformed", Reason::LedgerMalformed),
        ("07_lifecycle__unknown_schema__ledger_schema_unsupported", Reason::LedgerSchemaUnsupported),
    ] {
        assert_eq!(with_pack(name), Err(reason), "{name}");
    }
}

#[test]
fn a_listed_workflow_is_admitted_with_its_pack_and_not_when_its_row_says_something_else() {
    let pack = sample("10_pack__current__ok");
    let world = World::of(root());
    let verdict = |name: &str, pack: Option<&Value>| world.workflow(&sample(name), pack);
    assert_eq!(verdict(WORKFLOWS, Some(&pack)), Ok(()));
    assert_eq!(verdict(WORKFLOWS, None), Err(Reason::SignatureUnavailable));
    let differs = "09_workflows__row_differs_from_object__row_object_mismatch";
    assert_eq!(verdict(differs, Some(&pack)), Err(Reason::RowObjectMismatch));
}

#[test]
fn the_program_itself_trusts_none_of_them() {
    let published = TrustRoot::published().unwrap();
    let verdict = World::of(published).verdict(&sample(ADMITTED), Some(&sample("10_pack__current__ok")));
    assert_eq!(verdict, Err(Reason::SignerRegistryUntrusted));
}

/// What makes the tests' own packs agrees with the samples about every digest; its signatures are made with another key.
#[test]
fn the_forge_makes_what_the_samples_are() {
    let forge = Forge::new();
    let ledger = sample(ADMITTED);
    let row = &ledger["targets"][0]["latest_admission"];
    let mut again = row.clone();
    crate::forge::hash_row(&mut again);
    assert_eq!(&again, row);
    let registry = &forge.registry;
    assert_ne!(
        in_domain("OpenAdapt qualification signer registry v2", registry),
        sample("00_test_trust_root")["signer_registry_identity_sha256"].as_str().unwrap()
    );
    let list = sample(WORKFLOWS);
    assert_eq!(list["admissions"][0]["size_bytes"], registered(&forge.admission).len());
    assert_ne!(list["admissions"][0]["object_sha256"], sha256(&registered(&forge.admission)));
}
