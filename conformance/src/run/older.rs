//! The record set of an older, Python, agent: record, 40-hex index entry, key, ledger claim and row.

use std::path::Path;
use std::{fs, io};

use rusqlite::{Connection, params};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::bundle::merge_patch;
use super::variables::{Folders, hex};
use super::world::private_folders;
use crate::scenario::model::{OlderAgent, OlderAttempt, OlderPart, OlderState};

const NAMESPACE: &str = "openadapt-agent/run-workflow/v1";
const LEDGER_SCHEMA: &str = "openadapt.idempotency-ledger/v3";
const BEGAN: &str = "2026-01-01T08:00:00.000001+00:00";

pub fn write(folders: &Folders, older: &OlderAgent) -> io::Result<()> {
    let store = folders.store();
    for folder in [&store, &store.join("runs"), &store.join("requests")] {
        private_folders(folder)?;
    }
    let key_path = store.join("fingerprint.key");
    let key = match fs::read(&key_path) {
        Ok(key) => key,
        Err(_) => {
            let key: Vec<u8> = Sha256::digest(older.request_id.as_bytes()).to_vec();
            if !older.skip.contains(&OlderPart::Key) {
                private_file(&key_path, &key)?;
            }
            key
        }
    };
    let fingerprint = fingerprint(&key, &older.workflow, &older.inputs);
    let short = &hex(&Sha256::digest(older.request_id.as_bytes()))[..40];
    for (index, attempt) in older.attempts.iter().enumerate() {
        let ledger_key = format!("{short}:{}", index + 1);
        if !older.skip.contains(&OlderPart::Record) {
            let record = record(older, attempt, index + 1, &ledger_key, &fingerprint);
            private_json(&store.join("runs").join(format!("{}.json", attempt.run)), &record)?;
        }
        reserve(&store, older, attempt, &ledger_key)?;
    }
    if !older.skip.contains(&OlderPart::Index) {
        let attempts: Vec<&str> = older.attempts.iter().map(|attempt| attempt.run.as_str()).collect();
        let entry = json!({
            "attempts": attempts, "fingerprint": fingerprint, "schema": "openadapt-agent.request/v1",
            "workflow": older.workflow,
        });
        private_json(&store.join("requests").join(format!("{short}.json")), &entry)?;
    }
    Ok(())
}

/// HMAC-SHA256 over Python's `json.dumps({...}, sort_keys=True)`: blanks after separators, ASCII only.
pub fn fingerprint(key: &[u8], workflow: &str, inputs: &Map<String, Value>) -> String {
    let text = python_json(&json!({"inputs": inputs, "workflow": workflow}));
    hex(&hmac_sha256(key, text.as_bytes()))
}

fn record(older: &OlderAgent, attempt: &OlderAttempt, number: usize, ledger_key: &str, fingerprint: &str) -> Value {
    let host = attempt.host.clone().unwrap_or_else(host_name);
    let mut record = json!({
        "attempt": number, "fingerprint": fingerprint, "host": host, "ledger_key": ledger_key, "mode": "production",
        "pid": attempt.pid.unwrap_or(0x3f_ffff), "request_id": older.request_id, "run_id": attempt.run,
        "schema": "openadapt-agent.run/v1", "started_at": BEGAN,
        "state": match attempt.state { OlderState::Finished => "finished", OlderState::Running => "running" },
        "workflow": older.workflow,
    });
    if attempt.state == OlderState::Finished {
        let mut result = result_of(attempt.reason.as_deref().unwrap_or("result_unreadable"));
        merge_patch(
            &mut result,
            &json!({
                "run_id": attempt.run, "request_id": older.request_id, "workflow": older.workflow, "mode": "production",
            }),
        );
        merge_patch(&mut result, &Value::Object(attempt.result.clone()));
        record["finished_at"] = BEGAN.into();
        record["result"] = result;
    }
    record
}

/// The row of the contract's table for a reason. The sentences are the judge's own: they must never be read back.
fn result_of(reason: &str) -> Value {
    let (outcome, retry, changed, next) = match reason {
        "saved_and_checked" => ("done", false, "yes", "none"),
        "unexpected_screen"
        | "record_not_confirmed"
        | "person_needed"
        | "record_check_not_set_up"
        | "stopped_for_review"
        | "approval_needed" => ("needs_review", false, "no", "wait_for_person"),
        "save_not_confirmed" | "not_checked" | "change_reversed" | "timed_out" | "result_unreadable"
        | "interrupted" => ("not_sure_if_saved", false, "unknown", "check_record"),
        "stopped_by_person" => ("did_not_run", false, "no", "none"),
        "request_id_conflict" => ("did_not_run", false, "unknown", "fix_inputs"),
        "retry_limit" => ("did_not_run", false, "no", "fix_setup"),
        "canceled" | "platform_error" | "app_unreachable" => ("did_not_run", true, "no", "retry"),
        "invalid_input" | "unknown_workflow" => ("did_not_run", true, "no", "fix_inputs"),
        _ => ("did_not_run", true, "no", "fix_setup"),
    };
    let mut result = json!({
        "contract_version": "openadapt.run-result/v1", "label": "An older label", "mode": "production",
        "next_action": "An older next action.", "next_step": next, "outcome": outcome,
        "proof": if outcome == "done" { "local" } else { "none" }, "reason": reason, "record_changed": changed,
        "safe_to_retry": retry, "what_happened": "An older sentence.",
    });
    if reason == "not_ready_to_run" {
        result["failed_checks"] = json!(["other"]);
    }
    result
}

