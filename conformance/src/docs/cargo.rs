//! Cargo on a page: nothing is built a second time, and no page makes the judge judge itself.

use super::place::Place;
use crate::run::subject::split;

/// What is done about a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cargo {
    NotCargo,
    /// The program that was built already, as a line for the shell.
    Program(String),
    /// Cargo itself, with these words.
    Real(Vec<String>),
    /// It stands in `.ci/run`, which every change has to pass.
    RunByCi,
}

pub fn read(text: &str, place: &Place) -> Result<Cargo, String> {
    let Some(rest) = text.strip_prefix("cargo ") else { return Ok(Cargo::NotCargo) };
    let rest = rest.split(" #").next().unwrap_or_default().trim();
    let words = split(rest).ok_or("isn't a command")?;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if stands_in_ci(&words, place)? {
        return Ok(Cargo::RunByCi);
    }
    match words.as_slice() {
        ["run", "-p", "conformance", "--", "all" | "docs", ..] => Err("would run this very check".to_owned()),
        ["run", "-p", package, "--", ..] => {
            let arguments = rest.split_once(" -- ").map(|(_, arguments)| arguments).unwrap_or_default();
            Ok(Cargo::Program(format!("{} {arguments}", place.program(package).display())))
        }
        ["build", "--release", packages @ ..] => Ok(Cargo::Real(into_this_target("build", packages, place))),
        ["install", "--path", path] => {
            let mut words = into_this_target("install", &["--debug", "--path", path], place);
            words.extend(["--root".to_owned(), place.installed().display().to_string()]);
            Ok(Cargo::Real(words))
        }
        _ => Err("is nothing that this check knows how to run, and .ci/run hasn't it".to_owned()),
    }
}

fn into_this_target(verb: &str, words: &[&str], place: &Place) -> Vec<String> {
    let target = place.built.parent().unwrap_or(&place.built).display().to_string();
    let fixed = [verb, "--locked", "--target-dir", &target];
    fixed.iter().chain(words).map(|word| (*word).to_owned()).collect()
}

/// The same words, where CI's own are without `--locked` and without where the report goes.
fn stands_in_ci(words: &[&str], place: &Place) -> Result<bool, String> {
    let script = std::fs::read_to_string(place.root.join(".ci/run")).map_err(|error| format!(".ci/run: {error}"))?;
    Ok(script.lines().filter_map(|line| line.strip_prefix("cargo ")).any(|line| {
        let line = line.split(" --out ").next().unwrap_or_default();
        line.split_whitespace().filter(|word| *word != "--locked").eq(words.iter().copied())
    }))
}
