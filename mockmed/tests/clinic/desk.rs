//! A running server with a journal, and what the two of them say.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mockmed::{Options, Running};
use schemas::Schema;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::wire::{self, Response};

/// How late `fault=timeout` answers here.
pub const LATE_BY: Duration = Duration::from_millis(40);

pub struct Desk {
    folder: TempDir,
    running: Option<Running>,
    address: SocketAddr,
}

impl Desk {
    pub fn open() -> Self {
        Self::open_with(|_| {})
    }

    pub fn open_with(change: impl FnOnce(&mut Options)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut options =
            Options { journal: Some(folder.path().join("journal.jsonl")), late_by: LATE_BY, ..Options::default() };
        change(&mut options);
        let running = mockmed::start(&options).unwrap();
        let address = running.address();
        Self { folder, running: Some(running), address }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn journal_path(&self) -> PathBuf {
        self.folder.path().join("journal.jsonl")
    }

    pub fn save(&self, fault: &str, note: &str, key: Option<&str>) -> Response {
        self.post(&format!("/api/encounter?fault={fault}"), &encounter(note, key))
    }

    pub fn post(&self, path: &str, body: &Value) -> Response {
        wire::post(self.address, path, &body.to_string())
    }

    pub fn db(&self) -> Value {
        wire::get(self.address, "/api/db").json()
    }

    /// The notes that are stored, in the order of their ids.
    pub fn notes(&self) -> Vec<String> {
        let db = self.db();
        let records = db["records"].as_array().unwrap();
        records.iter().map(|record| record["note"].as_str().unwrap().to_owned()).collect()
    }

    pub fn stop(&mut self) {
        self.running.take().unwrap().stop().unwrap();
    }

    /// What the journal says of the writes, without numbers, times and the first line.
    pub fn told(&self) -> Vec<Value> {
        self.journal().into_iter().skip(1).filter(|line| line["event"] == "told").collect()
    }

    pub fn journal(&self) -> Vec<Value> {
        read_journal(&self.journal_path())
    }
}

/// The lines of a journal, each held against the schema, with numbers that rise by one.
pub fn read_journal(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'));
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (index, line) in lines.iter().enumerate() {
        assert_eq!(line["seq"], index as u64 + 1);
        Schema::MockmedJournalLine.check(line).unwrap_or_else(|violations| panic!("{line}: {violations}"));
    }
    lines
}

pub fn encounter(note: &str, key: Option<&str>) -> Value {
    let mut body = json!({ "patient_id": "p1", "type": "Triage", "note": note });
    if let Some(key) = key {
        body["key"] = json!(key);
    }
    body
}

/// What the store holds, from the journal's lines alone.
pub fn replayed(lines: &[Value]) -> Value {
    let mut state = json!({ "records": [], "rejected_writes": 0 });
    for line in lines {
        let records = state["records"].as_array_mut().unwrap();
        match line["event"].as_str().unwrap() {
            "started" | "reset" => {
                state = json!({ "records": line["records"], "rejected_writes": line["rejected_writes"] });
            }
            "stored" => {
                records.retain(|record| !line["removed"].as_array().unwrap().contains(&record["id"]));
                if line["effect"] == "inserted" {
                    records.push(line["record"].clone());
                }
                state["rejected_writes"] = line["rejected_writes"].clone();
            }
            "deleted" => records.retain(|record| record["id"] != line["id"]),
            _ => {}
        }
    }
    state
}