fn reserve(store: &Path, older: &OlderAgent, attempt: &OlderAttempt, key: &str) -> io::Result<()> {
    let ledger = store.join("ledger.sqlite");
    let owner = ledger.display().to_string();
    if !older.skip.contains(&OlderPart::Claim) {
        let claims = store.join(".ledger.sqlite.claims");
        private_folders(&claims)?;
        let name = hex(&Sha256::digest([NAMESPACE.as_bytes(), b"\0", key.as_bytes()].concat()));
        let claim = json!({
            "namespace": NAMESPACE, "owner_path": owner, "reservation_key_sha256": hex(&Sha256::digest(key.as_bytes())),
            "reserved_at": BEGAN, "run_id": attempt.run, "schema_version": LEDGER_SCHEMA,
        });
        private_file(&claims.join(format!("{name}.claim")), format!("{claim}\n").as_bytes())?;
        private_file(&store.join("ledger.sqlite.migration.lock"), b"")?;
    }
    if older.skip.contains(&OlderPart::Row) {
        return Ok(());
    }
    row(&ledger, &owner, key, attempt).map_err(io::Error::other)?;
    fs::set_permissions(&ledger, std::os::unix::fs::PermissionsExt::from_mode(0o600))
}

fn row(ledger: &Path, owner: &str, key: &str, attempt: &OlderAttempt) -> rusqlite::Result<()> {
    let connection = Connection::open(ledger)?;
    connection.execute_batch(
        "CREATE TABLE IF NOT EXISTS ledger_metadata(singleton INTEGER PRIMARY KEY CHECK(singleton = 1),
           schema_version TEXT NOT NULL, namespace TEXT NOT NULL, owner_path TEXT NOT NULL);
         CREATE TABLE IF NOT EXISTS reservations(namespace TEXT NOT NULL, reservation_key TEXT NOT NULL, run_id TEXT NOT NULL,
           reserved_at TEXT NOT NULL, outcome TEXT, PRIMARY KEY(namespace, reservation_key));",
    )?;
    connection.execute(
        "INSERT OR IGNORE INTO ledger_metadata VALUES (1, ?1, ?2, ?3)",
        params![LEDGER_SCHEMA, NAMESPACE, owner],
    )?;
    connection.execute(
        "INSERT INTO reservations VALUES (?1, ?2, ?3, ?4, ?5)",
        params![NAMESPACE, key, attempt.run, BEGAN, attempt.outcome],
    )?;
    Ok(())
}

fn private_json(path: &Path, value: &Value) -> io::Result<()> {
    private_file(path, value.to_string().as_bytes())
}

fn private_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    fs::write(path, bytes)?;
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600))
}

fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

fn python_json(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(python_json).collect::<Vec<_>>().join(", ")),
        Value::Object(table) => {
            let mut keys: Vec<&String> = table.keys().collect();
            keys.sort();
            let pairs = keys.into_iter().map(|key| format!("{}: {}", python_text(key), python_json(&table[key])));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
        }
        Value::String(text) => python_text(text),
        other => other.to_string(),
    }
}

fn python_text(text: &str) -> String {
    let mut quoted = String::new();
    for character in Value::from(text).to_string().chars() {
        if character.is_ascii() {
            quoted.push(character);
        } else {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                quoted.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    quoted
}

fn hmac_sha256(key: &[u8], message: &[u8]) -> Vec<u8> {
    let mut block = [0_u8; 64];
    if key.len() > 64 {
        block[..32].copy_from_slice(&Sha256::digest(key));
    } else {
        block[..key.len()].copy_from_slice(key);
    }
    let keyed = |pad: u8| block.map(|byte| byte ^ pad);
    let inner = Sha256::digest([&keyed(0x36)[..], message].concat());
    Sha256::digest([&keyed(0x5c)[..], &inner[..]].concat()).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hmac_agrees_with_the_rfc_4231_vectors() {
        let two = hmac_sha256(b"Jefe", b"what do ya want for nothing?");
        assert_eq!(hex(&two), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
        let six = hmac_sha256(&[0xaa; 131], b"Test Using Larger Than Block-Size Key - Hash Key First");
        assert_eq!(hex(&six), "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
    }

    #[test]
    fn json_is_written_as_python_writes_it() {
        let written = python_json(&json!({"b": [1, true, null], "a": "é\"\u{1F600}"}));
        assert_eq!(written, r#"{"a": "\u00e9\"\ud83d\ude00", "b": [1, true, null]}"#);
    }

    #[test]
    fn a_claims_name_agrees_with_the_ledgers_test_vector() {
        let name = hex(&Sha256::digest([NAMESPACE.as_bytes(), b"\0", b"abcd:1"].concat()));
        assert_eq!(name, "3a71f30a68e94f97e9d3e4640042d35fddedebd23af9d04673dcd8912f6e05e9");
    }
}
