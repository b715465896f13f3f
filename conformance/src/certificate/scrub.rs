//! Evidence that others may read: no input value, no place of this machine, no text from a screen, and the same verdict.

use std::collections::BTreeMap;
use std::path::Path;

use aho_corasick::{AhoCorasick, MatchKind};
use serde_json::{Map, Value};

use super::places::Places;
use crate::check::judge;
use crate::check::verdict::Judgement;
use crate::evidence::Evidence;
use crate::evidence::files::SeenFile;
use crate::leak::Oracle;
use crate::leak::forms::beside;
use crate::leak::marks::{KEY_BYTES, PATH};
use crate::leak::oracle::Looking;
use crate::scenario::Action;

/// What stands for the beginning of every value, and for that of the world's folder: as long as what it replaces.
const VALUE: &str = "Cnrymaskedvalues";
const FOLDER: &str = "Cnrymaskedfolder";
const SCREEN: &str = "‹text›";
/// Keys of Flow's own files under which texts from a screen stand.
const SCREEN_KEYS: [&str; 16] = [
    "observed",
    "expected",
    "observed_texts",
    "reason",
    "error",
    "intent",
    "completed_intents",
    "detail",
    "headline",
    "risk_explanation",
    "text",
    "texts",
    "params",
    "message",
    "title",
    "label",
];
/// A text of Flow's own that is longer, or has blanks, is nobody's closed word.
const LONGEST_WORD: usize = 140;
/// Letters in a row that are kept of a file which isn't text.
const RUN: usize = 4;

#[derive(Debug, thiserror::Error)]
pub enum ScrubFault {
    #[error("{scenario} would be judged otherwise without its values and places: {before} became {after}")]
    OtherVerdict { scenario: String, before: String, after: String },
    #[error("{scenario}: {error}")]
    Shape { scenario: String, error: serde_json::Error },
}

/// What may be stored, and whether it can be judged again is known before it is.
pub fn scrub(evidence: &Evidence, places: &Places) -> Result<Evidence, ScrubFault> {
    let scenario = evidence.scenario.to_string();
    let shape = |error| ScrubFault::Shape { scenario: scenario.clone(), error };
    let mut kept = evidence.clone();
    let named = named_files(evidence);
    let oracle = Oracle::of(&evidence.canaries);
    for file in &mut kept.files {
        let text = text_of(file, &named, &oracle);
        file.text = still_found(file, text, &oracle);
    }
    let mut places = places.clone();
    if let (Some(world), Some(mark)) = (evidence.files.first(), evidence.canaries.get(PATH))
        && world.path.to_string_lossy().contains(mark)
    {
        places.folder(&world.path, &format!("/world-{mark}"));
    }
    let masks = Masks::of(&evidence.canaries);
    let value = serde_json::to_value(&kept).map_err(shape)?;
    let masked = each_text(value, &|text| masks.apply(&places.without(text)));
    let stored: Evidence = serde_json::from_value(masked).map_err(shape)?;
    let (before, after) = (told(&judge(evidence)), told(&judge(&stored)));
    if before == after { Ok(stored) } else { Err(ScrubFault::OtherVerdict { scenario, before, after }) }
}

/// Which checks failed, and where.
fn told(judgement: &Judgement) -> String {
    let failed =
        judgement.failures.iter().map(|failure| format!("{} {:?} {}", failure.check, failure.step, failure.blame));
    format!("[{}]", failed.collect::<Vec<_>>().join(", "))
}

/// Files whose content the scenario says something about.
fn named_files(evidence: &Evidence) -> Vec<String> {
    let after = evidence.after.files.iter().map(|fact| fact.path.clone());
    let looked = evidence.steps.iter().filter_map(|step| match &step.action {
        Action::File(look) => Some(look.file.clone()),
        _ => None,
    });
    after.chain(looked).collect()
}

