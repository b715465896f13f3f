//! The program itself: how it ends, what it says, and what it leaves behind.

#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::{Pid, Signal, kill_process};

const SAVES: &str = r#"
id = "own/a-save"
title = "A save is told as done"
proves = ["RES-done-means-saved"]
[[do]]
call = "run_workflow"
args = { workflow = "triage", request_id = "$rid", inputs = { note = "$canary:note" } }
expect = { outcome = "done" }
"#;

const ROW: &str = r#"
[[requirement]]
id = "RES-done-means-saved"
level = "must"
text = "Only done says the change was saved."
source = "design: The result contract"
since = "2026-11"
observable = "wire"
reach = "now"
"#;

const HOLE: &str = r#"
[[requirement]]
id = "RES-nobody-looks"
level = "must"
text = "Something that no scenario proves."
source = "design: The result contract"
since = "2026-11"
observable = "wire"
reach = "now"
"#;

fn liar() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().and_then(|deps| deps.parent()).unwrap().join("examples/liar")
}

fn set(catalogue: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("requirements")).unwrap();
    fs::write(folder.path().join("requirements/rows.toml"), catalogue).unwrap();
    fs::write(folder.path().join("own.toml"), SAVES).unwrap();
    folder
}

fn conformance(verb: &str, lie: &str, set: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_conformance"));
    let liar = liar().display().to_string();
    command.args([verb, "--agent", &format!("{liar} {lie}"), "--flow", &format!("{liar} flow"), "--scenarios"]);
    command.arg(set).args(more);
    command
}

fn ended(mut command: Command) -> (i32, String, String) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

#[test]
fn an_honest_agent_is_conformant_and_its_report_can_be_read_again() {
    let set = set(ROW);
    let out = set.path().join("out");
    let (exit, said, _) = ended(conformance("all", "honest", set.path(), &["--out", out.to_str().unwrap()]));
    assert_eq!(exit, 0, "{said}");
    assert!(said.contains("passed: 1 of 1 scenarios") && said.contains("requirements: 1 of 1 proven"), "{said}");
    assert!(fs::read_to_string(out.join("junit.xml")).unwrap().contains("own/a-save"));
    assert!(fs::read_to_string(out.join("matrix.md")).unwrap().contains("| RES-done-means-saved | proven |"));

    let report = out.join("report.jsonl");
    let again = |path: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_conformance"));
        command.arg("report").arg(path);
        ended(command)
    };
    let (exit, shown, _) = again(&report);
    assert_eq!((exit, shown), (0, said));
    let whole = fs::read_to_string(&report).unwrap();
    let cut = whole.lines().take(2).map(|line| format!("{line}\n")).collect::<String>();
    fs::write(&report, cut).unwrap();
    let (exit, _, complaint) = again(&report);
    assert_eq!(exit, 102);
    assert!(complaint.contains("cut off") && complaint.contains("\n\nhint: "), "{complaint}");
}

#[test]
fn a_requirement_within_reach_that_no_scenario_proves_fails_all_and_not_run() {
    let set = set(&format!("{ROW}{HOLE}"));
    let (exit, said, _) = ended(conformance("all", "honest", set.path(), &[]));
    assert_eq!(exit, 100);
    assert!(said.contains("RES-nobody-looks") && said.contains("incomplete: 1 of 1 scenarios"), "{said}");
    assert_eq!(ended(conformance("run", "honest", set.path(), &[])).0, 0);
}

#[test]
fn a_lie_and_a_program_that_is_no_server_are_red() {
    let set = set(ROW);
    let (exit, said, _) = ended(conformance("all", "always-done", set.path(), &[]));
    assert_eq!(exit, 100);
    assert!(said.contains("save-truth") && said.contains("Only done says the change was saved."), "{said}");
    let (exit, said, _) = ended(conformance("all", "exits", set.path(), &[]));
    assert_eq!(exit, 100);
    assert!(
        said.contains("no answer; the server ended: exit code 3") && said.contains("blame: implementation"),
        "{said}"
    );
    assert!(said.contains("1 not run"), "{said}");
}

