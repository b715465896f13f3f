//! Exit codes and streams, as argparse and the real program have them.

use serde_json::json;

use super::world::{Ended, World, mode};

fn assert_usage_error(ended: &Ended, needle: &str) {
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert_eq!(ended.stdout, "", "{ended:?}");
    assert!(ended.stderr.starts_with("usage: openadapt-flow"), "{ended:?}");
    assert!(ended.stderr.contains(needle), "{needle}: {ended:?}");
}

fn run(args: &[&str]) -> Ended {
    let world = World::new();
    world.call(&[&["run", "alpha", "--run-dir", "run"], args].concat())
}

#[test]
fn the_version_is_one_line_on_stdout() {
    for spelling in ["--version", "--vers"] {
        let ended = World::new().call(&[spelling]);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "openadapt-flow 1.35.1\n"));
        assert_eq!(ended.stderr, "");
    }
}

#[test]
fn help_says_that_it_is_a_stand_in_and_names_every_step() {
    let ended = World::new().call(&["--help"]);
    assert_eq!(ended.code, Some(0));
    assert!(ended.stdout.contains("stand-in"));
    for step in flow_fake::script::STEP_NAMES {
        assert!(ended.stdout.lines().any(|line| line.trim() == step), "{step}");
    }
}

#[test]
fn mistakes_are_usage_on_stderr_and_exit_2() {
    assert_usage_error(&run(&["--bogus"]), "openadapt-flow: error: unrecognized arguments: --bogus");
    assert_usage_error(&run(&["--approval-mode", "each_item"]), "unrecognized arguments: --approval-mode each_item");
    assert_usage_error(&run(&["another"]), "unrecognized arguments: another");
    assert_usage_error(&run(&["--profile", "bogus"]), "argument --profile: invalid choice: 'bogus'");
    assert_usage_error(&run(&["--url"]), "openadapt-flow run: error: argument --url: expected one argument");
    assert_usage_error(&run(&["--url", "--headed"]), "argument --url: expected one argument");
    assert_usage_error(&run(&["--durable=yes"]), "argument --durable: ignored explicit argument 'yes'");
    assert_usage_error(&run(&["--pa", "x"]), "ambiguous option: --pa could match --param, --params-file");
    assert_usage_error(&World::new().call(&["run"]), "the following arguments are required: bundle");
    assert_usage_error(&World::new().call(&["item-approval", "show"]), "invalid choice: 'item-approval'");
    assert_usage_error(&World::new().call(&[]), "required");
    assert_usage_error(&World::new().call(&["--bogus"]), "unrecognized arguments: --bogus");
}

