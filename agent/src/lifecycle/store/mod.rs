//! The one store of actions: SQLite, WAL, every commit synced, every change fenced. Source: lifecycle, *Store*.

mod asking;
mod begin;
mod end;
mod fault;
mod import;
mod policy;
mod read;
mod rows;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Transaction, TransactionBehavior, params};

use crate::runs::clock::utc_now;
use crate::runs::files::Folder;
use crate::runs::key::FingerprintKey;
use crate::runs::record::owner::this_host;
use crate::runs::server::ServerId;

pub use asking::{Identity, Kept, Why};
pub use begin::{Dispatch, NewAction, Revalidation};
pub use end::Sealing;
pub use fault::StoreFault;
pub use import::Import;
pub use policy::Control;
pub use read::{Counter, EventRow, Listed, Listing};
pub use rows::{Action, Known, Receipt, ReceiptRead};

/// An open store.
#[derive(Debug)]
pub struct Store {
    writer: Mutex<Connection>,
    /// Reads don't wait for another thread's sync.
    reader: Mutex<Connection>,
    key: FingerprintKey,
    /// Whoever opened it: a server. A keeper answers for no action.
    me: Option<ServerId>,
}

impl Store {
    /// Opens the store for a server, and makes it where there is none. A file that isn't one is refused and left as it is.
    pub fn open(root: &Folder, key: &FingerprintKey, me: ServerId) -> Result<Self, StoreFault> {
        root.create_once(FILE, b"")?;
        let path = root.path().join(FILE);
        if !is_made(&path)? {
            let lock = root.lock_file(LOCK)?;
            lock.lock()?;
            make(&path)?;
            lock.unlock()?;
        }
        let store = Self { me: Some(me), ..Self::open_existing(root, key)? };
        store.write(|transaction| {
            transaction.execute(
                "INSERT INTO owners VALUES (?1, ?2, ?3, ?4)",
                params![me.to_string(), this_host(), std::process::id(), utc_now()],
            )?;
            Ok(())
        })?;
        Ok(store)
    }

    /// Opens a store that is there, for a keeper or for a command of an operator.
    pub fn open_existing(root: &Folder, key: &FingerprintKey) -> Result<Self, StoreFault> {
        let path = root.path().join(FILE);
        if !is_made(&path)? {
            return Err(StoreFault::Missing);
        }
        let writer = connect(&path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        let reader = connect(&path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        reader.pragma_update(None, "query_only", true)?;
        Ok(Self { writer: Mutex::new(writer), reader: Mutex::new(reader), key: key.clone(), me: None })
    }

    /// Looks at a store without leaving anything behind. `None` where there is none.
    pub fn open_to_look(root: &Folder, key: &FingerprintKey) -> Result<Option<Self>, StoreFault> {
        let path = root.path().join(FILE);
        if !root.has(FILE)? {
            return Ok(None);
        }
        // Without a log beside it nobody has the store open, and its file is all there is; with one, the log is read as well.
        let open = || match root.has(LOG)? {
            true => connect(&path, OpenFlags::SQLITE_OPEN_READ_WRITE),
            false => connect_to_file_alone(&path),
        };
        let (writer, reader) = (open()?, open()?);
        writer.pragma_update(None, "query_only", true)?;
        reader.pragma_update(None, "query_only", true)?;
        if version(&reader)? != Some(VERSION) {
            return Err(StoreFault::OtherVersion);
        }
        Ok(Some(Self { writer: Mutex::new(writer), reader: Mutex::new(reader), key: key.clone(), me: None }))
    }

    /// The identity of this store; refusals are counted by it and the account.
    pub fn store_id(&self) -> Result<String, StoreFault> {
        Ok(self.reading().query_row("SELECT store_id FROM meta", [], |row| row.get(0))?)
    }

    pub(super) fn write<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, StoreFault>,
    ) -> Result<T, StoreFault> {
        let mut connection = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let done = work(&transaction)?;
        transaction.commit()?;
        Ok(done)
    }

    /// Without a sync: for what is made again when it is lost with the power.
    fn write_lightly<T>(&self, work: impl FnOnce(&Transaction<'_>) -> Result<T, StoreFault>) -> Result<T, StoreFault> {
        let mut connection = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        let done = (|| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let done = work(&transaction)?;
            transaction.commit()?;
            Ok(done)
        })();
        connection.pragma_update(None, "synchronous", "FULL")?;
        done
    }

    pub(super) fn read_one<T: rusqlite::types::FromSql>(
        &self,
        sql: &str,
        params: impl rusqlite::Params,
    ) -> Result<Option<T>, StoreFault> {
        let connection = self.reading();
        let mut statement = connection.prepare_cached(sql)?;
        Ok(statement.query_row(params, |row| row.get(0)).optional()?)
    }

    fn reading(&self) -> MutexGuard<'_, Connection> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn owner(&self) -> Result<String, StoreFault> {
        self.me.map(|me| me.to_string()).ok_or(StoreFault::StaleOwner)
    }
}

