//! The journal that stands behind the decisions file: each record holds a whole snapshot and the digest of the record before it.
//! Flow keeps it outside the run folder; here it is a file beside the decisions.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde_json::{Value, json};

use crate::canonical::{canonical, digest, sha256_hex};
use crate::{clock, files};

const CHAIN: &str = ".flow-fake-journal.jsonl";

/// Whether every record follows from the one before it, and the last one holds these decisions.
pub fn stands_behind(run_dir: &Path, content: &Value) -> io::Result<bool> {
    let records = records(run_dir)?;
    let mut previous = genesis();
    for (at, record) in records.iter().enumerate() {
        let follows = record["sequence"] == at as u64 + 1
            && record["previous_record_digest"] == previous.as_str()
            && record["record_digest"] == record_digest(record).as_str();
        if !follows {
            return Ok(false);
        }
        previous = record_digest(record);
    }
    let nothing = content["decisions"].as_array().is_some_and(Vec::is_empty);
    Ok(records.last().map_or(nothing, |last| last["snapshot_digest"] == digest(content).as_str()))
}

pub fn append(run_dir: &Path, run_id: &Value, content: &Value) -> io::Result<()> {
    let records = records(run_dir)?;
    let path_key = sha256_hex(run_dir.canonicalize()?.to_string_lossy().as_ref());
    let previous = records.last().map_or_else(genesis, record_digest);
    let mut record = json!({
        "path_key": path_key,
        "sequence": records.len() + 1,
        "run_id": run_id,
        "previous_record_digest": previous,
        "snapshot_digest": digest(content),
        "snapshot_json": canonical(content),
        "created_at": clock::iso(clock::now()),
    });
    record["record_digest"] = record_digest(&record).into();
    let mut file = OpenOptions::new().append(true).create(true).mode(files::PRIVATE).open(run_dir.join(CHAIN))?;
    file.write_all(format!("{record}\n").as_bytes())
}

fn records(run_dir: &Path) -> io::Result<Vec<Value>> {
    match std::fs::read_to_string(run_dir.join(CHAIN)) {
        Ok(text) => Ok(text.lines().map(|line| serde_json::from_str(line).unwrap_or_default()).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn record_digest(record: &Value) -> String {
    let mut bound = record.clone();
    if let Some(map) = bound.as_object_mut() {
        map.shift_remove("record_digest");
    }
    digest(&bound)
}

fn genesis() -> String {
    format!("sha256:{}", sha256_hex(""))
}
