use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use super::*;
use crate::flow::bridge::command::Deployment;
use crate::flow::command::FlowSettings;

const GREETING: &str = r#"{"id":1,"ok":true,"flow_version":"1.35.1","attended":true,"live":false"#;

struct World(tempfile::TempDir);

impl World {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// With a bridge that answers like this, and a Flow that isn't there.
    fn examined(&self, answer: &str) -> Vec<Finding> {
        let file = self.0.path().join("bridge.sh");
        fs::write(
            &file,
            format!(
                "read line; echo '{answer}'; read line; echo '{}'; read line",
                answer.replace("\"id\":1", "\"id\":2")
            ),
        )
        .unwrap();
        let words = format!("sh {}", file.display());
        let bridge = BridgeCommand::new(Some(&words), &[], &Deployment::default(), Duration::from_secs(20)).unwrap();
        let flow = FlowCommand::new("/no/such/flow", FlowSettings::default()).unwrap();
        examine(&Subject { flow: &flow, bridge: &bridge, runs_dir: &self.0.path().join("runs") })
    }
}

fn states(findings: &[Finding]) -> Vec<(Check, State)> {
    findings.iter().map(|finding| (finding.check, finding.state)).collect()
}

fn of(findings: &[Finding], check: Check) -> Finding {
    findings.iter().find(|finding| finding.check == check).unwrap().clone()
}

#[test]
fn everything_that_is_there_is_said_with_its_version() {
    let world = World::new();
    let findings = world.examined(&format!("{GREETING},\"stand_in\":false,\"sandbox\":true}}"));
    assert!(findings.iter().all(|finding| finding.state == State::Ok), "{findings:?}");
    assert_eq!(of(&findings, Check::Flow).detail.as_deref(), Some("1.35.1"));
    assert!(can_run(&findings));
    assert!(!world.0.path().join("runs").exists(), "it made the folder that it looked for");
}

#[test]
fn what_is_missing_is_said_with_a_way_to_get_it_and_only_what_runs_need_counts() {
    let world = World::new();
    let without =
        world.examined(&format!("{GREETING},\"stand_in\":false,\"sandbox\":false,\"sandbox_reason\":\"no_browser\"}}"));
    assert_eq!(of(&without, Check::Browser).state, State::Missing);
    assert!(can_run(&without));
    for (answer, flow) in [
        (r#"{"id":1,"ok":false,"kind":"no_flow"}"#, State::Missing),
        (r#"{"id":1,"ok":false,"kind":"other_version"}"#, State::Wrong),
        (r#"{"id":1,"ok":false,"kind":"import_error"}"#, State::Wrong),
        ("not an answer", State::Missing),
    ] {
        let findings = world.examined(answer);
        assert_eq!(of(&findings, Check::Flow).state, flow, "{answer}");
        assert!(!can_run(&findings));
        let unhelpful = findings.iter().filter(|finding| finding.state != State::Ok && finding.hint.is_none());
        assert_eq!(unhelpful.count(), 0);
    }
}

#[test]
fn folders_that_others_can_use_are_wrong() {
    let world = World::new();
    let (runs, store) = (world.0.path().join("runs"), world.0.path().join("runs/openadapt-agent"));
    fs::create_dir_all(store.join("claims")).unwrap();
    let with = |folder: &std::path::Path, mode| fs::set_permissions(folder, fs::Permissions::from_mode(mode)).unwrap();
    with(&runs, 0o755);
    with(&store, 0o700);
    let findings = world.examined("x");
    assert_eq!(
        states(&findings)[4..],
        [
            (Check::RunsFolder, State::Ok),
            (Check::Store, State::Ok),
            (Check::Ledger, State::Ok),
            (Check::Clock, State::Ok)
        ]
    );
    assert_eq!(of(&findings, Check::Ledger).detail.as_deref(), Some("claim_files"));
    with(&runs, 0o777);
    with(&store, 0o750);
    let findings = world.examined("x");
    assert_eq!(of(&findings, Check::RunsFolder).detail.as_deref(), Some("0777"));
    assert_eq!(states(&findings)[4..6], [(Check::RunsFolder, State::Wrong), (Check::Store, State::Wrong)]);
}

#[test]
fn a_clock_that_is_behind_the_runs_folder_is_wrong() {
    let world = World::new();
    let runs = world.0.path().join("runs");
    fs::create_dir(&runs).unwrap();
    let later = std::time::SystemTime::now() + Duration::from_secs(86_400);
    fs::File::open(&runs).unwrap().set_modified(later).unwrap();
    assert_eq!(of(&world.examined("x"), Check::Clock).state, State::Wrong);
}
