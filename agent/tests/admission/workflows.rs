//! Workflow admissions: the list, the object behind a row, its decision and its trials, and the bundle in this place.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use openadapt_agent::admission::Reason;
use openadapt_agent::admission::live::Live;
use openadapt_agent::flow::canonical::Tree;
use serde_json::{Value, json};

use crate::forge::{Forge, registered, sha256};
use crate::world::{World, workflow_judged};

/// The admission and its decision changed alike, then everything signed.
fn both(change: impl Fn(&mut Value)) -> Result<(), Reason> {
    let mut forge = Forge::new();
    change(&mut forge.admission);
    change(&mut forge.receipt);
    forge.receipt["campaign_summary"]["classes"] = forge.admission["campaign_summary"].clone();
    workflow_judged(&forge.linked())
}

#[test]
fn a_listed_workflow_is_admitted_with_its_evidence_only() {
    let forge = Forge::new();
    assert_eq!(workflow_judged(&forge), Ok(()));
    let world = World::of(forge.root());
    assert_eq!(world.workflow(&forge.workflows(), None), Err(Reason::SignatureUnavailable));
    let mut other = forge.workflows();
    other["admissions"] = json!([]);
    assert_eq!(world.workflow(&other, Some(&forge.pack())), Err(Reason::WorkflowNotListed));
}

#[test]
fn a_list_has_one_of_two_shapes() {
    let forge = Forge::new();
    let world = World::of(forge.root());
    let mut source = forge.workflows();
    source["schema_version"] = json!("openadapt.production-workflow-admissions/v1");
    for key in ["bundle_version", "evidence_class", "expires_at", "verdict"] {
        source["admissions"][0].as_object_mut().unwrap().remove(key);
    }
    assert_eq!(world.workflow(&source, Some(&forge.pack())), Ok(()));
    source["schema_version"] = json!("openadapt.public-production-workflow-admissions/v1");
    assert_eq!(world.workflow(&source, Some(&forge.pack())), Err(Reason::LedgerMalformed));
    source["schema_version"] = json!("openadapt.public-production-workflow-admissions/v2");
    assert_eq!(world.workflow(&source, Some(&forge.pack())), Err(Reason::LedgerSchemaUnsupported));
    let mut more = forge.workflows();
    more["more"] = json!(1);
    assert_eq!(world.workflow(&more, Some(&forge.pack())), Err(Reason::LedgerMalformed));
}

#[test]
fn a_row_says_what_its_object_says() {
    let forge = Forge::new();
    for (key, value, reason) in [
        ("bundle_version", json!("3.2.2"), Reason::RowObjectMismatch),
        ("evidence_class", json!("private-customer"), Reason::RowObjectMismatch),
        ("expires_at", json!("2026-11-01T00:00:00Z"), Reason::RowObjectMismatch),
        ("verdict", json!("rejected"), Reason::RowObjectMismatch),
        ("size_bytes", json!(1), Reason::RowObjectMismatch),
        ("semantic_identity_sha256", json!(sha256(b"x")), Reason::RowObjectMismatch),
        ("kind", json!("qualification-release"), Reason::AdmissionMalformed),
        ("object_path", json!("elsewhere"), Reason::AdmissionMalformed),
        ("more", json!(1), Reason::AdmissionMalformed),
    ] {
        let mut list = forge.workflows();
        list["admissions"][0][key] = value;
        assert_eq!(World::of(forge.root()).workflow(&list, Some(&forge.pack())), Err(reason), "{key}");
    }
}

