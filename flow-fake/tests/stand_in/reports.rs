//! Every shape is a report that the real program could have written.

use std::path::{Path, PathBuf};

use flow_fake::report::{Profile, Shape, Subject, build, exit_code};
use schemas::Schema;
use serde_json::{Map, Value, json};

use super::oracle;
use super::world::{World, assert_valid, mode, wait_until};

const PROFILES: [Option<Profile>; 4] = [None, Some(Profile::Demo), Some(Profile::Standard), Some(Profile::Regulated)];

fn subject() -> Subject {
    Subject {
        run_id: Subject::fresh_id(),
        workflow_name: "enter-referral".into(),
        started_at: "2026-01-02T03:04:05.000006+00:00".into(),
        profile: None,
        content_digest: "0".repeat(64),
        contract_sha256: "1".repeat(64),
        parameters_sha256: "2".repeat(64),
        policy: "clinical-write".into(),
        approval_source: "local-cli-explicit-flag".into(),
        url: Some("http://127.0.0.1:8080/?fault=ok#tasks".into()),
        params: Map::from_iter([("note".into(), json!("x"))]),
    }
}

/// Every shape under every profile that allows it.
fn all() -> Vec<(Shape, Option<Profile>, Value)> {
    let pairs = Shape::ALL.into_iter().flat_map(|shape| PROFILES.map(|profile| (shape, profile)));
    let allowed: Vec<_> = pairs
        .filter(|(shape, profile)| shape.allows(*profile))
        .map(|(shape, profile)| (shape, profile, build(shape, &subject(), profile)))
        .collect();
    assert_eq!(allowed.len(), 2 + 1 + 7 * 3 + 2);
    allowed
}