fn text_of(file: &SeenFile, named: &[String], oracle: &Oracle<'_>) -> String {
    let path = file.path.to_string_lossy();
    let is_named = named.iter().any(|name| *name == path);
    let in_store = path.contains("/openadapt-agent/");
    if file.planted && !is_named {
        return String::new();
    }
    if in_store && ["stdout.log", "stderr.log"].iter().any(|log| path.ends_with(log)) {
        return found_lines(&file.text, oracle);
    }
    let readable = !file.text.contains(['\0', char::REPLACEMENT_CHARACTER]);
    match (in_store || is_named, readable) {
        (true, true) => file.text.clone(),
        (true, false) => runs(&file.text),
        (false, true) => flows_own(file),
        (false, false) => String::new(),
    }
}

/// What Flow printed is for whoever operates it; what a check would find there is kept.
fn found_lines(text: &str, oracle: &Oracle<'_>) -> String {
    let found = text.lines().filter(|line| !oracle.find(line.as_bytes(), Looking::ForAll).is_empty());
    // Around a value may stand anything that was on a screen.
    let only = found.flat_map(|line| line.split_whitespace());
    let only = only.filter(|word| !oracle.find(word.as_bytes(), Looking::ForAll).is_empty());
    only.collect::<Vec<_>>().join("\n")
}

/// A file that was cut down, with whatever a check would have found in the whole of it.
fn still_found(file: &SeenFile, text: String, oracle: &Oracle<'_>) -> String {
    let found = |text: &str| oracle.find(text.as_bytes(), Looking::ForAll).len();
    // Flow's own folders may hold anything, and what was planted says nothing.
    let looked_at = !file.planted && !file.path.to_string_lossy().contains("/run-");
    if !looked_at || found(&file.text) == found(&text) {
        return text;
    }
    let words = file.text.split(|character: char| !character.is_ascii_graphic());
    let kept: Vec<&str> = words.filter(|word| found(word) > 0).collect();
    format!("{text}\n{}", kept.join("\n"))
}

/// A database or the like: the words in it.
fn runs(text: &str) -> String {
    let words = text.split(|character: char| !(character.is_ascii_graphic() || character == ' '));
    words.filter(|word| word.len() >= RUN).collect::<Vec<_>>().join("\n")
}

/// A file of Flow's run folder: shapes, closed words and digests, and no text that stood on a screen.
fn flows_own(file: &SeenFile) -> String {
    let json = Path::new(&file.path).extension().is_some_and(|extension| extension == "json");
    let value: Option<Value> = json.then(|| serde_json::from_str(&file.text).ok()).flatten();
    value.map(|value| without_screens(value, false).to_string()).unwrap_or_default()
}

fn without_screens(value: Value, hide: bool) -> Value {
    match value {
        Value::String(text) if hide || is_free(&text) => Value::from(SCREEN),
        Value::Array(items) => items.into_iter().map(|item| without_screens(item, hide)).collect(),
        Value::Object(table) => {
            let inside = table.into_iter().map(|(key, value)| {
                let hidden = hide || SCREEN_KEYS.contains(&key.as_str());
                let value = without_screens(value, hidden);
                (key, value)
            });
            Value::Object(inside.collect())
        }
        other => other,
    }
}

fn is_free(text: &str) -> bool {
    text.len() > LONGEST_WORD || text.contains(char::is_whitespace)
}

fn each_text(value: Value, change: &impl Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(change(&text)),
        Value::Array(items) => items.into_iter().map(|item| each_text(item, change)).collect(),
        Value::Object(table) => {
            let changed: Map<String, Value> =
                table.into_iter().map(|(key, value)| (change(&key), each_text(value, change))).collect();
            Value::Object(changed)
        }
        other => other,
    }
}

/// Values become other values in each of their spellings, so that whatever would have been found is found still.
struct Masks {
    matcher: AhoCorasick,
    instead: Vec<String>,
}

impl Masks {
    fn of(canaries: &BTreeMap<String, String>) -> Self {
        let mut pairs: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        for (name, value) in canaries {
            let key = value.get(..KEY_BYTES).unwrap_or(value);
            let mask = if name == PATH { FOLDER } else { VALUE };
            pairs.extend(beside(key, mask.get(..key.len()).unwrap_or(mask)));
        }
        pairs.sort();
        pairs.dedup();
        let (patterns, instead): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
        let built =
            AhoCorasick::builder().ascii_case_insensitive(true).match_kind(MatchKind::LeftmostLongest).build(patterns);
        Self {
            // Too many or too long patterns alone can fail, and these are neither.
            matcher: built.unwrap_or_else(|error| unreachable!("{error}")),
            instead: instead.into_iter().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect(),
        }
    }

