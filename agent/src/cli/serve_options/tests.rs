use clap::Parser;

use super::*;

#[derive(Debug, Parser)]
struct Line {
    #[command(flatten)]
    flags: Flags,
}

fn resolve(words: &[&str], around: &Surroundings) -> Result<ServeOptions, Refusal> {
    let line = Line::try_parse_from([&["serve"], words].concat()).expect("clap accepts the words");
    line.flags.resolve(around)
}

fn at_home(home: &tempfile::TempDir) -> Surroundings {
    Surroundings {
        home: Some(home.path().join("home")),
        current_dir: home.path().to_owned(),
        ..Surroundings::default()
    }
}

#[test]
fn bundles_alone_only_list_and_either_spelling_runs() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let enabled = |words: &[&str]| resolve(words, &at_home(&home)).map(|options| options.runs_enabled);
    assert_eq!(enabled(&["--bundles", "/"]), Ok(false));
    assert_eq!(enabled(&["--bundles", "/", "--allow-run"]), Ok(true));
    assert_eq!(enabled(&["--bundles", "/", "--mode", "production"]), Ok(true));
}

#[test]
fn decisions_are_carried_in_attended_mode_or_by_the_older_flag_with_and_without_runs() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let facts = |words: &[&str]| {
        let options = resolve(&[&["--bundles", "/"], words].concat(), &at_home(&home)).expect("these words are taken");
        (options.mode(), options.runs_enabled, options.attended.is_some())
    };
    assert_eq!(facts(&["--mode", "attended"]), (Mode::Attended, true, true));
    assert_eq!(facts(&["--allow-run", "--allow-attended-actions"]), (Mode::Attended, true, true));
    assert_eq!(facts(&["--mode", "production", "--allow-attended-actions"]), (Mode::Attended, true, true));
    assert_eq!(facts(&["--allow-attended-actions"]), (Mode::Attended, false, true));
    assert_eq!(facts(&["--mode", "production"]), (Mode::Production, true, false));
    assert_eq!(facts(&[]), (Mode::Production, false, false));
}

#[test]
fn the_bridge_is_derived_from_flow_and_wants_to_be_live_with_a_deployment_only() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let attended = |words: &[&str]| {
        let all = [&["--bundles", "/", "--mode", "attended", "--flow-cli", "a-flow -x"], words].concat();
        resolve(&all, &at_home(&home)).expect("these words are taken").attended.expect("decisions are carried")
    };
    assert_eq!(attended(&[]).bridge.words(), ["a-flow", "-x", "bridge"]);
    assert!(!attended(&[]).wants_live);
    assert_eq!(attended(&["--flow-bridge", "mine -y"]).bridge.words(), ["mine", "-y"]);
    let file = home.path().join("deployment.yaml");
    std::fs::write(&file, "").expect("a file");
    let named = file.to_str().expect("a path in UTF-8");
    let live = attended(&["--config", named]);
    assert!(live.wants_live);
    assert_eq!(live.bridge.words(), ["a-flow", "-x", "bridge", "--deployment", named]);
}

#[test]
fn the_runs_folder_is_the_flag_then_the_variable_then_the_home() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let mut around = at_home(&home);
    let runs = |words: &[&str], around: &Surroundings| resolve(words, around).map(|options| options.runs_dir);
    assert_eq!(runs(&["--bundles", "/"], &around), Ok(home.path().join("home/.openadapt/runs")));
    around.runs_dir_variable = Some("/variable".into());
    assert_eq!(runs(&["--bundles", "/"], &around), Ok("/variable".into()));
    assert_eq!(runs(&["--bundles", "/", "--runs-dir", "~/mine"], &around), Ok(home.path().join("home/mine")));
}

#[test]
fn an_older_runs_folder_here_is_never_passed_over_silently() {
    let home = tempfile::tempdir().expect("a temporary folder");
    std::fs::create_dir_all(home.path().join("runs/openadapt-agent")).expect("a folder");
    assert!(resolve(&["--bundles", "/"], &at_home(&home)).is_err());
    assert!(resolve(&["--bundles", "/", "--runs-dir", "runs"], &at_home(&home)).is_ok());
}

#[test]
fn what_stands_apart_is_off_until_it_is_asked_for_by_name() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let older =
        |words: &[&str]| resolve(&[&["--bundles", "/"], words].concat(), &at_home(&home)).map(|options| options.older);
    assert_eq!(older(&["--mode", "attended"]), Ok(OlderOptions::default()));
    let all =
        ["--allow-run", "--allow-url-override", "--allow-synthetic-recorded-defaults", "--allow-protected-export"];
    let open = OlderOptions { url_override: true, recorded_defaults: true, protected_export: true };
    assert_eq!(older(&all), Ok(open));
    assert_eq!(older(&["--allow-protected-export"]).map(|older| older.protected_export), Ok(true));
}

