use serde_json::{Value, json};

use super::*;
use crate::workflows::testing::{Bundles, PICTURE, SEALED, SEALED_DIGEST, manifest, workflow};

fn load_text(text: &str) -> Result<Bundle, LoadError> {
    let bundles = Bundles::new();
    load(&bundles.add("b", text))
}

fn load_value(value: Value) -> Result<Bundle, LoadError> {
    load_text(&value.to_string())
}

/// The minimal workflow with one member replaced.
fn load_with(key: &str, value: Value) -> Result<Bundle, LoadError> {
    let mut workflow = workflow("x");
    workflow[key] = value;
    load_value(workflow)
}

#[test]
fn a_bundle_sealed_elsewhere_loads_and_keeps_its_digest() {
    let bundle = load_text(SEALED).unwrap();
    assert_eq!(bundle.seal, Seal::Sealed(SEALED_DIGEST.into()));
    assert_eq!(bundle.shape.step_count, 3);
    assert!(bundle.shape.changes_records);
    let names: Vec<_> = bundle.shape.params.iter().map(|param| param.name.as_str()).collect();
    assert_eq!(names, ["interstitials", "note"]);
}

#[test]
fn any_edit_of_one_character_of_a_sealed_workflow_is_refused() {
    let bundles = Bundles::new();
    let bundle = bundles.add("b", SEALED);
    let sealed_until = SEALED.find("\"manifest\"").unwrap();
    let letters = SEALED.char_indices().take_while(|(at, _)| *at < sealed_until).filter(|(_, c)| c.is_alphanumeric());
    for (at, character) in letters.step_by(7) {
        let other = if character == '7' { "8" } else { "7" };
        let edited = [&SEALED[..at], other, &SEALED[at + character.len_utf8()..]].concat();
        fs::write(bundle.join("workflow.json"), edited).unwrap();
        assert!(load(&bundle).is_err(), "the edit at {at} went unseen");
    }
}

#[test]
fn white_space_is_no_edit() {
    let compact: Value = serde_json::from_str(SEALED).unwrap();
    assert_eq!(load_value(compact).unwrap().seal, Seal::Sealed(SEALED_DIGEST.into()));
}

#[test]
fn a_sealed_picture_that_changed_or_went_is_refused_and_an_added_one_is_not_checked() {
    let bundles = Bundles::new();
    let bundle = bundles.add("b", SEALED);
    let picture = bundle.join("templates/step_000.png");
    fs::write(bundle.join("templates/later.png"), "new").unwrap();
    assert!(load(&bundle).is_ok());
    fs::write(&picture, "another picture").unwrap();
    assert_eq!(load(&bundle), Err(LoadError::AssetChanged));
    fs::remove_file(&picture).unwrap();
    assert_eq!(load(&bundle), Err(LoadError::AssetMissing));
    fs::create_dir(&picture).unwrap();
    assert_eq!(load(&bundle), Err(LoadError::AssetUnreadable));
}

#[cfg(unix)]
#[test]
fn a_sealed_picture_behind_a_link_is_refused_though_its_bytes_are_right() {
    let bundles = Bundles::new();
    let bundle = bundles.add("b", SEALED);
    fs::write(bundle.join("elsewhere.png"), PICTURE).unwrap();
    fs::remove_file(bundle.join("templates/step_000.png")).unwrap();
    std::os::unix::fs::symlink(bundle.join("elsewhere.png"), bundle.join("templates/step_000.png")).unwrap();
    assert_eq!(load(&bundle), Err(LoadError::Symlink));
}

#[test]
fn the_sidecar_counts_only_where_no_manifest_is_embedded() {
    let bundles = Bundles::new();
    let bundle = bundles.add("b", &workflow("x").to_string());
    let own = manifest(&bundle);
    fs::write(bundle.join("manifest.json"), own.to_string()).unwrap();
    assert_eq!(load(&bundle).unwrap().seal.sealed(), own["content_digest"].as_str());
    let mut edited = workflow("x");
    edited["created_at"] = json!("2026-01-01T00:00:01+00:00");
    fs::write(bundle.join("workflow.json"), edited.to_string()).unwrap();
    assert_eq!(load(&bundle), Err(LoadError::Digest));
    edited["manifest"] = manifest(&bundle);
    fs::write(bundle.join("workflow.json"), edited.to_string()).unwrap();
    assert_eq!(load(&bundle).unwrap().seal.sealed(), edited["manifest"]["content_digest"].as_str());
    edited["manifest"] = Value::Null;
    fs::write(bundle.join("workflow.json"), edited.to_string()).unwrap();
    assert_eq!(load(&bundle), Err(LoadError::Digest));
    fs::write(bundle.join("manifest.json"), "[").unwrap();
    assert_eq!(load(&bundle), Err(LoadError::Parse(ParseFault::Malformed)));
}

