//! What a long history costs: a store of a thousand actions, and one of many more, made from one that the agent itself wrote.

use std::io;
use std::path::Path;

use rusqlite::Connection;
use serde_json::{Value, json};

use super::child::Child;
use super::figures::{Table, measured};
use super::world::World;
use super::{done, greeting};
use crate::run::subject::Subject;

const FEW: u64 = 1_000;
const STARTS: usize = 10;
const CALLS: usize = 200;
const RUNS: usize = 20;

/// The same calls beside a short history and beside a long one. Each figure of the long one stands beside that of the short one.
pub fn measure(subject: &Subject, actions: u64, say: impl Fn(&str)) -> io::Result<Table> {
    let world = World::new(subject)?;
    let mut table = Table::default();
    let mut agent = Child::start(&world.serve(), &world)?;
    agent.greet()?;
    let first = agent.call("run_workflow", world.run(0))?;
    done(&first)?;
    drop(agent);
    let run_id = first.get("run_id").and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut before = None;
    for (number, history) in [FEW, actions].into_iter().enumerate() {
        say(&format!("a history of {history} actions"));
        grow(&world.store(), &run_id, history)?;
        let start = measured(STARTS, |_| greeting(Child::start(&world.serve(), &world)?))?;
        let mut agent = Child::start(&world.serve(), &world)?;
        agent.greet()?;
        let list = measured(CALLS, |_| agent.ask("tools/list", json!({})).map(drop))?;
        let look_up = measured(CALLS, |_| agent.call("get_run", json!({"run_id": run_id})).map(drop))?;
        let refusal = measured(RUNS, |_| agent.call("run_workflow", refused()).map(drop))?;
        let run = measured(RUNS, |turn| done(&agent.call("run_workflow", world.run(1 + number * RUNS + turn))?))?;
        let figures = [
            ("start to an answered initialize", start),
            ("tools/list", list),
            ("get_run", look_up),
            ("run_workflow, refused", refusal),
            ("run_workflow on an instant Flow", run),
        ];
        for (at, (what, figure)) in figures.iter().enumerate() {
            let what = format!("{what}, {history} actions");
            match before.as_ref().map(|before: &[(&str, super::Figure); 5]| before[at].1) {
                None => table.baseline(&what, figure),
                Some(short) => table.row(&what, figure, &short),
            }
        }
        before.get_or_insert(figures);
    }
    Ok(table)
}

fn refused() -> Value {
    json!({"workflow": "triage", "request_id": "bench-refused", "inputs": {}})
}

/// Copies one whole action, with its request, receipt, events and executor request, until there are so many.
fn grow(store: &Path, run_id: &str, actions: u64) -> io::Result<()> {
    copies(store, run_id, actions).map_err(io::Error::other)
}

fn copies(store: &Path, run_id: &str, actions: u64) -> rusqlite::Result<()> {
    let connection = Connection::open(store)?;
    // Nobody else has it open, and what is lost here is made again.
    connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE; PRAGMA synchronous = OFF; PRAGMA cache_size = -200000;")?;
    let present: i64 = connection.query_row("SELECT count(*) FROM actions", [], |row| row.get(0))?;
    let mut triggers = connection.prepare("SELECT sql FROM sqlite_master WHERE type = 'trigger'")?;
    let triggers: Vec<String> = triggers.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let mut names = connection.prepare("SELECT name FROM sqlite_master WHERE type = 'trigger'")?;
    let names: Vec<String> = names.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    connection.execute_batch("BEGIN")?;
    for name in &names {
        connection.execute_batch(&format!("DROP TRIGGER {name}"))?;
    }
    let action: String =
        connection.query_row("SELECT action_id FROM actions WHERE execution_id = ?1", [run_id], |row| row.get(0))?;
    let numbers =
        format!("WITH RECURSIVE n (i) AS (SELECT {present} UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {actions})");
    let tables: [(&str, &[(&str, &str)]); 5] = [
        (
            "actions",
            &[
                ("action_id", "printf('act-%024x', i)"),
                ("execution_id", "printf('run-%024x', i)"),
                ("request_hash", "printf('%064x', i)"),
                ("request_id", "printf('bench-copy-%d', i)"),
                ("args_digest", "printf('%064x', i)"),
                ("ledger_key", "printf('%064x:1', i)"),
            ],
        ),
        ("requests", &[("request_hash", "printf('%064x', i)")]),
        (
            "receipts",
            &[
                ("action_id", "printf('act-%024x', i)"),
                ("execution_id", "printf('run-%024x', i)"),
                ("args_digest", "printf('%064x', i)"),
            ],
        ),
        ("events", &[("action_id", "printf('act-%024x', i)")]),
        ("executor_requests", &[("action_id", "printf('act-%024x', i)"), ("request_id", "printf('exec-%024x', i)")]),
    ];
    for (table, replaced) in tables {
        let columns = columns(&connection, table)?;
        let values = columns.iter().map(|column| {
            let other = replaced.iter().find(|(name, _)| name == column).map(|(_, value)| *value);
            other.map_or_else(|| format!("template.{column}"), str::to_owned)
        });
        let values: Vec<String> = values.collect();
        let of = if table == "requests" {
            "request_hash = (SELECT request_hash FROM actions WHERE action_id = ?1)"
        } else {
            "action_id = ?1"
        };
        let sql = format!(
            "{numbers} INSERT INTO {table} ({}) SELECT {} FROM n, (SELECT * FROM {table} WHERE {of}) AS template WHERE i < {actions}",
            columns.join(", "),
            values.join(", ")
        );
        connection.execute(&sql, [&action])?;
    }
    for trigger in &triggers {
        connection.execute_batch(trigger)?;
    }
    connection.execute_batch("COMMIT; PRAGMA journal_mode = WAL;")
}

fn columns(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare(&format!("SELECT name FROM pragma_table_info('{table}')"))?;
    let columns = statement.query_map([], |row| row.get(0))?;
    columns.collect()
}