#[test]
fn flags_that_cannot_stand_together_are_refused_with_a_hint() {
    let home = tempfile::tempdir().expect("a temporary folder");
    for words in [
        &["--mode", "production"][..],
        &["--mode", "attended"],
        &["--allow-attended-actions"],
        &["--bundles", "/", "--flow-bridge", "b"],
        &["--bundles", "/", "--form-timeout", "5"],
        &["--bundles", "/", "--mode", "attended", "--form-timeout", "0"],
        &["--bundles", "/", "--mode", "attended", "--flow-bridge-timeout", "0"],
        &["--bundles", "/", "--mode", "attended", "--flow-bridge", ""],
        &["--bundles", "/", "--allow-attended-actions", "--approval-mode", "each_item"],
        &["--bundles", "/no/such/folder"],
        &["--bundles", "/", "--approval-mode", "each_item"],
        &["--bundles", "/", "--allow-url-override"],
        &["--bundles", "/", "--allow-synthetic-recorded-defaults"],
        &["--bundles", "/", "--allow-attended-actions", "--allow-synthetic-recorded-defaults"],
        &["--bundles", "/", "--allow-run", "--timeout", "0"],
        &["--bundles", "/", "--allow-run", "--timeout", "nan"],
        &["--bundles", "/", "--allow-run", "--config", "/no/such/file"],
        &["--bundles", "/", "--allow-run", "--flow-cli", ""],
        &["--bundles", "/", "--allow-run", "--extra-run-arg=--approve-unverified-writes"],
        &["--mode", "sandbox", "--bundles", "/"],
        &["--mode", "sandbox", "--url", "http://127.0.0.1:9/"],
        &["--mode", "sandbox", "--tutorial", "--approval-mode", "each_item"],
        &["--tutorial", "--bundles", "/"],
        &["--tutorial", "--config", "/c.yaml"],
        &["--tutorial", "--mode", "production"],
        &["--tutorial", "--mode", "attended"],
        &["--tutorial", "--allow-attended-actions"],
        &["--mode", "sandbox", "--extra-run-arg=--durable"],
        &["--mode", "sandbox", "--policy", "permissive"],
        &["--mode", "sandbox", "--form-timeout", "5"],
        &["--mode", "sandbox", "--sandbox-app", "'open"],
        &["--mode", "sandbox", "--flow-cli", ""],
        &["--mode", "sandbox", "--timeout", "0"],
        &["--url", "http://127.0.0.1:9/"],
        &["--bundles", "/", "--sandbox-engine", "auto"],
        &["--bundles", "/", "--sandbox-app", "mockmed serve"],
        &["--bundles", "/", "--sandbox-port", "8080"],
    ] {
        let refusal = resolve(words, &at_home(&home)).expect_err("these words are refused");
        assert!(!refusal.hint.is_empty(), "{words:?}");
    }
}

#[test]
fn without_bundles_every_spelling_leads_into_the_sandbox_and_its_own_folder() {
    let home = tempfile::tempdir().expect("a temporary folder");
    std::fs::create_dir_all(home.path().join("runs/openadapt-agent")).expect("a folder of an older agent");
    for words in
        [&[][..], &["--mode", "sandbox"], &["--tutorial"], &["--allow-run"], &["--mode", "sandbox", "--tutorial"]]
    {
        let options = resolve(words, &at_home(&home)).expect("these words are taken");
        assert_eq!((options.mode(), options.runs_enabled, options.attended), (Mode::Sandbox, true, None), "{words:?}");
        assert_eq!(options.runs_dir, home.path().join("home/.openadapt/agent-sandbox"));
    }
}

#[test]
fn the_sandboxs_folder_is_the_flag_then_its_own_variable() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let mut around = Surroundings { runs_dir_variable: Some("/of-runs".into()), ..at_home(&home) };
    around.sandbox_dir_variable = Some("/of-the-sandbox".into());
    let folder = |words: &[&str]| resolve(words, &around).map(|options| options.runs_dir);
    assert_eq!(folder(&[]), Ok("/of-the-sandbox".into()));
    assert_eq!(folder(&["--runs-dir", "~/mine"]), Ok(home.path().join("home/mine")));
}

