//! What one body left behind on one engine: exit codes, files, and the outline of each document.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use schemas::Schema;
use serde::Serialize;
use serde_json::Value;

use super::outline::Outline;
use crate::evidence::files::SeenFile;
use crate::evidence::{Evidence, Seen};
use crate::scenario::Action;
use crate::scenario::files::FileKind;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Portrait {
    /// How each of Flow's processes ended, by what it was started for.
    pub exits: BTreeMap<String, String>,
    /// The files of run folders, by names in which what is random is left out.
    pub files: BTreeSet<String>,
    pub outlines: BTreeMap<String, Outline>,
    /// Reports that our schema refuses: where, and never what.
    pub unfit: Vec<String>,
}

const STORE: &str = "openadapt-agent";

impl Portrait {
    pub fn of(evidence: &Evidence) -> Self {
        let mut portrait = Self::default();
        for file in &evidence.files {
            let names: Vec<String> = file.path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
            let Some(at) = names.iter().position(|part| part == "runs") else { continue };
            match names.get(at + 1).map(String::as_str) {
                Some(STORE) => portrait.exit_facts(file),
                // A file of a run folder; the folder's own name is random.
                Some(_) if names.len() > at + 2 => portrait.file(file, &names[at + 2..].join("/")),
                _ => {}
            }
        }
        for (index, step) in evidence.steps.iter().enumerate() {
            portrait.step(index + 1, &step.action, &step.seen);
        }
        portrait
    }

    fn exit_facts(&mut self, file: &SeenFile) {
        if file.path.file_name() != Some("exit.json".as_ref()) {
            return;
        }
        let facts = file.json().unwrap_or_default();
        let told = format!("{} {}", facts["end"].as_str().unwrap_or("?"), facts["code"]);
        let number = self.exits.keys().filter(|name| name.starts_with("run")).count() + 1;
        self.exits.insert(format!("run {number}"), told);
    }

    fn file(&mut self, file: &SeenFile, name: &str) {
        if file.kind != Some(FileKind::File) || is_passing(name) {
            return;
        }
        let name = without_randomness(name);
        if let Some(document) = Some(&file.path).filter(|path| is_json(path)).and_then(|_| file.json()) {
            if name == "report.json"
                && let Err(problem) = Schema::FlowReport.check(&document)
            {
                self.unfit.push(place_of(&problem.to_string()));
            }
            self.outlines.insert(name.clone(), Outline::of(&document));
        }
        self.files.insert(name);
    }

    fn step(&mut self, number: usize, action: &Action, seen: &Seen) {
        let Seen::Program { exit, stdout, .. } = seen else { return };
        match action {
            Action::Flow(verb) => {
                let what = verb.flow.first().cloned().unwrap_or_default();
                self.exits.insert(format!("action {number}: {what}"), exit.to_string());
            }
            Action::Ask(ask) => {
                let op = ask.ask.get("op").and_then(Value::as_str).unwrap_or_default();
                self.exits.insert(format!("action {number}: {op}"), exit.to_string());
                let answer = serde_json::from_str(stdout.trim()).unwrap_or_default();
                self.outlines.insert(format!("answer of {op}, action {number}"), Outline::of(&answer));
            }
            _ => {}
        }
    }
}

fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "json") || path.ends_with(".durable_run.claim")
}

/// What the stand-in keeps in the folder where the real program has a database elsewhere.
fn is_passing(name: &str) -> bool {
    name.starts_with(".flow-fake-")
}

fn without_randomness(name: &str) -> String {
    let hex = |part: &str| part.len() >= 32 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let parts = name.split('/').map(|part| match part.rsplit_once('.') {
        Some((stem, extension)) if hex(stem) => format!("HEX.{extension}"),
        _ if hex(part) => "HEX".to_owned(),
        _ => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("/")
}

/// The pointer of a schema's complaint, without the value that it quotes.
fn place_of(problem: &str) -> String {
    let pointer = problem.split_whitespace().find(|word| word.starts_with('/')).unwrap_or("/");
    pointer.trim_end_matches([':', ',']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_what_every_run_has() {
        assert_eq!(
            without_randomness(&format!("approval_history/{}.json", "a".repeat(64))),
            "approval_history/HEX.json"
        );
        assert_eq!(without_randomness("checkpoints/step_0000_step_000.json"), "checkpoints/step_0000_step_000.json");
    }

    #[test]
    fn a_run_folder_is_told_by_its_shape_and_its_exit() {
        let mut evidence = crate::check::sample::saved();
        let file = |path: &str, text: &str| SeenFile {
            path: path.into(),
            kind: Some(FileKind::File),
            mode: 0o600,
            bytes: text.len() as u64,
            text: text.into(),
            planted: false,
        };
        evidence.files = vec![
            file("/w/runs/run-1/report.json", r#"{"success": "secret"}"#),
            file("/w/runs/openadapt-agent/dispatch/run-1/exit.json", r#"{"end": "exited", "code": 2}"#),
        ];
        let portrait = Portrait::of(&evidence);
        assert_eq!(portrait.exits["run 1"], "exited 2");
        assert!(portrait.files.contains("report.json"));
        assert_eq!(portrait.unfit.len(), 1);
        assert!(!serde_json::to_string(&portrait).unwrap().contains("secret"));
    }
}