    fn apply(&self, text: &str) -> String {
        self.matcher.replace_all(text, &self.instead)
    }
}

/// Whether a value that this judge handed out stands in what others will read.
pub fn leaks(bytes: &[u8], canaries: &BTreeMap<String, String>) -> bool {
    !Oracle::of(canaries).find(bytes, Looking::ForAll).is_empty()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::check::sample::{file, folder, receive, saved};
    use crate::leak::Marks;
    use crate::leak::forms::forms;

    /// The sample with values as a world hands them out, in a folder as a world has it.
    fn seen() -> (Evidence, String) {
        let mut marks = Marks::random();
        let note = marks.canary("note");
        let world = format!("/scratch/conformance-{}-x7", marks.path());
        let text = serde_json::to_string(&saved())
            .unwrap()
            .replace("CnryNote42", &note)
            .replace("\"/w/", &format!("\"{world}/"));
        let mut evidence: Evidence = serde_json::from_str(&text).unwrap();
        evidence.canaries = marks.handed_out().clone();
        evidence.files.insert(0, folder(&world));
        assert!(judge(&evidence).passed(), "{:?}", judge(&evidence).failures);
        (evidence, note)
    }

    #[test]
    fn neither_a_value_nor_the_folder_is_stored_and_the_verdict_is_the_same() {
        let (mut evidence, note) = seen();
        evidence
            .files
            .push(file("/scratch/elsewhere/run-1/report.json", &json!({"params": {"note": note}}).to_string()));
        let stored = scrub(&evidence, &Places::default()).unwrap();
        let text = serde_json::to_string(&stored).unwrap();
        assert!(!leaks(text.as_bytes(), &evidence.canaries), "{text}");
        assert!(!text.contains("/scratch/conformance-"), "{text}");
    }

    #[test]
    fn a_leak_in_any_spelling_is_a_leak_still() {
        let (evidence, note) = seen();
        for (form, bytes) in forms(&note) {
            let mut evidence = evidence.clone();
            let spelled = String::from_utf8(bytes).unwrap();
            receive(&mut evidence, &format!(r#"{{"jsonrpc":"2.0","method":"x","params":"{spelled}"}}"#));
            let found = judge(&evidence).failures.iter().any(|failure| failure.check == "no-value-leaks");
            assert!(found, "{form} wasn't found before");
            let stored = scrub(&evidence, &Places::default()).unwrap();
            let found = judge(&stored).failures.iter().any(|failure| failure.check == "no-value-leaks");
            assert!(found, "{form} isn't found any more");
            assert!(!leaks(serde_json::to_string(&stored).unwrap().as_bytes(), &evidence.canaries), "{form}");
        }
    }

    #[test]
    fn flows_own_files_keep_their_shape_and_lose_every_text_of_a_screen() {
        let (mut evidence, _) = seen();
        let report = json!({"execution_outcome": "HALTED", "results": [{"identity": {"observed": "Jane"}, "id": "step_000"}], "note": "a free text"});
        evidence.files.push(file("/scratch/run-1/report.json", &report.to_string()));
        evidence.files.push(file("/scratch/run-1/REPORT.md", "Jane Sample"));
        evidence.files.push(file("/scratch/run-1/steps/a.png", "\u{fffd}PNG"));
        let stored = scrub(&evidence, &Places::default()).unwrap();
        let text = |name: &str| stored.files.iter().find(|file| file.path.ends_with(name)).unwrap().text.clone();
        assert_eq!(
            text("report.json"),
            r#"{"execution_outcome":"HALTED","results":[{"identity":{"observed":"‹text›"},"id":"step_000"}],"note":"‹text›"}"#
        );
        assert_eq!((text("REPORT.md"), text("a.png")), (String::new(), String::new()));
    }
}