#[test]
fn an_admission_has_its_shape_and_its_own_id() {
    for (key, value, reason) in [
        ("bundle_version", json!("1.2"), Reason::AdmissionMalformed),
        ("bundle_version", json!("01.2.3"), Reason::AdmissionMalformed),
        ("bundle_version", json!("1.2.3-"), Reason::AdmissionMalformed),
        ("entity_class", json!("Record"), Reason::AdmissionMalformed),
        ("evidence_class", json!("other"), Reason::AdmissionMalformed),
    ] {
        assert_eq!(both(|document| document[key] = value.clone()), Err(reason), "{key} {value}");
    }
    for version in ["0.0.0-synthetic", "1.2.3-reference.1", "9999999999.0.0"] {
        assert_eq!(both(|document| document["bundle_version"] = json!(version)), Ok(()), "{version}");
    }
    let mut renamed = Forge::new();
    renamed.admission["admission_id_sha256"] = json!(sha256(b"x"));
    assert_eq!(workflow_judged(&renamed), Err(Reason::AdmissionDigestMismatch));
    let mut opening = Forge::new();
    opening.admission["local_identity_opening"]["maximum_age_seconds"] = json!(61);
    assert_eq!(workflow_judged(&opening.linked()), Err(Reason::AdmissionMalformed));
}

#[test]
fn an_admission_counts_until_its_end_and_for_a_week_at_most() {
    let only = |change: fn(&mut Value)| {
        let mut forge = Forge::new();
        change(&mut forge.admission);
        workflow_judged(&forge.linked())
    };
    assert_eq!(
        only(|admission| admission["expires_at"] = json!("2026-10-20T12:00:00Z")),
        Err(Reason::AdmissionExpired)
    );
    assert_eq!(only(|admission| admission["expires_at"] = json!("2026-10-20T12:00:01Z")), Err(Reason::ValidityTooLong));
    let week = |admission: &mut Value| {
        admission["issued_at"] = json!("2026-10-14T12:00:01Z");
        admission["not_before"] = json!("2026-10-14T12:00:01Z");
        admission["expires_at"] = json!("2026-10-21T12:00:01Z");
    };
    assert_eq!(only(week), Ok(()));
    assert_eq!(only(|admission| admission["verdict"] = json!("rejected")), Err(Reason::VerdictNotAccepted));
    let elsewhere = |admission: &mut Value| admission["issuer"]["environment"] = json!("production-release-admission");
    assert_eq!(only(elsewhere), Err(Reason::IssuerMismatch));
}

#[test]
fn a_decision_must_be_there_and_say_the_same() {
    let forge = Forge::new();
    let mut pack = forge.pack();
    pack["receipts_base64"] = json!([]);
    assert_eq!(World::of(forge.root()).workflow(&forge.workflows(), Some(&pack)), Err(Reason::ReceiptMismatch));
    for key in ["bundle_sha256", "workflow_id_sha256", "policy_contract_sha256", "bundle_version", "evidence_class"] {
        let mut forge = Forge::new();
        forge.receipt[key] = if key.ends_with("_sha256") { json!(sha256(b"x")) } else { json!("private-customer") };
        assert_eq!(workflow_judged(&forge.linked()), Err(Reason::ReceiptMismatch), "{key}");
    }
    let mut authority = Forge::new();
    authority.receipt["evidence_authority_contract_sha256"] = json!(sha256(b"x"));
    assert_eq!(workflow_judged(&authority.linked()), Err(Reason::ReceiptMismatch));
    let mut trials = Forge::new();
    trials.receipt["campaign_summary"]["classes"]["healthy"]["over_halt_count"] = json!(1);
    assert_eq!(workflow_judged(&trials.linked()), Err(Reason::ReceiptMismatch));
}

#[test]
fn trials_with_one_unsafe_or_silent_failure_are_not_acceptable() {
    for (class, count, value) in [
        ("healthy", "unsafe_effect_count", 1),
        ("safe_halt", "silent_incorrect_success_count", 1),
        ("governed_repair", "blind_retry_count", 1),
        ("healthy", "model_call_count", 1),
        ("idempotency_replay", "unplanned_intervention_count", 1),
        ("uncertain_delivery", "reconciliation_required_count", 2),
        ("uncertain_delivery", "replay_dispatch_count", 1),
        ("healthy", "observed_trial_count", 2),
        ("healthy", "minimum_trials_per_cell", 2),
        ("healthy", "task_condition_cell_count", 0),
        ("healthy", "task_condition_cell_count", 2),
    ] {
        let verdict = both(|document| {
            if document["campaign_summary"].get("healthy").is_some() {
                document["campaign_summary"][class][count] = json!(value);
            }
        });
        assert_eq!(verdict, Err(Reason::CampaignNotAcceptable), "{class} {count}");
    }
    assert_eq!(both(|_| {}), Ok(()));
}

