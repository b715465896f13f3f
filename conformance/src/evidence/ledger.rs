//! The rows of Flow's idempotency ledger, read without the agent's help.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SeenLedger {
    Absent,
    Unreadable(String),
    Rows(Vec<LedgerRow>),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerRow {
    pub namespace: String,
    pub key: String,
    pub run_id: String,
    pub outcome: Option<String>,
}

impl SeenLedger {
    pub fn read(path: &Path) -> Self {
        // A pipe would never open.
        match std::fs::metadata(path) {
            Err(_) => return Self::Absent,
            Ok(facts) if !facts.is_file() => return Self::Unreadable("it isn't a file".to_owned()),
            Ok(_) => {}
        }
        rows(path).map_or_else(|error| Self::Unreadable(error.to_string()), Self::Rows)
    }
}

impl LedgerRow {
    pub fn as_json(&self) -> Value {
        json!({"namespace": self.namespace, "key": self.key, "run_id": self.run_id, "outcome": self.outcome})
    }
}

fn rows(path: &Path) -> rusqlite::Result<Vec<LedgerRow>> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut statement = connection.prepare(
        "SELECT namespace, reservation_key, run_id, outcome FROM reservations ORDER BY reserved_at, reservation_key",
    )?;
    let rows = statement.query_map([], |row| {
        Ok(LedgerRow { namespace: row.get(0)?, key: row.get(1)?, run_id: row.get(2)?, outcome: row.get(3)? })
    })?;
    rows.collect()
}
