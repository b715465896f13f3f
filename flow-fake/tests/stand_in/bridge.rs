//! The bridge's protocol, and the queue that it shows.

use serde_json::{Value, json};

use super::bridged::{Bridge, continuable, lines, paused, script};
use super::world::World;

#[test]
fn hello_names_the_version_and_whether_decisions_and_an_executor_are_ready() {
    let world = continuable();
    let hello = |bridge: &mut Bridge| bridge.ask(json!({"op": "hello"}));
    let mut answer = hello(&mut Bridge::start(&world));
    // What there is of a browser on this machine is another matter.
    for key in ["sandbox", "sandbox_reason"] {
        answer.as_object_mut().unwrap().remove(key);
    }
    let told = json!({"ok": true, "flow_version": "1.35.1", "attended": true, "live": false, "stand_in": true});
    assert_eq!(answer, told);
    std::fs::write(world.path("deployment.yaml"), "backend: {}").unwrap();
    let mut with_deployment =
        Bridge::start_with(&world, &["--deployment", "deployment.yaml", "--url", "http://x", "--headed"]);
    assert_eq!(hello(&mut with_deployment)["live"], true);
    script(&world, json!({"live": false, "attended": false}));
    assert_eq!(
        (&hello(&mut with_deployment)["live"], &hello(&mut with_deployment)["attended"]),
        (&json!(false), &json!(false))
    );
}