#[test]
fn a_workflow_is_revoked_under_each_of_its_names() {
    let forge = Forge::new();
    let names = [
        forge.semantic("qualification-admission", &forge.admission),
        sha256(&registered(&forge.admission)),
        forge.admission["admission_id_sha256"].as_str().unwrap().to_owned(),
    ];
    for name in names {
        let revoking = forge.clone().revoking(&[("qualification-admission", &name)]);
        assert_eq!(workflow_judged(&revoking), Err(Reason::AdmissionRevoked));
        assert_eq!(crate::world::judged(&revoking), Ok(()), "the release isn't touched by it");
    }
}

#[test]
fn an_object_that_is_only_signed_inside_is_not_admitted() {
    let forge = Forge::new();
    let mut pack = forge.pack();
    pack["objects"][1]["bundle_base64"] = pack["objects"][0]["bundle_base64"].clone();
    assert_eq!(World::of(forge.root()).workflow(&forge.workflows(), Some(&pack)), Err(Reason::SignatureInvalid));
    pack["objects"][1]["bundle_base64"] = STANDARD.encode("{}\n").into();
    assert_eq!(World::of(forge.root()).workflow(&forge.workflows(), Some(&pack)), Err(Reason::SignatureInvalid));
}

const LIVE: [&str; 13] = [
    "organization_id_sha256",
    "workflow_id_sha256",
    "workflow_version_id_sha256",
    "admitted_runtime_sha256",
    "application_contract_sha256",
    "environment_contract_sha256",
    "input_contract_sha256",
    "action_contract_sha256",
    "identity_contract_sha256",
    "effect_contract_sha256",
    "policy_contract_sha256",
    "bundle_sha256",
    "bundle_version",
];

#[test]
fn a_bundle_is_the_admitted_one_in_every_field_or_not_at_all() {
    let forge = Forge::new();
    let tree = Tree::parse(&registered(&forge.admission), 1 << 20).unwrap();
    let fields = || LIVE.map(|key| (key.to_owned(), forge.admission[key].as_str().unwrap().to_owned()));
    let verdict = |live: &Live| live.is_admitted_by_tree(&tree);
    assert_eq!(verdict(&Live::of(fields())), Ok(()));
    for (key, reason) in [
        ("bundle_version", Reason::BundleVersionMismatch),
        ("bundle_sha256", Reason::BundleDigestMismatch),
        ("admitted_runtime_sha256", Reason::RuntimeMismatch),
        ("environment_contract_sha256", Reason::EnvironmentMismatch),
        ("policy_contract_sha256", Reason::PolicyMismatch),
        ("effect_contract_sha256", Reason::ContractMismatch),
        ("organization_id_sha256", Reason::ContractMismatch),
    ] {
        let mut other = fields();
        other.iter_mut().filter(|(field, _)| field == key).for_each(|(_, value)| *value = sha256(b"x"));
        assert_eq!(verdict(&Live::of(other)), Err(reason), "{key}");
        let fewer = fields().into_iter().filter(|(field, _)| field != key);
        assert_eq!(verdict(&Live::of(fewer)), Err(Reason::LiveBindingIncomplete), "{key}");
    }
    let mut real_people = Live::of(fields());
    real_people.contains_phi = true;
    assert_eq!(verdict(&real_people), Err(Reason::EvidenceClassNotAllowed));
}

#[test]
fn a_folder_without_a_bundle_is_admitted_by_nothing() {
    let forge = Forge::new();
    let mut world = World::of(forge.root());
    world.bundle = Some(world.folder.path().to_owned());
    assert_eq!(world.workflow(&forge.workflows(), Some(&forge.pack())), Err(Reason::LiveBindingIncomplete));
}
