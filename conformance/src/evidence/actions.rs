//! The agent's store of actions, read without the agent's help: its rows as they are, and what a statement comes to.

use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SeenActions {
    #[default]
    Absent,
    Unreadable(String),
    Rows(Box<Tables>),
}

/// The rows of each table, as objects by column, in the order in which they were written.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Tables {
    pub actions: Vec<Value>,
    pub receipts: Vec<Value>,
    pub events: Vec<Value>,
    pub executor_requests: Vec<Value>,
    pub waits: Vec<Value>,
}

impl SeenActions {
    pub fn read(path: &Path) -> Self {
        match std::fs::metadata(path) {
            Err(_) => return Self::Absent,
            Ok(facts) if !facts.is_file() || facts.len() == 0 => {
                return Self::Unreadable("it isn't a store".to_owned());
            }
            Ok(_) => {}
        }
        tables(path).map_or_else(|error| Self::Unreadable(error.to_string()), |tables| Self::Rows(Box::new(tables)))
    }

    pub fn rows(&self) -> Option<&Tables> {
        if let Self::Rows(tables) = self { Some(tables) } else { None }
    }
}

/// What a statement comes to, and nothing of it stays: `{"rows": […]}`, or `{"refused": "why"}`.
pub fn ask(path: &Path, sql: &str) -> Value {
    let asked = || {
        let connection = open(path)?;
        connection.execute_batch("BEGIN IMMEDIATE")?;
        let rows = rows(&connection, sql);
        connection.execute_batch("ROLLBACK")?;
        rows
    };
    match asked() {
        Ok(rows) => json!({ "rows": rows }),
        Err(error) => json!({ "refused": error.to_string() }),
    }
}

fn open(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.busy_timeout(std::time::Duration::from_secs(10))?;
    connection.pragma_update(None, "foreign_keys", true)?;
    Ok(connection)
}

fn tables(path: &Path) -> rusqlite::Result<Tables> {
    let connection = open(path)?;
    Ok(Tables {
        actions: rows(&connection, "SELECT * FROM actions ORDER BY rowid")?,
        receipts: rows(&connection, "SELECT * FROM receipts ORDER BY action_id, revision")?,
        events: rows(&connection, "SELECT * FROM events ORDER BY action_id, seq")?,
        executor_requests: rows(&connection, "SELECT * FROM executor_requests ORDER BY started_at")?,
        waits: rows(&connection, "SELECT * FROM waits ORDER BY opened_at")?,
    })
}

fn rows(connection: &Connection, sql: &str) -> rusqlite::Result<Vec<Value>> {
    let mut statement = connection.prepare(sql)?;
    let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let rows = statement.query_map([], |row| {
        let members = columns.iter().enumerate().map(|(at, name)| Ok((name.clone(), value(row.get_ref(at)?))));
        members.collect::<rusqlite::Result<Map<_, _>>>().map(Value::Object)
    })?;
    rows.collect()
}

fn value(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(text) | ValueRef::Blob(text) => String::from_utf8_lossy(text).into_owned().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_leaves_nothing_behind_and_a_refusal_says_why() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.sqlite");
        assert_eq!(SeenActions::read(&path), SeenActions::Absent);
        Connection::open(&path)
            .unwrap()
            .execute_batch("CREATE TABLE t (n INTEGER CHECK (n < 5)); INSERT INTO t VALUES (1)")
            .unwrap();
        assert_eq!(ask(&path, "INSERT INTO t VALUES (2)"), json!({"rows": []}));
        assert_eq!(ask(&path, "SELECT n FROM t"), json!({"rows": [{"n": 1}]}));
        assert!(ask(&path, "INSERT INTO t VALUES (9)")["refused"].as_str().unwrap().contains("CHECK"));
        assert!(matches!(SeenActions::read(&path), SeenActions::Unreadable(_)));
    }
}