#[test]
fn the_sandbox_takes_its_engine_its_app_and_a_window() {
    use crate::contract::sandbox::SandboxEngine;
    use crate::sandbox::EngineChoice;

    let home = tempfile::tempdir().expect("a temporary folder");
    let settings = |words: &[&str]| match resolve(words, &at_home(&home)).expect("these words are taken").workflows {
        WorkflowSource::Sandbox(settings) => settings,
        other => panic!("{other:?} would be served"),
    };
    assert_eq!(settings(&[]).choice, EngineChoice::Auto);
    assert_eq!(settings(&[]).bridge, None);
    assert_eq!(settings(&["--sandbox-engine", "driven"]).choice, EngineChoice::Named(SandboxEngine::Driven));
    let all =
        settings(&["--flow-cli", "fake -x", "--sandbox-app", "'my clinic' serve", "--sandbox-port", "81", "--headed"]);
    assert_eq!(all.bridge.expect("a bridge").words(), ["fake", "-x", "bridge"]);
    assert_eq!((all.app, all.port, all.headed), (Some(vec!["my clinic".to_owned(), "serve".to_owned()]), 81, true));
    assert_eq!(settings(&["--flow-bridge", "b y"]).bridge.expect("a bridge").words(), ["b", "y"]);
}

fn from_env(words: &[&str], variables: &[(&str, &str)]) -> Result<ServeOptions, Refusal> {
    let home = tempfile::tempdir().expect("a temporary folder");
    let given = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
    let around = Surroundings { environment: Environment::read(given), ..at_home(&home) };
    resolve(&[&["--from-env"], words].concat(), &around)
}

#[test]
fn the_environment_of_an_mcp_bundle_stands_for_flags() {
    let named = [
        ("OPENADAPT_AGENT_BUNDLES_DIR", "/"),
        ("OPENADAPT_AGENT_ALLOW_RUN", "true"),
        ("OPENADAPT_AGENT_ALLOW_ATTENDED_ACTIONS", "on"),
        ("OPENADAPT_AGENT_POLICY", "clinical-write"),
        ("OPENADAPT_AGENT_DEPLOYMENT_CONFIG", "${user_config.deployment_config}"),
        ("OPENADAPT_AGENT_HEADED", "1"),
    ];
    let options = from_env(&[], &named).expect("the environment is whole");
    assert_eq!((options.mode(), options.runs_enabled), (Mode::Attended, true));
    let same = ["--bundles", "/", "--allow-run", "--allow-attended-actions", "--policy", "clinical-write", "--headed"];
    let home = tempfile::tempdir().expect("a temporary folder");
    assert_eq!(options.flow, resolve(&same, &at_home(&home)).expect("these words are taken").flow);
    let listing = from_env(&[], &[named[0]]).expect("only the folder is needed");
    assert_eq!((listing.mode(), listing.runs_enabled), (Mode::Production, false));
}

#[test]
fn a_flag_wins_over_its_variable_and_without_the_flag_the_environment_is_not_read() {
    let named = [("OPENADAPT_AGENT_BUNDLES_DIR", "/no/such/folder"), ("OPENADAPT_AGENT_ALLOW_RUN", "true")];
    assert!(from_env(&["--bundles", "/"], &named).is_ok_and(|options| options.runs_enabled));
    assert!(from_env(&[], &named).is_err());
    let home = tempfile::tempdir().expect("a temporary folder");
    let around = Surroundings { environment: Environment::read(|_| Some("true".to_owned())), ..at_home(&home) };
    assert!(resolve(&["--bundles", "/"], &around).is_ok_and(|options| !options.runs_enabled));
    assert!(resolve(&[], &around).is_ok_and(|options| options.mode() == Mode::Sandbox));
}

#[test]
fn an_environment_without_the_folder_of_workflows_is_refused_by_the_variable_s_name() {
    let refusal =
        from_env(&[], &[("OPENADAPT_AGENT_BUNDLES_DIR", "${user_config.bundles_dir}")]).expect_err("nothing was named");
    assert!(refusal.sentence.contains("OPENADAPT_AGENT_BUNDLES_DIR"));
}

#[test]
fn a_server_that_only_records_has_no_workflows_and_runs_nothing() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let pinned = ["--authoring", "--url", "http://127.0.0.1:9/", "--headed"];
    let alone = resolve(&pinned, &at_home(&home)).expect("these words are taken");
    assert_eq!(
        (&alone.workflows, alone.runs_enabled, alone.mode()),
        (&WorkflowSource::Nothing, false, Mode::Production)
    );
    let recording = alone.recording.expect("it records");
    assert_eq!(recording.bridge.words(), ["openadapt-flow", "bridge"]);
    let beside = resolve(&[&pinned[..], &["--bundles", "/", "--mode", "production"]].concat(), &at_home(&home));
    assert!(beside.is_ok_and(|options| options.runs_enabled && options.recording.is_some()));
    assert!(resolve(&["--bundles", "/"], &at_home(&home)).is_ok_and(|options| options.recording.is_none()));
}
