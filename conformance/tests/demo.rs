//! The demo from outside: how it ends, what it says, and the page that it leaves.

#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The workspace's own agent: beside this test's folder, where `cargo test --workspace` builds it.
fn agent() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().and_then(Path::parent).unwrap().join("openadapt-agent")
}

/// An agent that says one thing instead of another, in every answer.
fn liar(folder: &Path, truth: &str, lie: &str) -> String {
    let program = folder.join("liar.sh");
    let text = format!(
        "#!/bin/sh\n'{}' \"$@\" | while IFS= read -r line; do printf '%s\\n' \"$line\" | sed 's/{truth}/{lie}/g'; done\n",
        agent().display()
    );
    fs::write(&program, text).unwrap();
    format!("sh {}", program.display())
}

fn demo(agent: &str, folder: &Path) -> (i32, String) {
    let ended = Command::new(env!("CARGO_BIN_EXE_conformance"))
        .args(["demo", "--engine", "simulated", "--agent", agent, "--out"])
        .arg(folder)
        .env("NO_COLOR", "1")
        .env_remove("CARGO")
        .output()
        .unwrap();
    (ended.status.code().unwrap(), String::from_utf8(ended.stdout).unwrap())
}

#[test]
fn without_an_app_the_demo_is_played_simulated_and_says_so_at_the_top_and_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let (code, said) = demo(&agent().display().to_string(), folder.path());
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("SIMULATED: no app was opened"), "{said}");
    assert_eq!(said.matches("Nothing was opened, and the agent says so first.").count(), 5, "{said}");
    let page = fs::read_to_string(folder.path().join("index.html")).unwrap();
    assert!(page.contains("<h1>Simulated: no app was opened</h1>"));
}

#[test]
fn an_agent_that_calls_an_unsure_run_done_fails_the_demo() {
    let folder = tempfile::tempdir().unwrap();
    let (code, said) = demo(&liar(folder.path(), "not_sure_if_saved", "done"), folder.path());
    assert_eq!(code, 100, "{said}");
    assert!(said.contains("documented to end in not_sure_if_saved, and it ended in done"), "{said}");
}

#[test]
fn an_agent_that_hides_that_it_was_simulated_fails_the_demo() {
    let folder = tempfile::tempdir().unwrap();
    let (code, said) = demo(&liar(folder.path(), "Simulated sandbox result", "Result"), folder.path());
    assert_eq!(code, 100, "{said}");
    assert!(said.contains("tells it as if something had been"), "{said}");
}