#[test]
fn a_bundle_without_a_manifest_loads_unsealed() {
    let bundle = load_value(workflow("x")).unwrap();
    assert_eq!(bundle.seal.sealed(), None);
    assert!(!bundle.shape.changes_records);
    assert!(load_text(r#"{"name":"tiny"}"#).is_ok());
}

/// Digests printed by openadapt-flow 1.35.1 for these files, which leave out most defaults.
#[test]
fn the_digest_of_a_sparse_file_is_that_of_the_completed_one() {
    let bundles = Bundles::new();
    let bundle = bundles.add("b", r#"{"name":"tiny","created_at":"2026-01-01T00:00:00+00:00","steps":[]}"#);
    fs::remove_dir_all(bundle.join("templates")).unwrap();
    assert_eq!(
        load(&bundle).unwrap().seal.digest(),
        "52bae07c273eb8380766b1014a3d223e09d2d09a761be81c0104423654380a1e"
    );
    let described = json!({
        "schema_version": 2, "name": "enter-referral", "created_at": "2026-01-01T00:00:00+00:00",
        "params": { "note": "example" },
        "param_specs": { "note": { "name": "note", "type": "string", "example": "example", "required": true, "choices": [] } },
        "steps": [{ "id": "step_000", "intent": "press Tab", "action": "key", "key": "Tab" }],
    });
    fs::write(bundle.join("workflow.json"), described.to_string()).unwrap();
    assert_eq!(
        load(&bundle).unwrap().seal.digest(),
        "eefa3ca33dcd0caf0d896e9e040e30c6961a1911edf8774c55af6636c7f29720"
    );
}

#[test]
fn an_unsealed_digest_covers_the_pictures() {
    let bundles = Bundles::new();
    let bundle = bundles.add("b", &workflow("x").to_string());
    let before = load(&bundle).unwrap();
    fs::create_dir(bundle.join("templates/deeper")).unwrap();
    fs::write(bundle.join("templates/deeper/p.png"), "p").unwrap();
    assert_ne!(load(&bundle).unwrap(), before);
}

#[test]
fn a_file_that_is_no_bounded_json_object_is_refused() {
    assert_eq!(load_text("{"), Err(LoadError::Parse(ParseFault::Malformed)));
    assert_eq!(load_text("[]"), Err(LoadError::NotAnObject));
    assert_eq!(load_text(r#"{"name":"a","name":"b"}"#), Err(LoadError::Parse(ParseFault::DuplicateKey)));
    let padded = format!(r#"{{"name":"a","x":"{}"}}"#, "x".repeat(WORKFLOW_LIMIT));
    assert_eq!(load_text(&padded), Err(LoadError::Parse(ParseFault::TooLarge)));
    let nested = format!(r#"{{"name":"a","x":{}{}}}"#, "[".repeat(128), "]".repeat(128));
    assert_eq!(load_text(&nested), Err(LoadError::Parse(ParseFault::TooDeep)));
}

#[test]
fn versions_up_to_two_are_known() {
    for version in [json!(1), json!(2)] {
        assert!(load_with("schema_version", version).is_ok());
    }
    for version in [json!(3), json!(0), json!(2.5), json!("2"), json!(null)] {
        assert_eq!(load_with("schema_version", version), Err(LoadError::Version));
    }
}

#[test]
fn malformed_members_are_refused_by_kind() {
    assert_eq!(load_text("{}"), Err(LoadError::Name));
    assert_eq!(load_with("name", json!(7)), Err(LoadError::Name));
    let spec = |spec: Value| json!({ "note": spec });
    for (key, value, error) in [
        ("params", json!([]), LoadError::Params),
        ("params", json!({ "note": 7 }), LoadError::Params),
        ("param_specs", json!([]), LoadError::Params),
        ("param_specs", spec(json!("string")), LoadError::Params),
        ("param_specs", spec(json!({ "type": "string" })), LoadError::Params),
        ("param_specs", spec(json!({ "name": "note", "type": "colour" })), LoadError::Params),
        ("param_specs", spec(json!({ "name": "note", "type": null })), LoadError::Params),
        ("param_specs", spec(json!({ "name": "note", "choices": [1] })), LoadError::Params),
        ("param_specs", spec(json!({ "name": "note", "choices": "a" })), LoadError::Params),
        ("steps", json!({}), LoadError::Steps),
        ("steps", json!([1]), LoadError::Steps),
        ("steps", json!([step("", "wait")]), LoadError::Steps),
        ("steps", json!([step("a", "dance")]), LoadError::Steps),
        ("steps", json!([{ "id": "a", "action": "wait" }]), LoadError::Steps),
        ("steps", json!([step("a", "wait"), step("a", "wait")]), LoadError::StepIds),
        ("program", json!({ "states": {} }), LoadError::Program),
        ("program", json!({ "entry": "a", "states": { "b": {} } }), LoadError::Program),
        ("program", json!([]), LoadError::Program),
        ("manifest", json!("sealed"), LoadError::Manifest),
        ("manifest", json!({ "content_digest": 7 }), LoadError::Manifest),
        ("manifest", json!({ "content_digest": "a", "file_hashes": [] }), LoadError::Manifest),
        ("manifest", json!({ "content_digest": "a", "file_hashes": { "a": 1 } }), LoadError::Manifest),
        ("manifest", json!({ "content_digest": "a", "file_hashes": {} }), LoadError::Digest),
        ("manifest", json!({ "content_digest": "a", "file_hashes": { "../x": "a" } }), LoadError::AssetUnreadable),
    ] {
        assert_eq!(load_with(key, value.clone()), Err(error), "{key}: {value}");
    }
}

#[test]
fn pictures_outside_the_folder_are_refused_wherever_a_step_names_them() {
    let anchor = json!({ "template": "../x.png" });
    let asks = |anchor: &Value| json!({ "kind": "all", "operands": [{ "kind": "anchor_resolves", "anchor": anchor }] });
    let with = |key: &str, value: Value| {
        let mut step = step("a", "wait");
        step[key] = value;
        step
    };
    for step in [
        with("anchor", anchor.clone()),
        with("anchor", json!({ "template": "", "identifier_crop": "/etc/hosts" })),
        with("drag_end_anchor", anchor.clone()),
        with("wait_until", asks(&anchor)),
        with("guard", json!({ "predicate": asks(&anchor) })),
        with("expect", json!([{ "kind": "text_present", "template": "a/../../b" }])),
    ] {
        assert_eq!(load_with("steps", json!([step])), Err(LoadError::AssetPath), "{step}");
    }
    let elsewhere = json!({ "entry": "a", "states": { "a": { "step": with("anchor", anchor.clone()) } } });
    assert_eq!(load_with("program", elsewhere), Err(LoadError::AssetPath));
    assert!(load_with("params", json!({ "template": "../x.png" })).is_ok());
}

#[test]
fn only_steps_that_provably_change_nothing_leave_a_workflow_without_changes() {
    let changes = |edit: Value| {
        let mut step = step("a", "key");
        step["key"] = json!("Tab");
        edit.as_object().unwrap().iter().for_each(|(key, value)| step[key] = value.clone());
        load_with("steps", json!([step])).unwrap().shape.changes_records
    };
    for harmless in [
        json!({}),
        json!({ "action": "wait" }),
        json!({ "action": "scroll" }),
        json!({ "risk": "reversible", "effects": [], "api_binding": null, "modifiers": [], "risk_review_required": false }),
    ] {
        assert!(!changes(harmless.clone()), "{harmless}");
    }
    for unknown in [
        json!({ "action": "click" }),
        json!({ "action": "type" }),
        json!({ "key": "Enter" }),
        json!({ "key": null }),
        json!({ "modifiers": ["Control"] }),
        json!({ "risk": "irreversible" }),
        json!({ "risk": null }),
        json!({ "risk_review_required": true }),
        json!({ "effects": [{ "kind": "record_written" }] }),
        json!({ "effects": "?" }),
        json!({ "api_binding": {} }),
        json!({ "action": "wait", "text": "x" }),
    ] {
        assert!(changes(unknown.clone()), "{unknown}");
    }
    let program = json!({ "entry": "a", "states": { "a": { "id": "a" } } });
    assert!(load_with("program", program).unwrap().shape.changes_records);
}

#[test]
fn no_load_error_says_more_than_its_own_sentence() {
    let mut secret = workflow("SECRET-7431");
    secret["steps"][0]["action"] = json!("SECRET-7431");
    assert!(!load_value(secret).unwrap_err().to_string().contains("SECRET"));
    assert!(!load_text("{\"name\": SECRET-7431").unwrap_err().to_string().contains("SECRET"));
}

fn step(id: &str, action: &str) -> Value {
    json!({ "id": id, "intent": "do it", "action": action })
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_whose_name_is_no_text_is_not_looked_into() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let root = Path::new("/bundles");
    assert_eq!(admit(&root.join(OsStr::from_bytes(b"ward\xff")), root), Err(LoadError::PathNotUnicode));
    assert_eq!(admit(&root.join("ward"), root), Ok(()));
}
