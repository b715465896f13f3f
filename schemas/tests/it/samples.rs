//! What a real engine and the Python agent left behind, and what becomes of it when one thing is changed.

use std::path::{Path, PathBuf};

use hmac::{Hmac, Mac};
use schemas::Schema;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::held_against::{accepts, refuses_by};

const KINDS: [(&str, Schema, usize); 4] = [
    ("report.json", Schema::FlowReport, 9),
    ("pending_escalation.json", Schema::FlowPendingEscalation, 6),
    ("attended_capability.json", Schema::FlowAttendedCapability, 8),
    ("__agent_record.json", Schema::RunRecord, 4),
];

/// A change at a JSON pointer, and where it must be found.
enum Change {
    Set(&'static str, Value),
    Add(&'static str),
    Remove(&'static str),
}
use Change::{Add, Remove, Set};

#[test]
fn every_file_of_every_run_directory_is_valid() {
    for (name, schema, expected) in KINDS {
        let found: Vec<PathBuf> =
            cases().into_iter().map(|case| case.join(name)).filter(|path| path.exists()).collect();
        assert_eq!(found.len(), expected, "{name}");
        for path in found {
            valid(schema, &path);
        }
    }
}

#[test]
fn every_hand_built_report_is_valid() {
    let reports = folder("reports");
    assert_eq!(reports.len(), 11);
    for path in reports {
        valid(Schema::FlowReport, &path);
    }
}

#[test]
fn changed_reports_are_refused_for_what_was_changed() {
    let report = read(&samples().join("flow-1.35.1/normal/report.json"));
    let cases = [
        (Set("/success", json!("yes")), "/success", "/type"),
        (Set("/execution_outcome", json!("DONE")), "/execution_outcome", "/anyOf"),
        (Set("/transaction_outcome", json!(["VERIFIED"])), "/transaction_outcome", "/anyOf"),
        (Set("/execution_profile", json!({})), "/execution_profile", "/enum"),
        (Set("/transaction_billable", json!(false)), "/transaction_billable", "/const"),
        (Set("/halt", json!({})), "/halt", "/const"),
        (Set("/execution_profile", json!("demo")), "/execution_profile", "/enum"),
        (Set("/run_id_sha256", json!("E6A4")), "/run_id_sha256", "/pattern"),
        (Set("/model_calls", json!(-1)), "/model_calls", "/minimum"),
        (Set("/params/note", json!(["x"])), "/params/note", "/type"),
        (Set("/outcome_envelope/outcome", json!("MAYBE")), "/outcome_envelope/outcome", "/enum"),
        (
            Set("/outcome_envelope/required_contracts/effect", json!(-2)),
            "/outcome_envelope/required_contracts/effect",
            "/minimum",
        ),
        (Set("/results/0/identity/status", json!("sure")), "/results/0/identity/status", "/enum"),
        (
            Set("/results/5/effect_evidence/0/final_verdict", json!("fine")),
            "/results/5/effect_evidence/0/final_verdict",
            "/enum",
        ),
        (Set("/effect_journal/0/attempt_state", json!("sent")), "/effect_journal/0/attempt_state", "/enum"),
        (Add("/later_key"), "", "/additionalProperties"),
        (Add("/results/0/later_key"), "/results/0", "/additionalProperties"),
        (Add("/outcome_envelope/later_key"), "/outcome_envelope", "/additionalProperties"),
        (Remove("/canceled"), "", "/required"),
        (Remove("/results/0/delivery_attempted"), "/results/0", "/required"),
        (Remove("/outcome_envelope/passed_contracts"), "/outcome_envelope", "/required"),
    ];
    refused_each(Schema::FlowReport, &report, cases);
}

#[test]
fn every_one_of_the_77_keys_of_a_report_is_required() {
    let report = read(&samples().join("flow-1.35.1/normal/report.json"));
    let keys: Vec<String> = report.as_object().unwrap().keys().cloned().collect();
    assert_eq!(keys.len(), 77);
    for key in keys {
        let mut without = report.clone();
        without.as_object_mut().unwrap().remove(&key);
        refuses_by(Schema::FlowReport, &without, "", "/required");
    }
}

#[test]
fn a_halted_report_that_claims_success_is_refused() {
    let report = read(&samples().join("flow-1.35.1/duplicate_record/report.json"));
    let cases = [
        (Set("/success", json!(true)), "/success", "/const"),
        (Set("/production_eligible", json!(true)), "/execution_outcome", "/const"),
        (Set("/canceled", json!(true)), "/canceled", "/const"),
        (Set("/transaction_outcome", json!("VERIFIED")), "/execution_outcome", "/const"),
        (Set("/halt/observed_texts", json!("x")), "/halt/observed_texts", "/type"),
    ];
    refused_each(Schema::FlowReport, &report, cases);
}

#[test]
fn changed_pauses_are_refused_for_what_was_changed() {
    let pending = read(&samples().join("flow-1.35.1/duplicate_record/pending_escalation.json"));
    let cases = [
        (Set("/category", json!("confusion")), "/category", "/enum"),
        (Set("/status", json!("open")), "/status", "/enum"),
        (Set("/step_index", json!("0")), "/step_index", "/type"),
        (Set("/stale_after_s", json!(0)), "/stale_after_s", "/exclusiveMinimum"),
        (Set("/delivery_uncertainty", json!(false)), "/delivery_uncertainty", "/anyOf"),
        (Set("/schema_version", json!(1)), "/schema_version", "/const"),
        (Add("/later_key"), "", "/additionalProperties"),
        (Remove("/category"), "", "/required"),
    ];
    refused_each(Schema::FlowPendingEscalation, &pending, cases);
}

#[test]
fn changed_capabilities_are_refused_for_what_was_changed() {
    let capability = read(&samples().join("flow-1.35.1/after_continue/attended_capability.json"));
    let cases = [
        (Set("/allowed_actions", json!(["approve"])), "/allowed_actions/0", "/enum"),
        (Set("/allowed_actions", json!(["teach", "teach"])), "/allowed_actions", "/uniqueItems"),
        (Set("/signature", json!("sha256:00")), "/signature", "/pattern"),
        (Set("/pause_digest", json!(7)), "/pause_digest", "/type"),
        (Set("/delivery_state", json!("maybe")), "/delivery_state", "/enum"),
        (Set("/source_identity/mode", json!("guess")), "/source_identity/mode", "/enum"),
        (Set("/transition_baseline/page_count", json!(-1)), "/transition_baseline/page_count", "/minimum"),
        (Add("/later_key"), "", "/additionalProperties"),
        (Remove("/expires_at"), "", "/required"),
    ];
    refused_each(Schema::FlowAttendedCapability, &capability, cases);
}

#[test]
fn changed_records_are_refused_for_what_was_changed() {
    let record = read(&samples().join("flow-1.35.1/normal/__agent_record.json"));
    let cases = [
        (Set("/schema", json!("openadapt-agent.run/v2")), "/schema", "/const"),
        (Set("/state", json!("done")), "/state", "/enum"),
        (Set("/state", json!("running")), "/result", "/properties/result"),
        (Set("/attempt", json!(6)), "/attempt", "/maximum"),
        (Set("/ledger_key", json!("41dbb578")), "/ledger_key", "/pattern"),
        (Set("/pid", json!("14947")), "/pid", "/type"),
        (Set("/request_id", json!("abcd\n")), "/request_id", "/pattern"),
        (Set("/result/safe_to_retry", json!(true)), "/result/safe_to_retry", "/const"),
        (Set("/result/reason", json!("running")), "/result/reason", "/not"),
        (Set("/result", json!(null)), "/result", "/type"),
        (Set("/owner", json!("me")), "/owner", "/pattern"),
        (Add("/note"), "", "/additionalProperties"),
        (Remove("/result"), "", "/required"),
        (Remove("/fingerprint"), "", "/dependentRequired/0"),
    ];
    refused_each(Schema::RunRecord, &record, cases);
}

#[test]
fn the_samples_carry_their_own_digests_and_signatures() {
    let mut signed = 0;
    for case in cases().into_iter().filter(|case| case.join("attended_capability.json").exists()) {
        let capability = read(&case.join("attended_capability.json"));
        let mut unsigned = capability.clone();
        unsigned.as_object_mut().unwrap().remove("signature");
        let mut mac =
            Hmac::<Sha256>::new_from_slice(&std::fs::read(case.join(".attended_capability.key")).unwrap()).unwrap();
        mac.update(canonical(&unsigned).as_bytes());
        assert_eq!(
            capability["signature"],
            format!("hmac-sha256:{:x}", mac.finalize().into_bytes()),
            "{}",
            case.display()
        );
        if case.join("pending_escalation.json").exists() {
            let mut pending = read(&case.join("pending_escalation.json"));
            pending["status"] = json!("pending");
            assert_eq!(capability["pause_digest"], digest(&pending), "{}", case.display());
        }
        signed += 1;
    }
    assert_eq!(signed, 8);
}

fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("samples")
}

fn cases() -> Vec<PathBuf> {
    folder("flow-1.35.1")
}

fn folder(name: &str) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(samples().join(name)).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn valid(schema: Schema, path: &Path) {
    if let Err(violations) = schema.check(&read(path)) {
        panic!("{}: {violations}", path.display());
    }
}

fn refused_each<const N: usize>(schema: Schema, value: &Value, cases: [(Change, &str, &str); N]) {
    accepts(schema, value);
    for (change, instance_path, keyword) in cases {
        let mut changed = value.clone();
        match change {
            Set(pointer, new) => *slot(&mut changed, pointer) = new,
            Add(pointer) => *slot(&mut changed, pointer) = json!("x"),
            Remove(pointer) => {
                let (parent, key) = pointer.rsplit_once('/').unwrap();
                let parent = changed.pointer_mut(parent).unwrap().as_object_mut().unwrap();
                assert!(parent.remove(key).is_some(), "{pointer} isn't there");
            }
        }
        refuses_by(schema, &changed, instance_path, keyword);
    }
}

fn slot<'v>(value: &'v mut Value, pointer: &str) -> &'v mut Value {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let parent = value.pointer_mut(parent).unwrap_or_else(|| panic!("{pointer} isn't there"));
    &mut parent[key]
}

fn digest(value: &Value) -> String {
    format!("sha256:{:x}", Sha256::digest(canonical(value).as_bytes()))
}

/// Keys sorted, no spaces, characters outside ASCII as they are.
fn canonical(value: &Value) -> String {
    match value {
        Value::Object(object) => {
            let mut members: Vec<_> = object.iter().collect();
            members.sort_by_key(|(key, _)| key.as_str());
            let members: Vec<String> =
                members.into_iter().map(|(key, inner)| format!("{}:{}", json!(key), canonical(inner))).collect();
            format!("{{{}}}", members.join(","))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(",")),
        scalar => scalar.to_string(),
    }
}
