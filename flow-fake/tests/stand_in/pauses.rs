//! Pauses: signatures against vectors of the real program, and each tamper breaking exactly one thing.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use flow_fake::canonical::digest;
use flow_fake::pause::{pause_digest, signature_holds, transition_digest};
use schemas::Schema;
use serde_json::{Value, json};

use super::world::{World, assert_valid, mode};

/// Run directories of the real program (their texts replaced, signed anew by an independent Python program).
const VECTORS: [&str; 5] =
    ["duplicate_record", "false_saved_banner", "timeout_after_save", "after_approve", "after_teach_escalate"];

fn vector(case: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../schemas/samples/flow-1.35.1").join(case)
}

fn json_at(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// What a careful reader finds wrong with the pause in a run folder.
fn faults(run_dir: &Path) -> BTreeSet<&'static str> {
    let read = |name: &str| std::fs::read(run_dir.join(name)).ok();
    let mut faults = BTreeSet::new();
    if run_dir.join("pending_escalation.json.enc").exists() && read("pending_escalation.json").is_none() {
        return BTreeSet::from(["encrypted"]);
    }
    let pending = match serde_json::from_slice::<Value>(&read("pending_escalation.json").unwrap()) {
        Err(_) => return BTreeSet::from(["unreadable"]),
        Ok(pending) if !pending.is_object() => return BTreeSet::from(["not_object"]),
        Ok(pending) => pending,
    };
    let key = read(".attended_capability.key").unwrap();
    if mode(&run_dir.join(".attended_capability.key")) != 0o600 || key.len() != 32 {
        faults.insert("key_mode");
    }
    let Some(capability) = read("attended_capability.json") else {
        faults.insert("no_capability");
        return faults;
    };
    let capability: Value = serde_json::from_slice(&capability).unwrap();
    if !signature_holds(&capability, &key) {
        faults.insert("signature");
    }
    if capability["pause_digest"] != pause_digest(&pending).as_str() {
        faults.insert("pause");
    }
    if capability["expected_transition_digest"] != transition_digest(&capability).as_str() {
        faults.insert("capability_digest");
    }
    faults
}

fn paused(shape: &str, pause: Value) -> World {
    let world = World::new();
    let ended = world.play(json!(["run_dir", {"report": shape}, {"pause": pause}]));
    assert_eq!(ended.code, Some(1), "{ended:?}");
    world
}

#[test]
fn the_digests_and_the_signature_reproduce_real_pauses() {
    for case in VECTORS {
        let folder = vector(case);
        let key = std::fs::read(folder.join(".attended_capability.key")).unwrap();
        let (pending, capability) =
            (json_at(&folder.join("pending_escalation.json")), json_at(&folder.join("attended_capability.json")));
        assert!(signature_holds(&capability, &key), "{case}");
        assert_eq!(capability["pause_digest"], pause_digest(&pending).as_str(), "{case}");
        assert_eq!(capability["expected_transition_digest"], transition_digest(&capability).as_str(), "{case}");
    }
}

#[test]
fn a_signature_over_anything_else_does_not_hold() {
    let folder = vector("duplicate_record");
    let key = std::fs::read(folder.join(".attended_capability.key")).unwrap();
    let capability = json_at(&folder.join("attended_capability.json"));
    assert!(!signature_holds(&capability, b"another key"));
    for field in ["run_id", "allowed_actions", "expires_at", "step_index"] {
        let mut changed = capability.clone();
        changed[field] = json!("changed");
        assert!(!signature_holds(&changed, &key), "{field}");
    }
}

#[test]
fn a_pause_is_whole_valid_and_private() {
    for shape in ["halted_before_effect", "rejected_policy", "reconciliation_required", "failed_platform"] {
        let world = paused(shape, json!({"category": "identity"}));
        assert_eq!(faults(&world.run_dir()), BTreeSet::new(), "{shape}");
        assert_valid(Schema::FlowPendingEscalation, &world.json("pending_escalation.json"));
        assert_valid(Schema::FlowAttendedCapability, &world.json("attended_capability.json"));
        for name in ["pending_escalation.json", "attended_capability.json", ".attended_capability.key"] {
            assert_eq!(mode(&world.run_dir().join(name)), 0o600, "{name}");
        }
    }
}

#[test]
fn the_pause_stands_at_the_step_that_the_report_stopped_at() {
    let world = paused("reconciliation_required", json!({"category": "postcondition"}));
    let (pending, capability, report) =
        (world.json("pending_escalation.json"), world.json("attended_capability.json"), world.report());
    assert_eq!((&pending["step_index"], &pending["step_id"]), (&json!(1), &json!("step_001")));
    assert_eq!(pending["resume_from_step_id"], "step_000");
    assert_eq!(capability["expected_next_transition"], "<complete>");
    assert_eq!(capability["bundle_version"], format!("sha256:{}", report["bundle_content_digest"].as_str().unwrap()));
    for file in [&pending, &capability] {
        assert_eq!(file["run_id"], report["governed_authorization_id"]);
    }
}

#[test]
fn keys_and_their_order_are_those_of_real_files() {
    let world = paused("halted_before_effect", json!({"category": "disambiguation"}));
    for name in ["pending_escalation.json", "attended_capability.json"] {
        let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(&world.json(name)), keys(&json_at(&vector("duplicate_record").join(name))), "{name}");
    }
}

