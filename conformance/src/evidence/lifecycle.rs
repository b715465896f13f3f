//! The agent's store of actions, read without the agent's help. Source: lifecycle, 2.5; docs/lifecycle.md has the tables.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A server may hold the file for a moment.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SeenStore {
    #[default]
    Absent,
    Unreadable(String),
    Read(Actions),
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Actions {
    /// Runs that were asked for, in the order of their beginning; refusals of other requests are among them.
    pub runs: Vec<SeenAction>,
    /// Requests to an executor that were never ended.
    pub open_executions: usize,
    /// Starts of Flow that the events tell of.
    pub starts: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenAction {
    pub run_id: String,
    pub request_id: Option<String>,
    pub phase: String,
    pub attempt: Option<u32>,
    pub claimed: bool,
    /// The word of its newest receipt, and how many there are.
    pub reason: Option<String>,
    pub receipts: usize,
    /// Its keeper left exit facts.
    pub facts: bool,
    /// The reason that its record says.
    pub recorded: Option<String>,
}

impl SeenStore {
    /// The store of a runs folder of the agent's own.
    pub fn read(folder: &Path) -> Self {
        let path = folder.join("lifecycle.sqlite");
        if !path.is_file() {
            return Self::Absent;
        }
        actions(&path, folder).map_or_else(|error| Self::Unreadable(error.to_string()), Self::Read)
    }

    /// The runs of one request.
    pub fn of_request<'s>(&'s self, request_id: &str) -> impl Iterator<Item = &'s SeenAction> {
        let runs = match self {
            Self::Read(actions) => actions.runs.as_slice(),
            Self::Absent | Self::Unreadable(_) => &[],
        };
        runs.iter().filter(move |run| run.request_id.as_deref() == Some(request_id))
    }
}

fn actions(path: &Path, folder: &Path) -> rusqlite::Result<Actions> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.busy_timeout(PATIENCE)?;
    let mut statement = connection.prepare(
        "SELECT execution_id, request_id, phase, CASE WHEN reserved_at IS NULL THEN NULL ELSE attempt END, claimed_at IS NOT NULL,
                (SELECT reason FROM receipts WHERE receipts.action_id = actions.action_id ORDER BY revision DESC LIMIT 1),
                (SELECT count(*) FROM receipts WHERE receipts.action_id = actions.action_id)
         FROM actions WHERE tool IN ('run_workflow', 'run_older') ORDER BY started_at, rowid",
    )?;
    let rows = statement.query_map([], |row| {
        let run_id: String = row.get(0)?;
        Ok(SeenAction {
            facts: folder.join("dispatch").join(&run_id).join("exit.json").is_file(),
            recorded: recorded(&folder.join("runs").join(format!("{run_id}.json"))),
            run_id,
            request_id: row.get(1)?,
            phase: row.get(2)?,
            attempt: row.get(3)?,
            claimed: row.get(4)?,
            reason: row.get(5)?,
            receipts: row.get::<_, u32>(6)? as usize,
        })
    })?;
    let count = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, u32>(0)).map(|count| count as usize);
    Ok(Actions {
        runs: rows.collect::<rusqlite::Result<_>>()?,
        open_executions: count("SELECT count(*) FROM executor_requests WHERE status IS NULL")?,
        starts: count("SELECT count(*) FROM executor_requests WHERE executor = 'flow'")?,
    })
}

fn recorded(path: &Path) -> Option<String> {
    let record: Value = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
    record.pointer("/result/reason").and_then(Value::as_str).map(str::to_owned)
}