const FILE: &str = "lifecycle.sqlite";
const LOG: &str = "lifecycle.sqlite-wal";
const LOCK: &str = "lifecycle.lock";
const VERSION: i64 = 1;
/// About a megabyte: what is in the log is read again by whoever opens the store.
const LOG_PAGES: i64 = 256;
const BUSY: Duration = Duration::from_millis(10_000);

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, StoreFault> {
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    settled(Connection::open_with_flags(path, flags)?)
}

fn connect_to_file_alone(path: &Path) -> Result<Connection, StoreFault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    settled(Connection::open_with_flags(uri(path)?, flags)?)
}

fn settled(connection: Connection) -> Result<Connection, StoreFault> {
    connection.busy_timeout(BUSY)?;
    connection.set_prepared_statement_cache_capacity(64);
    // The log stays when the last one leaves, so that looking needs nothing made.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "wal_autocheckpoint", LOG_PAGES)?;
    Ok(connection)
}

/// A path as a URI that says that nobody changes the file.
fn uri(path: &Path) -> Result<PathBuf, StoreFault> {
    let text = path.to_str().ok_or(StoreFault::Missing)?;
    let escaped = text.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    Ok(format!("file:{escaped}?immutable=1").into())
}

/// Every SQLite file begins with as many.
const HEADER_BYTES: u64 = 100;

fn is_made(path: &Path) -> Result<bool, StoreFault> {
    if !path.symlink_metadata()?.is_file() {
        return Err(StoreFault::NotOurs);
    }
    // SQLite takes a file that is shorter than its header for an empty one, and would write over it.
    if (1..HEADER_BYTES).contains(&path.metadata()?.len()) {
        return Err(StoreFault::NotOurs);
    }
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    match version(&connection)? {
        None => Ok(false),
        Some(VERSION) => Ok(true),
        Some(_) => Err(StoreFault::OtherVersion),
    }
}

fn version(connection: &Connection) -> Result<Option<i64>, StoreFault> {
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))?;
    if tables == 0 {
        return Ok(None);
    }
    let known = connection.query_row("SELECT version FROM meta", [], |row| row.get(0)).optional();
    match known {
        Ok(Some(version)) => Ok(Some(version)),
        Ok(None) | Err(rusqlite::Error::SqlInputError { .. }) => Err(StoreFault::NotOurs),
        Err(fault) => Err(fault.into()),
    }
}

/// Under the lock: tables and identity in one transaction.
fn make(path: &Path) -> Result<(), StoreFault> {
    let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if version(&transaction)?.is_none() {
        transaction.execute_batch(include_str!("schema.sql"))?;
        let store_id = uuid::Uuid::new_v4().simple().to_string();
        transaction.execute("INSERT INTO meta VALUES (1, ?1, ?2)", params![VERSION, store_id])?;
    }
    Ok(transaction.commit()?)
}

#[cfg(test)]
mod tests;
