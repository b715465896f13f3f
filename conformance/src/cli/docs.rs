//! `docs`: is the documentation true.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::Value;

use super::Problem;
use super::subject::SubjectArguments;
use crate::console::Printer;
use crate::docs::place::Place;
use crate::docs::start_line::{StartLine, first_result, of_bundle, of_package};
use crate::docs::{Tally, pages, run};
use crate::exit::Exit;

#[derive(Debug, Args)]
pub struct Docs {
    /// Only pages whose path has this text in it.
    page: Option<String>,
    /// The workspace that the pages belong to.
    #[arg(long, value_name = "DIR", default_value = ".")]
    root: PathBuf,
    #[command(flatten)]
    subject: SubjectArguments,
}

impl Docs {
    pub fn run(self, printer: Printer) -> Result<Exit, Problem> {
        let subject = self.subject.find(printer)?;
        let set_up = |said: String| Problem::new(Exit::SetUp, said, "is --root the workspace?");
        let built = subject.agent.first().and_then(|program| Path::new(program).parent()).unwrap_or(Path::new("."));
        let place = Place::new(&self.root, built).map_err(|error| set_up(error.to_string()))?;
        let wanted = |name: &str| self.page.as_ref().is_none_or(|part| name.contains(part));
        let pages = pages(&place.root).map_err(|error| set_up(format!("the pages can't be listed: {error}")))?;
        let mut ends: Vec<(String, Result<Tally, String>)> = Vec::new();
        for page in pages.iter().filter(|page| wanted(page)) {
            let text =
                std::fs::read_to_string(place.root.join(page)).map_err(|error| set_up(format!("{page}: {error}")))?;
            ends.push((page.clone(), run(page, &text, &place).map_err(|untrue| untrue.to_string())));
        }
        for (name, line) in start_lines(&place).map_err(set_up)?.into_iter().filter(|(name, _)| wanted(name)) {
            let started = line.and_then(|line| first_result(&line, &place));
            let tally = Tally { started: 1, ..Tally::default() };
            ends.push((name.clone(), started.map(|()| tally).map_err(|problem| format!("{name}: {problem}"))));
        }
        Ok(told(&ends, printer))
    }
}

/// A start line by its place, or why there is none.
type NamedStartLine = (String, Result<StartLine, String>);

/// What a host would start: the MCP bundle, with the choices that a user has to make and without, and the registry's entry.
fn start_lines(place: &Place) -> Result<Vec<NamedStartLine>, String> {
    let json = |name: &str| -> Result<Value, String> {
        let text = std::fs::read_to_string(place.root.join(name)).map_err(|error| format!("{name}: {error}"))?;
        serde_json::from_str(&text).map_err(|error| format!("{name}: {error}"))
    };
    let (manifest, entry) = (json("mcpb/manifest.json")?, json("server.json")?);
    let folder = place.unpacked().map_err(|error| error.to_string())?.display().to_string();
    let bundles = place.examples().display().to_string();
    let few = BTreeMap::from([("bundles_dir", bundles.clone()), ("allow_run", "false".to_owned())]);
    let many = BTreeMap::from([
        ("bundles_dir", bundles.clone()),
        ("allow_run", "true".to_owned()),
        ("headed", "true".to_owned()),
    ]);
    let mut lines = vec![
        ("mcpb/manifest.json, nothing chosen but the folder".to_owned(), of_bundle(&manifest, &few, &folder)),
        ("mcpb/manifest.json, runs allowed".to_owned(), of_bundle(&manifest, &many, &folder)),
    ];
    for package in entry.get("packages").and_then(Value::as_array).into_iter().flatten() {
        let answers = BTreeMap::from([("--bundles", bundles.clone())]);
        lines.push(("server.json".to_owned(), of_package(package, "openadapt-agent", &answers)));
    }
    Ok(lines)
}

fn told(ends: &[(String, Result<Tally, String>)], printer: Printer) -> Exit {
    let mut sum = Tally::default();
    let (mut passed, mut failed, mut plain) = (0, 0, 0);
    for (name, end) in ends {
        match end {
            Ok(tally) if *tally == Tally::default() => plain += 1,
            Ok(tally) => {
                passed += 1;
                sum.commands += tally.commands;
                sum.parsed += tally.parsed;
                sum.started += tally.started;
                printer.data(&format!(
                    "ok    {name}: {} commands run, {} values parsed, {} servers started, {} blocks for the eye",
                    tally.commands, tally.parsed, tally.started, tally.for_the_eye
                ));
            }
            Err(problem) => {
                failed += 1;
                printer.data(&format!("FAIL  {problem}"));
            }
        }
    }
    printer.data(&format!(
        "{passed} passed, {failed} failed, {plain} pages without a block: {} commands run, {} values parsed, {} servers started",
        sum.commands,
        sum.parsed,
        sum.started
    ));
    match (passed, failed) {
        (0, 0) => Exit::NothingSelected,
        (_, 0) => Exit::Conformant,
        _ => Exit::Failed,
    }
}