#[test]
fn each_tamper_breaks_exactly_one_thing() {
    for tamper in [
        "signature",
        "key_mode",
        "pause",
        "capability_digest",
        "no_capability",
        "unreadable",
        "not_object",
        "encrypted",
    ] {
        let world = paused("halted_before_effect", json!({"category": "identity", "tamper": tamper}));
        assert_eq!(faults(&world.run_dir()), BTreeSet::from([tamper]));
    }
    let world = paused("halted_before_effect", json!({"category": "identity", "tamper": "key"}));
    assert_eq!(faults(&world.run_dir()), BTreeSet::from(["signature"]), "another key makes the signature another one");
    assert_eq!(std::fs::read(world.run_dir().join(".attended_capability.key")).unwrap().len(), 32);
}

#[test]
fn every_status_keeps_the_pause_digest() {
    for status in ["pending", "approved", "continuing", "rejected"] {
        let world = paused("halted_before_effect", json!({"category": "identity", "status": status}));
        assert_eq!(world.json("pending_escalation.json")["status"], status);
        assert_eq!(faults(&world.run_dir()), BTreeSet::new(), "{status}");
    }
}

#[test]
fn allowed_actions_are_those_that_were_observed() {
    let observed = [
        ("halted_before_effect", "disambiguation", vec!["reject", "teach", "escalate"]),
        ("rejected_policy", "identity", vec!["reject", "teach", "escalate"]),
        ("reconciliation_required", "effect_escalated", vec!["reject", "teach", "escalate"]),
        ("reconciliation_required", "postcondition", vec!["reject", "teach", "escalate"]),
        ("failed_platform", "halt", vec!["continue", "reject", "teach", "escalate"]),
        ("failed_platform", "postcondition", vec!["continue", "reject", "teach", "escalate"]),
        ("reconciliation_required", "delivery_uncertain", vec!["continue", "teach", "escalate"]),
        ("halted_before_effect", "delivery_uncertain", vec!["reconcile", "teach", "escalate"]),
    ];
    for (shape, category, actions) in observed {
        let world = paused(shape, json!({"category": category}));
        assert_eq!(world.json("attended_capability.json")["allowed_actions"], json!(actions), "{shape} {category}");
        let uncertain = world.json("pending_escalation.json")["delivery_uncertainty"].is_object();
        assert_eq!(uncertain, category == "delivery_uncertain");
    }
}

#[test]
fn a_pause_without_a_report_stands_at_the_first_step() {
    let world = World::new();
    let ended = world.play(json!([{"pause": {"category": "a_category_of_tomorrow"}}]));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(world.json("pending_escalation.json")["step_id"], "step_000");
    assert_eq!(faults(&world.run_dir()), BTreeSet::new());
}

#[test]
fn the_claim_and_the_manifest_name_the_run() {
    let world = World::new();
    world.play(json!(["run_dir"]));
    let (claim, manifest) = (world.json(".durable_run.claim"), world.json("checkpoints/_manifest.json"));
    for key in ["run_id", "namespace_id", "canonical_run_dir", "schema_version"] {
        assert_eq!(claim[key], manifest[key], "{key}");
    }
    assert_eq!(
        claim["canonical_run_dir"].as_str().unwrap().as_bytes(),
        world.run_dir().canonicalize().unwrap().as_os_str().as_bytes()
    );
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let real = vector("duplicate_record");
    let authorization = json_at(&real.join("checkpoints/_manifest.json"))["governed_authorization"].clone();
    assert_eq!(keys(&manifest["governed_authorization"]), keys(&authorization));
    assert_eq!(keys(&manifest), keys(&json_at(&real.join("checkpoints/_manifest.json"))));
    assert_eq!(keys(&claim), keys(&json_at(&real.join(".durable_run.claim"))));
    assert_eq!(
        std::fs::read_to_string(world.run_dir().join(".durable_run.claim")).unwrap(),
        flow_fake::canonical::canonical(&claim)
    );
}

#[test]
fn item_approval_files_are_valid_and_bound_to_each_other() {
    for (answer, decision) in [("answer_approve", "approve"), ("answer_decline", "decline")] {
        let world = World::new();
        let ended = world.play(json!(["run_dir", {"approval": {"request": {"expires_in_s": 900}}}, {"approval": answer}, {"approval": "consume"}]));
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let id = world.line("approval")["request_id"].as_str().unwrap().to_owned();
        let request = world.json(&format!("item-approval/request-{id}.json"));
        let answer = world.json(&format!("item-approval/answer-{id}.json"));
        assert_valid(Schema::ItemApprovalRequest, &request);
        assert_valid(Schema::ItemApprovalAnswer, &answer);
        assert_eq!(answer["decision"], decision);
        assert_eq!(digest(&request), format!("sha256:{}", answer["request_sha256"].as_str().unwrap()));
        let picture = std::fs::read(world.run_dir().join(request["screenshot"].as_str().unwrap())).unwrap();
        assert_eq!(request["screenshot_sha256"], flow_fake::canonical::sha256_hex(picture));
        assert!(world.run_dir().join(format!("item-approval/consumed-{id}")).exists());
    }
}

#[test]
fn a_request_can_have_run_out() {
    let time = |value: &Value| value.as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    for (seconds, open) in [(900.0, true), (-5.0, false), (0.5, true)] {
        let world = World::new();
        world.play(json!([{"approval": {"request": {"expires_in_s": seconds}}}]));
        let line = world.line("approval");
        let request = world.json(&format!("item-approval/request-{}.json", line["request_id"].as_str().unwrap()));
        assert_eq!(time(&request["expires_at"]) > time(&line["at"]), open, "{seconds}");
        assert!(time(&request["created_at"]) < time(&request["expires_at"]));
    }
}