#[test]
fn ids_are_echoed_and_what_is_no_known_request_is_answered_all_the_same() {
    let world = continuable();
    let mut bridge = Bridge::start(&world);
    for (line, answer) in [
        (r#"{"id": "a", "op": "sandbox.start"}"#, json!({"id": "a", "ok": false, "kind": "unknown_op"})),
        (r#"{"id": 7, "op": "attention.list"}"#, json!({"id": 7, "ok": false, "kind": "failed"})),
        (r#"{"id": 8, "op": "attended.act", "runs_dir": "."}"#, json!({"id": 8, "ok": false, "kind": "failed"})),
        ("no JSON", json!({"id": null, "ok": false, "kind": "failed"})),
        ("[1]", json!({"id": null, "ok": false, "kind": "failed"})),
        (r#"{"id": 9, "op": "close"}"#, json!({"id": 9, "ok": true})),
    ] {
        bridge.send_raw(line.as_bytes());
        assert_eq!(bridge.answer(), answer, "{line}");
    }
    assert_eq!(bridge.line(), None);
    assert_eq!(bridge.end(), Some(0));
}

#[test]
fn a_sandbox_without_a_driver_is_refused_by_a_closed_word_and_nothing_is_made() {
    let world = continuable();
    let mut bridge =
        Bridge::start_in(&world, &[("PLAYWRIGHT_DRIVER_PATH", "nowhere"), ("OPENADAPT_CHROMIUM", "nowhere")]);
    let word = if cfg!(feature = "drive") { "no_browser" } else { "not_built" };
    let hello = bridge.ask(json!({"op": "hello"}));
    assert_eq!((&hello["sandbox"], &hello["sandbox_reason"]), (&json!(false), &json!(word)));
    let folder = world.path("sandbox");
    let request = json!({"op": "sandbox.prepare", "folder": folder, "url": "http://127.0.0.1:1/", "headed": false});
    assert_eq!(bridge.ask(request), json!({"ok": false, "kind": "failed", "sandbox_reason": word}));
    assert!(!folder.exists());
}

#[test]
fn a_sandbox_is_prepared_for_an_app_on_this_computer_only() {
    let world = continuable();
    let mut bridge = Bridge::start(&world);
    for url in ["http://192.0.2.1:80/", "https://127.0.0.1:1/", "nonsense"] {
        let request = json!({"op": "sandbox.prepare", "folder": world.path("sandbox"), "url": url, "headed": false});
        assert_eq!(bridge.ask(request), json!({"ok": false, "kind": "failed"}), "{url}");
    }
}

#[test]
fn a_bridge_ends_with_its_input() {
    let world = continuable();
    assert_eq!(Bridge::start(&world).end(), Some(0));
    let started = lines(&world, "bridge");
    assert_eq!((started.len(), &started[0]["op"]), (1, &json!("start")));
}

#[test]
fn wrong_flags_and_a_missing_deployment_end_it_at_once() {
    let world = World::new();
    assert_eq!(world.call(&["bridge", "--live"]).code, Some(2));
    assert_eq!(world.call(&["bridge", "--deployment", "nowhere.yaml"]).code, Some(1));
}

#[test]
fn a_bundle_is_described_or_said_to_be_unloadable() {
    let world = continuable();
    let mut bridge = Bridge::start(&world);
    let bundle = bridge.ask(json!({"op": "bundle.describe", "dir": "alpha"}))["bundle"].clone();
    assert_eq!(bundle["name"], "enter-referral");
    assert_eq!(bundle["params"], json!({"note": "example"}));
    let keys: Vec<&String> = bundle.as_object().unwrap().keys().collect();
    let wanted = [
        "name",
        "params",
        "param_specs",
        "step_count",
        "schema_version",
        "encrypted",
        "content_digest",
        "changes_records",
    ];
    assert_eq!(keys, wanted);
    let answer = bridge.ask(json!({"op": "bundle.describe", "dir": "nowhere"}));
    assert_eq!(answer, json!({"ok": false, "kind": "load_error"}));
}

#[test]
fn a_pause_is_an_item_without_any_free_text() {
    let world = paused("reconciliation_required", json!({"category": "effect_escalated"}));
    let mut bridge = Bridge::start(&world);
    let items = bridge.list();
    let [item] = items.as_slice() else { panic!("{items:?}") };
    let capability = world.json("attended_capability.json");
    assert_eq!(item["id"], &flow_fake::canonical::sha256_hex("run")[..24]);
    assert_eq!((&item["category"], &item["status"]), (&json!("effect_escalated"), &json!("pending")));
    assert_eq!((&item["durably_paused"], &item["human_required"]), (&json!(true), &json!(false)));
    assert_eq!((&item["observed_text_count"], &item["completed_intent_count"]), (&json!(1), &json!(1)));
    assert_eq!(item["before_artifact_id"], "step-002-before");
    assert_eq!(item["capability"]["digest"], flow_fake::attended::capability_digest(&capability));
    assert_eq!(item["capability"]["allowed_actions"], json!(["reject", "teach", "escalate"]));
    assert!(!json!(items).to_string().contains("canary"));
    let one = |op: &str, key: &str, value: Value| json!({"op": op, "runs_dir": ".", key: value});
    assert_eq!(bridge.ask(one("attention.get", "attention_id", item["id"].clone()))["item"], *item);
    assert_eq!(bridge.ask(one("attention.for_run", "run_dir", json!(world.run_dir())))["item"], *item);
    assert_eq!(bridge.ask(one("attention.get", "attention_id", json!("0".repeat(24))))["item"], Value::Null);
}

#[test]
fn a_capability_is_withheld_when_its_key_or_signature_is_wrong() {
    for (tamper, shown) in [
        ("none", true),
        ("signature", false),
        ("key", false),
        ("key_mode", false),
        ("no_capability", false),
        ("encrypted", false),
        ("pause", true),
        ("capability_digest", true),
    ] {
        let world = paused("halted_before_effect", json!({"category": "identity", "tamper": tamper}));
        let items = Bridge::start(&world).list();
        assert_eq!(items[0]["capability"].is_object(), shown, "{tamper}: {items:?}");
        assert_eq!(items[0]["encrypted_pause"], tamper == "encrypted");
    }
}

#[test]
fn only_a_run_that_is_done_and_checked_is_no_item() {
    for (shape, category, status) in [
        ("verified", None, ""),
        ("no_profile_success", None, ""),
        ("completed_unverified", Some("operator_review"), "completed_unverified"),
        ("rolled_back", Some("operator_review"), "rolled_back"),
        ("failed_platform", Some("operator_review"), "failed"),
        ("no_profile_halt", Some("operator_review"), "halted"),
    ] {
        let world = World::new();
        world.play(json!(["run_dir", {"report": shape}]));
        let items = Bridge::start(&world).list();
        assert_eq!(items.len(), usize::from(category.is_some()), "{shape}");
        if let Some(category) = category {
            assert_eq!((&items[0]["category"], &items[0]["status"]), (&json!(category), &json!(status)), "{shape}");
            assert_eq!(items[0]["durably_paused"], false);
        }
    }
}

#[test]
fn runs_of_the_real_program_are_shown_as_it_shows_them() {
    let world = World::new();
    let samples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../schemas/samples/flow-1.35.1");
    for (case, shown) in [
        ("duplicate_record", Some(("disambiguation", "pending", true))),
        ("false_saved_banner", Some(("effect_escalated", "pending", true))),
        ("timeout_after_save", Some(("postcondition", "pending", true))),
        ("after_approve", Some(("disambiguation", "approved", true))),
        ("after_reject", Some(("disambiguation", "rejected", false))),
        ("after_continue", Some(("operator_review", "completed_unverified", false))),
    ] {
        let runs = world.path(case);
        std::fs::create_dir_all(runs.join("run")).unwrap();
        for entry in std::fs::read_dir(samples.join(case)).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_file() {
                std::fs::copy(entry.path(), runs.join("run").join(entry.file_name())).unwrap();
            }
        }
        let key = runs.join("run/.attended_capability.key");
        std::fs::set_permissions(key, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        let items = Bridge::start(&world).ask(json!({"op": "attention.list", "runs_dir": runs}))["items"].clone();
        let item = &items[0];
        let found = item.is_object().then(|| {
            let text = |key: &str| item[key].as_str().unwrap_or_default().to_owned();
            (text("category"), text("status"), item["durably_paused"] == true)
        });
        assert_eq!(found, shown.map(|(category, status, paused)| (category.into(), status.into(), paused)), "{case}");
        assert!(item["capability"]["digest"].is_string(), "{case}");
        assert!(!items.to_string().contains("made-up"), "{case}");
    }
}

#[test]
fn links_are_not_followed_and_run_folders_not_looked_into() {
    let world = continuable();
    std::os::unix::fs::symlink(world.run_dir(), world.path("linked")).unwrap();
    std::fs::create_dir_all(world.path("a/b/c")).unwrap();
    for inside in ["run/inner", "a/b", "a/b/c"] {
        std::fs::create_dir_all(world.path(inside)).unwrap();
        std::fs::copy(world.run_dir().join("report.json"), world.path(inside).join("report.json")).unwrap();
    }
    let mut ids: Vec<Value> = Bridge::start(&world).list().iter().map(|item| item["id"].clone()).collect();
    ids.sort_by_key(Value::to_string);
    let mut wanted = ["run", "a/b"].map(|path| flow_fake::canonical::sha256_hex(path)[..24].to_owned());
    wanted.sort();
    assert_eq!(json!(ids), json!(wanted));
}
