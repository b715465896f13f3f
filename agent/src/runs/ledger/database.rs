//! The SQLite half of Flow's ledger: a projection of the claims that also holds each run's outcome. One connection for each
//! operation, because that is how every other user of the file works.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension, TransactionBehavior, params};

use super::claim::{NAMESPACE, SCHEMA};
use super::fault::LedgerFault;
use crate::contract::ids::RunId;
use crate::runs::request_hash::LedgerKey;

/// One open connection whose file was found to be this folder's ledger.
pub struct Database {
    connection: Connection,
}

/// A reservation as the table holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub run_id: String,
    pub reserved_at: String,
    pub outcome: Option<String>,
}

/// What inserting a reservation met.
#[derive(Debug, PartialEq, Eq)]
pub enum Insertion {
    Inserted,
    /// A row was there already, for this run.
    Owned(String),
}

const BUSY: Duration = Duration::from_millis(10_000);

const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS ledger_metadata (
        singleton INTEGER PRIMARY KEY CHECK (singleton = 1),
        schema_version TEXT NOT NULL,
        namespace TEXT NOT NULL,
        owner_path TEXT NOT NULL
    );
    CREATE TABLE IF NOT EXISTS reservations (
        namespace TEXT NOT NULL,
        reservation_key TEXT NOT NULL,
        run_id TEXT NOT NULL,
        reserved_at TEXT NOT NULL,
        outcome TEXT,
        PRIMARY KEY (namespace, reservation_key)
    );";

impl Database {
    /// Makes the tables and the one metadata row where they are missing, all in one transaction. For the holder of the
    /// construction lock only.
    pub fn initialise(path: &Path, owner_path: &str) -> rusqlite::Result<Result<(), LedgerFault>> {
        let mut connection = connect(path)?;
        connection.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))?;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let foreign: u32 = transaction.query_row(
            "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name NOT IN ('ledger_metadata', 'reservations')",
            [],
            |row| row.get(0),
        )?;
        if foreign > 0 {
            return Ok(Err(LedgerFault::OwnerOrSchemaMismatch));
        }
        let known: u32 =
            transaction.query_row("SELECT count(*) FROM sqlite_master WHERE type = 'table'", [], |row| row.get(0))?;
        if known == 1 {
            return Ok(Err(LedgerFault::Lost));
        }
        transaction.execute_batch(TABLES)?;
        if read_metadata(&transaction)?.is_none() {
            if transaction.query_row("SELECT count(*) FROM reservations", [], |row| row.get::<_, u32>(0))? > 0 {
                return Ok(Err(LedgerFault::OwnerOrSchemaMismatch));
            }
            transaction.execute(
                "INSERT INTO ledger_metadata VALUES (1, ?1, ?2, ?3)",
                params![SCHEMA, NAMESPACE, owner_path],
            )?;
        }
        transaction.commit()?;
        Ok(Ok(()))
    }

    /// Opens the ledger and refuses a file that was copied, moved or made for something else.
    pub fn open(path: &Path, owner_path: &str) -> Result<Self, LedgerFault> {
        let connection = connect(path)?;
        let expected = (SCHEMA.to_owned(), NAMESPACE.to_owned(), owner_path.to_owned());
        match read_metadata(&connection)? {
            Some(found) if found == expected => Ok(Self { connection }),
            _ => Err(LedgerFault::OwnerOrSchemaMismatch),
        }
    }

    pub fn row(&self, key: &LedgerKey) -> Result<Option<Row>, LedgerFault> {
        Ok(read_row(&self.connection, key)?)
    }

    pub fn insert(&mut self, key: &LedgerKey, run_id: &RunId, reserved_at: &str) -> Result<Insertion, LedgerFault> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        if let Some(row) = read_row(&transaction, key)? {
            return Ok(Insertion::Owned(row.run_id));
        }
        transaction.execute(
            "INSERT INTO reservations VALUES (?1, ?2, ?3, ?4, NULL)",
            params![NAMESPACE, key.as_str(), run_id.as_str(), reserved_at],
        )?;
        transaction.commit()?;
        Ok(Insertion::Inserted)
    }

    pub fn record_outcome(&mut self, key: &LedgerKey, run_id: &RunId, outcome: &str) -> Result<(), LedgerFault> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let row = read_row(&transaction, key)?.ok_or(LedgerFault::NoReservation)?;
        if row.run_id != run_id.as_str() {
            return Err(LedgerFault::OtherOwner);
        }
        match row.outcome.as_deref() {
            Some(recorded) if recorded == outcome => Ok(()),
            Some(_) => Err(LedgerFault::OutcomeAlreadyRecorded),
            None => {
                transaction.execute(
                    "UPDATE reservations SET outcome = ?3 WHERE namespace = ?1 AND reservation_key = ?2",
                    params![NAMESPACE, key.as_str(), outcome],
                )?;
                Ok(transaction.commit()?)
            }
        }
    }
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    Ok(connection)
}

fn read_metadata(connection: &Connection) -> rusqlite::Result<Option<(String, String, String)>> {
    connection
        .query_row("SELECT schema_version, namespace, owner_path FROM ledger_metadata", [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .optional()
}

fn read_row(connection: &Connection, key: &LedgerKey) -> rusqlite::Result<Option<Row>> {
    connection
        .query_row(
            "SELECT run_id, reserved_at, outcome FROM reservations WHERE namespace = ?1 AND reservation_key = ?2",
            params![NAMESPACE, key.as_str()],
            |row| Ok(Row { run_id: row.get(0)?, reserved_at: row.get(1)?, outcome: row.get(2)? }),
        )
        .optional()
}