#[test]
fn a_command_that_is_not_there_is_a_matter_of_set_up() {
    let set = set(ROW);
    let mut command = Command::new(env!("CARGO_BIN_EXE_conformance"));
    command.args(["all", "--agent", "/no/such/program", "--flow", "true", "--scenarios"]).arg(set.path());
    let (exit, said, _) = ended(command);
    assert_eq!(exit, 96);
    assert!(said.contains("blame: environment"), "{said}");
}

#[test]
fn a_filter_that_matches_nothing_names_the_nearest() {
    let set = set(ROW);
    let (exit, _, complaint) = ended(conformance("run", "honest", set.path(), &["--filter", "own/a-safe"]));
    assert_eq!(exit, 4);
    assert!(complaint.contains("hint: did you mean own/a-save"), "{complaint}");
}

#[test]
fn claims_bind_the_program_and_leave_other_profiles_out() {
    let set = set(ROW);
    fs::write(
        set.path().join("other.toml"),
        SAVES.replace("own/a-save", "own/other").replace("proves", "profile = \"other\"\nproves"),
    )
    .unwrap();
    let claims = set.path().join("claims.json");
    let claim = |version: &str| {
        let text = format!(
            r#"{{"claims":"openadapt.conformance-claims/v1","product":"liar","version":"{version}","profiles":["core"]}}"#
        );
        fs::write(&claims, text).unwrap();
        ended(conformance("run", "honest", set.path(), &["--claims", claims.to_str().unwrap()]))
    };
    let (exit, said, _) = claim("0");
    assert_eq!(exit, 0, "{said}");
    assert!(said.contains("1 of 1 scenarios, 1 not claimed"), "{said}");
    let (exit, said, _) = claim("1");
    assert_eq!(exit, 100);
    assert!(said.contains("blame: claims"), "{said}");
}

#[test]
fn smoke_tells_who_the_server_is_and_explain_tells_what_a_scenario_does() {
    let set = set(ROW);
    let liar = liar().display().to_string();
    let mut smoke = Command::new(env!("CARGO_BIN_EXE_conformance"));
    smoke.args(["smoke", "--agent", &format!("{liar} honest"), "--flow", "true"]);
    let (exit, said, _) = ended(smoke);
    assert_eq!((exit, said.as_str()), (0, "liar 0, protocol 2025-11-25\ntools:\n  run_workflow\n"));

    let mut explain = Command::new(env!("CARGO_BIN_EXE_conformance"));
    explain.args(["explain", "own/a-save", "--scenarios"]).arg(set.path());
    let (exit, said, _) = ended(explain);
    assert_eq!(exit, 0);
    assert!(said.contains("Only done says the change was saved.") && said.contains("1. call run_workflow"), "{said}");
}

#[test]
fn an_interrupted_run_leaves_no_process_and_no_folder() {
    let set = set(ROW);
    let tmp = tempfile::tempdir().unwrap();
    let pipe = set.path().join("pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let mut command = conformance("run", &format!("lingers {}", pipe.display()), set.path(), &[]);
    let mut child = command.env("TMPDIR", tmp.path()).spawn().unwrap();
    let judge = Pid::from_raw(child.id().try_into().unwrap()).unwrap();
    let open = || fs::OpenOptions::new().read(true).write(true).open(&pipe).unwrap();
    let (mut reading, mut telling) = (BufReader::new(open()), open());
    let waiting = std::thread::spawn(move || {
        let status = child.wait().unwrap();
        telling.write_all(b"the judge ended\n").unwrap();
        status
    });

    let mut said = String::new();
    reading.read_line(&mut said).unwrap();
    assert_eq!(said, "lingering\n");
    let worlds = conformance::run::process::of_folder(tmp.path());
    assert!(worlds.iter().any(|process| process.command.contains("lingers-on")), "{worlds:?}");
    kill_process(judge, Signal::INT).unwrap();

    assert_eq!(waiting.join().unwrap().code(), Some(130));
    assert_eq!(conformance::run::process::of_folder(tmp.path()), []);
    assert_eq!(fs::read_dir(tmp.path()).unwrap().count(), 0, "folders are left");
}
