//! Documentation that is executed: every fenced block of every page is run, or parsed, or the page fails.
//!
//! | fence | what is done |
//! |---|---|
//! | `console` | each line after `$ ` is run in an empty home; the lines below it are what it has to print, on either stream |
//! | `console serves` | the same, and the last command is ended once it has printed what it has to |
//! | `json`, `jsonl`, `toml` | parsed; a client's `mcpServers` are started, and asked for a first result |
//! | `text`, `rust`, `markdown` | for the eye |
//!
//! A page is for people, so four things are read differently: `/path/to/…` is a placeholder, a port is taken free, cargo builds
//! without `--release`, and any number in an expected line stands for any number.

pub mod cargo;
pub mod client;
pub mod console;
pub mod expected;
pub mod fence;
pub mod place;
pub mod start_line;

use std::path::{Path, PathBuf};

use fence::Fence;
use place::Place;

/// What a page's blocks came to.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Tally {
    pub commands: usize,
    pub parsed: usize,
    pub started: usize,
    pub for_the_eye: usize,
}

/// A block that isn't true.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{page}:{line}: {problem}")]
pub struct Untrue {
    pub page: String,
    pub line: usize,
    pub problem: String,
}

/// The pages of a workspace, by their path from its root.
pub fn pages(root: &Path) -> std::io::Result<Vec<String>> {
    let mut pages: Vec<String> =
        ["README.md", "CONTRIBUTING.md", "SECURITY.md", "scenarios/README.md"].map(str::to_owned).to_vec();
    let mut open = vec![PathBuf::from("docs")];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(root.join(&folder))? {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path.display().to_string());
            }
        }
    }
    pages.sort();
    Ok(pages)
}

/// Runs every block of one page, in order, and stops at the first that isn't true.
pub fn run(page: &str, text: &str, place: &Place) -> Result<Tally, Untrue> {
    let at = |line: usize, problem: String| Untrue { page: page.to_owned(), line, problem };
    let fences = fence::all(text).map_err(|line| at(line, "this block never ends".to_owned()))?;
    let mut tally = Tally::default();
    let mut shell = console::Shell::new(place).map_err(|fault| at(1, format!("no folder to run it in: {fault}")))?;
    for fence in &fences {
        block(fence, place, &mut shell, &mut tally).map_err(|(line, problem)| at(fence.line + line, problem))?;
    }
    Ok(tally)
}

fn block(
    fence: &Fence,
    place: &Place,
    shell: &mut console::Shell<'_>,
    tally: &mut Tally,
) -> Result<(), (usize, String)> {
    let whole = |problem: String| (0, problem);
    match fence.language.as_str() {
        "console" => tally.commands += shell.run(&fence.text, fence.attributes.iter().any(|word| word == "serves"))?,
        "json" => {
            for value in values(&fence.text).map_err(whole)? {
                tally.parsed += 1;
                tally.started += start_line::run_all(&value, place).map_err(whole)?;
            }
        }
        "jsonl" => tally.parsed += values(&fence.text).map_err(whole)?.len(),
        "toml" => {
            fence.text.parse::<toml::Table>().map_err(|error| whole(format!("it isn't TOML: {error}")))?;
            tally.parsed += 1;
        }
        "text" | "rust" | "markdown" => tally.for_the_eye += 1,
        "" => return Err(whole("the block doesn't say what it is; text is for the eye, console is run".to_owned())),
        other => return Err(whole(format!("nobody runs a block of {other:?}"))),
    }
    Ok(())
}

/// One value, or one on each line.
fn values(text: &str) -> Result<Vec<serde_json::Value>, String> {
    let values: Result<Vec<_>, _> = serde_json::Deserializer::from_str(text).into_iter().collect();
    match values {
        Ok(values) if values.is_empty() => Err("there is no JSON in it".to_owned()),
        Ok(values) => Ok(values),
        Err(error) => Err(format!("it isn't JSON: {error}")),
    }
}

#[cfg(test)]
mod tests;