#[test]
fn abbreviations_equals_signs_and_odd_values_are_taken() {
    let world = World::new();
    let ended = world.call(&[
        "run",
        "--prof=demo",
        "--run-d",
        "run",
        "--param",
        "note=-x",
        "--param=-y=1",
        "--rdp-window-t",
        "-5",
        "--rdp-readiness",
        "-a b",
        "--head",
        "--",
        "alpha",
    ]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(world.report()["params"], json!({"note": "-x", "-y": "1"}));
}

#[test]
fn every_measured_flag_is_taken_with_its_arity() {
    let switches = [
        "--durable",
        "--headed",
        "--linux-allow-physical-input",
        "--allow-surface-override",
        "--api-actuator",
        "--approve-unverified-writes",
        "--strict-templates",
        "--allow-unencrypted",
        "--allow-model-grounding",
        "--report",
        "--allow-trusted-code",
    ];
    let values = [
        "--url",
        "--policy",
        "--agent-url",
        "--macos-app",
        "--macos-window-title",
        "--linux-app",
        "--linux-window-title",
        "--rdp-host",
        "--rdp-window",
        "--rdp-window-title",
        "--rdp-readiness-text",
        "--effects-base-url",
        "--effects-root",
        "--api-base-url",
        "--worklist",
        "--attest-contract",
        "--attest-sign-key",
        "--attest-audit-log",
        "--attest-pre-state",
        "--pin-digest",
        "--pin-version",
        "--save-healed-to",
        "--qualification-authority-file",
        "--qualification-trust",
        "--execute-url",
        "--execute-environment-id",
        "--code-trust",
        "--code-runtime-environment-digest",
        "--process-receipt-private-key",
        "--process-receipt-issuer-key-id",
        "--process-environment-id",
        "--process-runner-id",
        "--managed-dispatch-file",
        "--execute-token",
        "--record-video",
    ];
    let choices = [("--profile", "demo"), ("--backend", "citrix"), ("--effects-kind", "document-hash")];
    let mut args: Vec<&str> = switches.to_vec();
    values.iter().for_each(|flag| args.extend([flag, "v"]));
    choices.iter().for_each(|(flag, value)| args.extend([flag, value]));
    let ended = run(&args);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for (flag, _) in choices {
        assert_usage_error(&run(&[flag, "bogus"]), "invalid choice");
    }
}

#[test]
fn a_bundle_that_cannot_be_loaded_is_refused_before_bad_inputs_are() {
    let world = World::new();
    std::fs::write(world.path("broken.json"), "{").unwrap();
    let ended = world.call(&["run", "nowhere", "--params-file", "broken.json", "--run-dir", "run"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stdout.starts_with("run REFUSED: bundle could not be loaded safely"));
    assert!(ended.stdout.ends_with("Nothing was executed.\n"));
    assert_eq!(ended.stderr, "");
    assert!(!world.run_dir().exists());
}

#[test]
fn an_encrypted_bundle_needs_its_passphrase() {
    let world = World::new();
    std::fs::rename(world.path("alpha/workflow.json"), world.path("alpha/workflow.json.enc")).unwrap();
    let args = ["run", "alpha", "--profile", "demo", "--run-dir", "run"];
    assert_eq!(world.call(&args).code, Some(2));
    let output = world.command(&args).env("OPENADAPT_BUNDLE_KEY", "k").output().unwrap();
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn bad_inputs_are_text_on_stderr_and_exit_1_before_a_missing_config() {
    let bad = [
        "{",
        "[]",
        "{\"a\": null}",
        "{\"a\": [1]}",
        "{\"a\": {}}",
        "{\"\": 1}",
        "{\"a\": NaN}",
        "{\"a\": 9007199254740993}",
        "{\"a\": 1e999}",
        "\u{feff}{}",
    ];
    let many = json!((0..101).map(|at| (at.to_string(), json!(at))).collect::<serde_json::Map<_, _>>()).to_string();
    for text in bad.into_iter().chain([many.as_str()]) {
        let world = World::new();
        std::fs::write(world.path("inputs"), text).unwrap();
        let ended =
            world.call(&["run", "alpha", "--params-file", "inputs", "--config", "none.yaml", "--run-dir", "run"]);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""), "{text}: {ended:?}");
        assert!(ended.stderr.starts_with("--params-file"), "{text}: {ended:?}");
        assert!(!world.run_dir().exists());
    }
    let ended = run(&["--param", "no-equals-sign", "--config", "none.yaml"]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.stderr.starts_with("--param "), "{ended:?}");
    let ended = run(&["--config", "none.yaml"]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.stderr.starts_with("Traceback"), "{ended:?}");
}

#[test]
fn a_dry_run_prints_the_gate_and_does_nothing() {
    for flag in ["--dry-run", "--explain"] {
        let world = World::new();
        let ended = world.call(&["run", "alpha", "--profile", "standard", flag, "--run-dir", "run"]);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert!(ended.stdout.contains("ADMITTED"));
        assert!(!world.run_dir().exists());
    }
}

#[test]
fn without_a_script_the_profile_decides_how_an_admitted_run_ends() {
    let ends = [
        (None, "no_profile_success", false),
        (Some("demo"), "completed_unverified", false),
        (Some("standard"), "verified", true),
    ];
    for (profile, shape, durable) in ends {
        let world = World::new();
        let flags = profile.map_or(vec![], |profile| vec!["--profile", profile]);
        let ended = world.call(&[&["run", "alpha", "--run-dir", "run"], flags.as_slice()].concat());
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert_eq!(world.line("report")["shape"], shape);
        assert_eq!(world.run_dir().join(".durable_run.claim").exists(), durable);
        assert_eq!(world.events(), ["launch", "gate", "run_dir", "effect", "report", "exit"]);
    }
}

#[test]
fn a_run_folder_that_was_used_is_refused_after_the_gate_and_keeps_its_report() {
    let world = World::new();
    world.play(json!([{"gate": "admit"}, "run_dir", {"report": "verified"}]));
    let before = world.report();
    let ended = world.play(json!([{"gate": "admit"}, "run_dir", {"report": "verified"}]));
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stdout.contains("ADMITTED") && ended.stderr.contains("already contains a durable run"));
    assert_eq!(world.report(), before);
}

#[test]
fn certify_passes_what_loads_and_says_what_it_lacks() {
    let world = World::new();
    let ended = world.call(&["certify", "alpha", "--policy", "clinical-write"]);
    assert_eq!(ended.code, Some(0));
    assert!(
        ended.stdout.starts_with("PASS: workflow 'enter-referral' vs policy 'clinical-write' (0 steps)\n"),
        "{ended:?}"
    );
    let ended = world.call(&["certify", "alpha"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
    let ended = world.call(&["certify", "nowhere", "--policy", "permissive"]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.stderr.starts_with("Traceback"));
    assert_usage_error(&world.call(&["certify", "alpha", "--strict"]), "unrecognized arguments: --strict");
}

#[test]
fn a_verb_that_is_not_imitated_is_the_harness_to_blame() {
    let ended = World::new().call(&["lint", "run"]);
    assert_eq!(ended.code, Some(64));
    assert!(ended.stderr.contains("doesn't imitate `lint`") && ended.stderr.contains("\n\nhint: "), "{ended:?}");
}

#[test]
fn settings_can_be_flags_before_the_verb() {
    let world = World::new();
    std::fs::write(world.path("s.json"), r#"{"steps":[{"exit":7}]}"#).unwrap();
    let ended = world.call(&["--script=s.json", "--journal", "other", "--control", "control", "run", "alpha"]);
    assert_eq!(ended.code, Some(7), "{ended:?}");
    assert!(world.path("other").exists() && !world.path("journal").exists());
}

#[test]
fn a_script_beside_the_bundle_is_found_and_the_environment_goes_before_it() {
    let world = World::new();
    std::fs::write(world.path("alpha/flow-fake.json"), r#"{"steps":[{"exit":3}]}"#).unwrap();
    assert_eq!(world.call(&["run", "alpha"]).code, Some(3));
    assert_eq!(world.play(json!([{"exit": 4}])).code, Some(4));
}

#[test]
fn the_review_page_is_as_readable_as_the_umask_leaves_it() {
    let world = World::new();
    world.play(json!(["run_dir", {"report": "verified"}]));
    let review = world.run_dir().join("REPORT.md");
    assert!(std::fs::read_to_string(&review).unwrap().contains(flow_fake::SCREEN_CANARY));
    std::fs::write(world.path("probe"), "").unwrap();
    assert_eq!(mode(&review), mode(&world.path("probe")));
}