fn sample(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schemas/samples").join(name);
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn keys(value: &Value) -> Vec<&String> {
    value.as_object().unwrap().keys().collect()
}

#[test]
fn every_shape_holds_under_the_report_schema() {
    for (_, _, report) in all() {
        assert_valid(Schema::FlowReport, &report);
    }
}

#[test]
fn the_keys_and_their_order_are_those_of_a_real_report() {
    let real = sample("flow-1.35.1/normal/report.json");
    assert_eq!(keys(&real).len(), 77);
    for (shape, _, report) in all() {
        assert_eq!(keys(&report), keys(&real), "{shape}");
        for result in report["results"].as_array().unwrap() {
            assert_eq!(keys(result), keys(&real["results"][0]), "{shape}");
        }
        for entry in report["effect_journal"].as_array().unwrap() {
            assert_eq!(keys(entry), keys(&real["effect_journal"][0]), "{shape}");
        }
    }
}

#[test]
fn every_shape_classifies_as_its_own_evidence_says() {
    for (shape, profile, report) in all() {
        if let Some(stated) = shape.transaction() {
            assert_eq!(oracle::transaction(&report), stated, "{shape} under {profile:?}");
            assert_eq!(report["transaction_outcome"], stated);
        }
    }
}

#[test]
fn the_oracle_agrees_with_reports_of_the_real_program() {
    for case in
        ["normal", "duplicate_record", "false_saved_banner", "timeout_after_save", "after_reject", "after_resume"]
    {
        let report = sample(&format!("flow-1.35.1/{case}/report.json"));
        assert_eq!(oracle::transaction(&report), report["transaction_outcome"], "{case}");
    }
    for shape in
        ["canceled", "failed_platform", "halted_before_effect", "reconciliation_required", "rolled_back", "verified"]
    {
        let report = sample(&format!("reports/{shape}.json"));
        assert_eq!(oracle::transaction(&report), report["transaction_outcome"], "{shape}");
        assert_eq!(oracle::broken_rules(&report), Vec::<&str>::new(), "{shape}");
    }
}

#[test]
fn no_shape_breaks_an_envelope_rule() {
    for (shape, profile, report) in all() {
        assert_eq!(oracle::broken_rules(&report), Vec::<&str>::new(), "{shape} under {profile:?}");
    }
}

#[test]
fn an_envelope_that_contradicts_its_report_is_seen_by_the_rules() {
    let mut report = build(Shape::Verified, &subject(), Some(Profile::Standard));
    report["outcome_envelope"]["outcome"] = json!("HALTED");
    report["outcome_envelope"]["passed_contracts"]["effect"] = json!(9);
    let broken = oracle::broken_rules(&report);
    assert!(broken.contains(&"outcome is the same") && broken.contains(&"passed is within required"), "{broken:?}");
}

#[test]
fn exit_codes_follow_the_profile() {
    for (shape, profile, report) in all() {
        let good = match profile {
            Some(Profile::Standard | Profile::Regulated) => shape == Shape::Verified,
            _ => matches!(shape, Shape::CompletedUnverified | Shape::NoProfileSuccess),
        };
        assert_eq!(exit_code(&report), u8::from(!good), "{shape} under {profile:?}");
    }
}

#[test]
fn a_halt_object_stands_exactly_where_a_live_run_stopped() {
    for (shape, _, report) in all() {
        let finished = report["success"] == true || shape == Shape::RolledBack;
        let gate = shape == Shape::RejectedPolicyAuthorization;
        assert_eq!(report["halt"].is_null(), finished || gate, "{shape}");
    }
}

#[test]
fn a_report_carries_the_inputs_and_the_identity_of_its_launch() {
    let world = World::new();
    std::fs::write(world.path("inputs"), r#"{"note": "x", "extra": true, "n": 2.5}"#).unwrap();
    let ended = world.call(&[
        "run",
        "alpha",
        "--profile",
        "demo",
        "--params-file",
        "inputs",
        "--param",
        "note=y",
        "--run-dir",
        "run",
    ]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let report = world.report();
    assert_valid(Schema::FlowReport, &report);
    assert_eq!(report["params"], json!({"note": "y", "extra": true, "n": 2.5}));
    let run_id = world.line("run_dir")["run_id"].as_str().unwrap().to_owned();
    assert_eq!(report["run_id_sha256"], flow_fake::canonical::sha256_hex(&run_id));
    assert_eq!(report["governed_authorization_id"], run_id.as_str());
}

#[test]
fn an_input_that_is_left_out_falls_back_to_the_recorded_example() {
    let world = World::new();
    world.play(json!(["run_dir", {"report": "verified"}]));
    assert_eq!(world.report()["params"], json!({"note": "example"}));
}

#[test]
fn a_report_is_private_and_its_folder_is_as_the_umask_has_it() {
    let world = World::new();
    let ended = world.play(json!(["run_dir", {"report": "verified"}]));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(mode(&world.run_dir().join("report.json")), 0o600);
    let probe = world.path("probe");
    std::fs::create_dir(&probe).unwrap();
    assert_eq!(mode(&world.run_dir()), mode(&probe));
    let left: Vec<PathBuf> = std::fs::read_dir(world.run_dir()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(!left.iter().any(|path| path.to_string_lossy().ends_with(".tmp")), "{left:?}");
}

#[test]
fn patch_set_and_remove_are_applied_in_that_order() {
    let world = World::new();
    let step = json!({"report": {
        "shape": "halted_before_effect",
        "patch": {"approval": {"mode": "each_item", "decision": "approval_required"}, "halt": null},
        "set": {"/approval/mode": "problems_only", "/results/0/ok": 7, "/results/-": "more", "/a~1b": 1},
        "remove": ["/success"],
    }});
    let ended = world.play(json!(["run_dir", step]));
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let report = world.report();
    assert_eq!(report["approval"], json!({"mode": "problems_only", "decision": "approval_required"}));
    assert_eq!(report["results"][0]["ok"], 7);
    assert_eq!(report["results"][1], "more");
    assert_eq!(report["a/b"], 1);
    assert!(report.get("halt").is_none() && report.get("success").is_none());
}

#[test]
fn damage_is_to_the_byte() {
    let bytes = |step: Value| {
        let world = World::new();
        let ended = world.play(json!(["run_dir", {"report": step}]));
        assert_ne!(ended.code, Some(64), "{ended:?}");
        std::fs::read(world.run_dir().join("report.json")).unwrap()
    };
    assert_eq!(bytes(json!({"bytes": "not a report é"})), "not a report é".as_bytes());
    assert_eq!(bytes(json!({"hex": "ff00fe"})), [0xff, 0, 0xfe]);
    let cut = bytes(json!({"shape": "verified", "truncate": 100}));
    assert!(cut.len() == 100 && serde_json::from_slice::<Value>(&cut).is_err());
    let padded = bytes(json!({"shape": "verified", "pad_to": 1_000_000}));
    assert!(padded.len() == 1_000_000 && serde_json::from_slice::<Value>(&padded).is_ok());
}

#[test]
fn nest_is_the_depth_of_the_whole_document() {
    for levels in [2, 100, 100_000] {
        let world = World::new();
        world.play(json!(["run_dir", {"report": {"shape": "verified", "nest": levels}}]));
        let text = std::fs::read_to_string(world.run_dir().join("report.json")).unwrap();
        let (mut depth, mut deepest) = (0, 0);
        for byte in text.bytes() {
            match byte {
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            deepest = deepest.max(depth);
        }
        assert_eq!((depth, deepest), (0, levels.max(5)), "a report alone has 5 levels");
    }
}

#[test]
fn something_else_can_stand_in_the_place_of_the_file() {
    let kind = |kind: &str| {
        let world = World::new();
        world.play(json!(["run_dir", {"report": {"shape": "verified", "not": kind}}]));
        std::fs::symlink_metadata(world.run_dir().join("report.json")).unwrap().file_type()
    };
    use std::os::unix::fs::FileTypeExt;
    assert!(kind("file").is_file());
    assert!(kind("symlink").is_symlink());
    assert!(kind("directory").is_dir());
    assert!(kind("fifo").is_fifo());
}

#[test]
fn a_stale_report_is_about_another_run_and_an_hour_old() {
    let world = World::new();
    let ended = world.play(json!([{"stale_report": "verified"}]));
    assert_eq!(ended.code, Some(0), "a stale report isn't this run's: {ended:?}");
    let (line, report) = (world.line("launch"), world.report());
    assert!(report["started_at"].as_str().unwrap() < line["at"].as_str().unwrap());
    let minutes = |text: &Value| text.as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    let age = minutes(&line["at"]).duration_since(minutes(&report["started_at"]));
    assert!((3500..3700).contains(&age.as_secs()), "{age:?}");
    assert_eq!(world.line("report")["stale"], true);
}

#[test]
fn a_late_report_comes_after_the_exit_and_only_when_released() {
    let world = World::new();
    let ended = world.play(json!(["run_dir", {"late_report": {"shape": "verified", "after": "late"}}, {"exit": 0}]));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(!world.run_dir().join("report.json").exists());
    world.release("late");
    wait_until("the late report", || world.run_dir().join("report.json").exists());
    wait_until("its line", || world.journal().iter().any(|line| line["late"] == true));
    assert_valid(Schema::FlowReport, &world.report());
    assert_eq!(
        world.report()["run_id_sha256"],
        flow_fake::canonical::sha256_hex(world.line("run_dir")["run_id"].as_str().unwrap())
    );
}
