//! Small agents that lie, each in its own way, and the check that must catch each of them.

#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]

use std::collections::BTreeSet;
use std::path::PathBuf;

use conformance::check::judge;
use conformance::check::verdict::{Blame, Judgement};
use conformance::run::perform;
use conformance::run::subject::{Player, Subject};
use conformance::scenario::expand::expand;

const SAVES: &str = r#"
id = "liars/a-save"
title = "A save is told as done"
proves = ["RES-done"]
deadline_s = 3
[[do]]
call = "run_workflow"
args = { workflow = "triage", request_id = "$rid", inputs = { note = "$canary:note" } }
"#;

fn liar() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().and_then(|deps| deps.parent()).unwrap().join("examples/liar")
}

fn judged(lie: &str, scenario: &str) -> Judgement {
    let scenario = expand("liars", scenario).unwrap().remove(0);
    let program = liar().display().to_string();
    let subject = Subject {
        agent: vec![program.clone(), lie.into()],
        flow: vec![program, "flow".into()],
        mortal: None,
        browser: None,
        real_flow: None,
        player: Player::StandIn,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    judge(&tokio::task::LocalSet::new().block_on(&runtime, perform(&scenario, &subject)))
}

/// The checks that went red, and who is blamed.
fn red(judgement: &Judgement) -> (BTreeSet<&str>, BTreeSet<Blame>) {
    let failures = &judgement.failures;
    (
        failures.iter().map(|failure| failure.check.as_str()).collect(),
        failures.iter().map(|failure| failure.blame).collect(),
    )
}

#[test]
fn an_honest_agent_is_green() {
    let judgement = judged("honest", SAVES);
    assert_eq!(judgement.failures, []);
    for check in ["save-truth", "result-shape", "frames-only", "no-value-leaks", "params-file", "store-modes"] {
        assert!(judgement.looked[check] > 0, "{check} looked at nothing");
    }
}

#[test]
fn each_lie_is_caught_by_its_own_check_and_blamed_on_the_implementation() {
    for (lie, checks) in [
        ("always-done", &["save-truth"][..]),
        ("fails-and-says-done", &["save-truth"]),
        ("denies", &["save-truth"]),
        ("starts-twice", &["at-most-once", "launches"]),
        ("two-faced", &["result-shape"]),
        ("chatty", &["frames-only"]),
        ("twice", &["answered-once"]),
        ("leaky", &["no-value-leaks"]),
        ("leaves-params", &["no-value-leaks", "params-file"]),
        ("readable", &["store-modes"]),
        ("stays", &["clean-exit"]),
    ] {
        let judgement = judged(lie, SAVES);
        assert_eq!(
            red(&judgement),
            (checks.iter().copied().collect(), [Blame::Implementation].into()),
            "{lie}: {judgement:#?}"
        );
    }
}

#[test]
fn an_agent_that_never_comes_to_answer_stops_the_scenario() {
    for (lie, said) in [
        ("exits", "no answer; the server ended: exit code 3"),
        ("silent", "no answer in time"),
        ("stringly", "no answer in time"),
        ("dies", "the server ended"),
    ] {
        let judgement = judged(lie, SAVES);
        let first = &judgement.failures[0];
        assert_eq!((first.check.as_str(), first.blame), ("to-the-end", Blame::Implementation), "{lie}");
        assert!(first.actual.contains(said), "{lie}: {}", first.actual);
    }
}

#[test]
fn an_agent_that_always_refuses_is_red_as_soon_as_a_scenario_expects_a_save() {
    let expecting = format!("{SAVES}expect = {{ outcome = \"done\" }}\n[after]\nlaunches = 1\neffects = 1\n");
    let judgement = judged("always-refuses", &expecting);
    assert_eq!(red(&judgement), (["after", "expected"].into(), [Blame::Implementation].into()));
    assert_eq!(judged("honest", &expecting).failures, []);
}

#[test]
fn an_agent_that_is_not_there_is_blamed_on_the_environment() {
    let scenario = expand("liars", SAVES).unwrap().remove(0);
    let subject = Subject {
        agent: vec!["/no/such/program".into()],
        flow: vec!["flow".into()],
        mortal: None,
        browser: None,
        real_flow: None,
        player: Player::StandIn,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let judgement = judge(&tokio::task::LocalSet::new().block_on(&runtime, perform(&scenario, &subject)));
    assert_eq!(judgement.failures[0].blame, Blame::Environment);
}

#[test]
fn a_scenario_that_names_what_does_not_exist_is_blamed_on_the_harness() {
    let broken = SAVES.replace("$rid", "$no_such_thing");
    let judgement = judged("honest", &broken);
    assert_eq!((judgement.failures[0].check.as_str(), judgement.failures[0].blame), ("to-the-end", Blame::Harness));
}
