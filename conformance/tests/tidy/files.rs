//! What is tracked, and rules that hold for every file.

use std::path::{Path, PathBuf};
use std::process::Command;

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").to_owned()
}

/// Every file that is tracked or would be, by its path from the root.
pub fn tracked() -> Vec<String> {
    let listed = Command::new("git")
        .current_dir(root())
        .args(["ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate"])
        .output()
        .expect("git lists the files");
    assert!(listed.status.success(), "git lists the files");
    let names = String::from_utf8(listed.stdout).expect("names are text");
    let mut names: Vec<_> = names.lines().map(str::to_owned).filter(|name| root().join(name).exists()).collect();
    names.sort();
    assert!(names.len() > 100, "only {} files were found", names.len());
    names
}

pub fn text(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap_or_else(|fault| panic!("{name}: {fault}"))
}

fn rust_files() -> Vec<String> {
    tracked().into_iter().filter(|name| name.ends_with(".rs")).collect()
}

#[test]
fn no_rust_file_is_longer_than_700_lines_and_no_main_than_15() {
    for name in rust_files() {
        let limit = if name.ends_with("src/main.rs") { 15 } else { 700 };
        let lines = text(&name).lines().count();
        assert!(lines <= limit, "{name} has {lines} lines, at most {limit} are wanted");
    }
}

#[test]
fn every_rust_file_says_in_its_first_line_what_it_holds() {
    for name in rust_files() {
        let first = text(&name).lines().next().unwrap_or_default().to_owned();
        let documented = first.strip_prefix("//! ").is_some_and(|sentence| sentence.len() > 10);
        assert!(documented || name.ends_with("/tests.rs"), "{name} begins with {first:?}");
    }
}

#[test]
fn nothing_is_skipped_left_to_do_or_silenced() {
    let marks = ["ignore", "should_panic", "allow("].map(|mark| format!("#[{mark}"));
    let words = [["TO", "DO"], ["FIX", "ME"]].map(|halves| halves.concat());
    for name in rust_files() {
        let text = text(&name);
        for mark in marks.iter().chain(&words) {
            assert!(!text.contains(mark.as_str()), "{name} has {mark}");
        }
    }
}

#[test]
fn no_path_of_a_machine_stands_in_a_file() {
    let homes = regex::Regex::new(r"(?m)(^|[^\w.*-])/(work|farm|root|Users)/").expect("a pattern");
    for name in tracked().into_iter().filter(|name| name != "Cargo.lock" && name != "conformance/tests/tidy/files.rs") {
        let Ok(text) = std::fs::read_to_string(root().join(&name)) else { continue };
        let found = homes.find(&text).map(|found| found.as_str());
        assert_eq!(found, None, "{name}");
    }
}
