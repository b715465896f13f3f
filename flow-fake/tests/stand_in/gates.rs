//! The gate report and the refusals, held against the grammar that a consumer parses.

use serde_json::json;

use super::world::{Ended, World};

const TITLES: [&str; 8] = [
    "Execution profile",
    "Certification passed",
    "Identity coverage",
    "Effect coverage",
    "Approval fallback",
    "Interstitial admission",
    "Encrypted bundle",
    "Sealed manifest + version pin",
];

/// What `^\s*\[REFUSE\]\s+([^:]+):` finds, line by line.
fn refused_titles(stdout: &str) -> Vec<&str> {
    stdout
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("[REFUSE]"))
        .filter(|rest| rest.starts_with(char::is_whitespace))
        .filter_map(|rest| rest.trim_start().split_once(':'))
        .map(|(title, _)| title)
        .collect()
}

fn refuse(titles: &[&str]) -> (World, Ended) {
    let world = World::new();
    let ended = world.play(json!([{"gate": {"refuse": titles}}, "run_dir"]));
    (world, ended)
}

#[test]
fn an_admission_follows_the_grammar_line_by_line() {
    let ended = World::new().play(json!([{"gate": "admit"}]));
    let lines: Vec<&str> = ended.stdout.lines().collect();
    assert_eq!(lines[0], "ADMIT: workflow 'enter-referral' under 'standard' profile vs policy 'clinical-write'");
    for (line, title) in lines[1..9].iter().zip(TITLES) {
        assert!(line.starts_with(&format!("  [PASS] {title}: ")), "{line}");
    }
    assert_eq!(lines[9..], ["  -> ADMITTED: all fail-closed gates satisfied."]);
    assert_eq!(ended.code, Some(0));
}

#[test]
fn without_a_profile_there_is_no_profile_line() {
    let ended = World::new().call(&["run", "alpha", "--dry-run", "--policy", "permissive"]);
    assert!(ended.stdout.starts_with("ADMIT: workflow 'enter-referral' vs policy 'permissive'\n"), "{ended:?}");
    assert!(!ended.stdout.contains("Execution profile"));
}

#[test]
fn each_title_alone_and_all_together_can_refuse() {
    for titles in TITLES.map(|title| vec![title]).into_iter().chain([TITLES.to_vec()]) {
        let (world, ended) = refuse(&titles);
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.stdout.starts_with("REFUSE: workflow "));
        assert_eq!(refused_titles(&ended.stdout), titles);
        let last = format!("  -> RUN REFUSED (fail-closed): {}. Nothing was executed.", titles.join(", "));
        assert_eq!(ended.stdout.lines().last(), Some(last.as_str()));
        assert_eq!(ended.stderr, "");
        assert!(!world.run_dir().exists());
        assert_eq!(world.line("gate")["titles"], json!(titles));
    }
}

#[test]
fn a_title_of_a_later_flow_comes_after_the_known_ones() {
    let (_, ended) = refuse(&["Moon phase", "Identity coverage"]);
    assert_eq!(refused_titles(&ended.stdout), ["Identity coverage", "Moon phase"]);
}

#[test]
fn open_pictures_are_a_warning() {
    let world = World::new();
    std::fs::create_dir(world.path("alpha/templates")).unwrap();
    let ended = world.play(json!([{"gate": "admit"}]));
    assert!(ended.stdout.contains("  [WARN] Encrypted bundle: "), "{ended:?}");
    assert!(ended.stdout.starts_with("ADMIT"));
}

#[test]
fn a_refusal_is_one_line_on_stdout_and_exit_2() {
    let world = World::new();
    let ended = world.play(json!([{"refuse": "standard needs a signed qualification admission"}, "run_dir"]));
    let line = "run REFUSED: standard needs a signed qualification admission. Nothing was executed.\n";
    assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr.as_str()), (Some(2), line, ""));
    assert!(!world.run_dir().exists());
}

#[test]
fn the_other_early_ends_have_their_stream_and_code() {
    let ended = World::new().play(json!([{"usage_error": "unrecognized arguments: --x"}]));
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    assert!(ended.stderr.starts_with("usage: openadapt-flow run"), "{ended:?}");
    let ended = World::new().play(json!([{"system_exit": "no such field"}]));
    assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr.as_str()), (Some(1), "", "no such field\n"));
    let ended = World::new().play(json!([{"traceback": "ConnectionError: nobody answers"}]));
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
    assert!(
        ended.stderr.starts_with("Traceback (most recent call last):\n") && ended.stderr.ends_with("nobody answers\n")
    );
}
