//! One SQLite database, whether it lives in memory or in a file. Each change is one transaction.

use std::path::Path;

use rusqlite::{Connection, ErrorCode, OptionalExtension, Row, Transaction, TransactionBehavior, params};

use super::{Change, Effect, Seed, Snapshot, StoreError};
use crate::encounter::{Encounter, Record, Source};
use crate::fault::Storing;

/// "MMED": tells a store of ours from any other SQLite file.
const APPLICATION_ID: i64 = 0x4D4D_4544;
const COLUMNS: &str = "id, patient_id, type, note, source, key";
const SEEDED: [&str; 3] = ["p1", "Consult", "URGENT: allergy to penicillin reported by phone"];

#[derive(Debug)]
pub struct Store {
    connection: Connection,
}

impl Store {
    pub fn in_memory() -> Result<Self, StoreError> {
        let mut store = Self { connection: Connection::open_in_memory()? };
        store.create()?;
        Ok(store)
    }

    /// Opens or makes the file, and holds it alone until the store is dropped.
    pub fn in_file(path: &Path) -> Result<Self, StoreError> {
        let opening = |source: rusqlite::Error| match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::InUse(path.to_owned()),
            Some(ErrorCode::NotADatabase) => StoreError::Foreign(path.to_owned()),
            _ => StoreError::Open { path: path.to_owned(), source },
        };
        let mut store = Self { connection: Connection::open(path).map_err(opening)? };
        store
            .connection
            .execute_batch("PRAGMA locking_mode=EXCLUSIVE; PRAGMA synchronous=FULL; BEGIN EXCLUSIVE; COMMIT;")
            .map_err(opening)?;
        let id: i64 = store.connection.query_row("PRAGMA application_id", [], |row| row.get(0)).map_err(opening)?;
        let tables: i64 =
            store.connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(opening)?;
        match (id, tables) {
            (APPLICATION_ID, _) => Ok(store),
            (0, 0) => store.create().map(|()| store),
            _ => Err(StoreError::Foreign(path.to_owned())),
        }
    }

    pub fn snapshot(&self) -> Result<Snapshot, StoreError> {
        let mut query = self.connection.prepare_cached(&format!("SELECT {COLUMNS} FROM record ORDER BY id"))?;
        let records = query.query_map([], record)?.collect::<Result<_, _>>()?;
        let rejected_writes = self.connection.query_row("SELECT rejected_writes FROM counter", [], |row| row.get(0))?;
        Ok(Snapshot { records, rejected_writes })
    }

    pub fn reset(&mut self, seed: Seed) -> Result<Snapshot, StoreError> {
        let change = self.begin()?;
        change.execute_batch("DELETE FROM record; UPDATE counter SET last_id = 0, rejected_writes = 0;")?;
        if seed == Seed::Concurrent {
            let [patient_id, kind, note] = SEEDED;
            let id = next_id(&change)?;
            change.execute(
                "INSERT INTO record VALUES (?1, ?2, ?3, ?4, 'other', NULL)",
                params![id, patient_id, kind, note],
            )?;
        }
        change.commit()?;
        self.snapshot()
    }

    pub fn write(&mut self, encounter: &Encounter, storing: Storing) -> Result<Change, StoreError> {
        let change = self.begin()?;
        let removed = match storing {
            Storing::OnlyRowOfPatient => remove_all_of(&change, encounter)?,
            _ => Vec::new(),
        };
        let (effect, record) = match storing {
            Storing::Row | Storing::OnlyRowOfPatient => insert(&change, encounter, &encounter.note)?,
            Storing::RowWithoutNote => insert(&change, encounter, "")?,
            Storing::Nothing => (Effect::Nothing, None),
            Storing::CountedRejection => {
                change.execute("UPDATE counter SET rejected_writes = rejected_writes + 1", [])?;
                (Effect::Nothing, None)
            }
        };
        let rejected_writes = change.query_row("SELECT rejected_writes FROM counter", [], |row| row.get(0))?;
        change.commit()?;
        Ok(Change { effect, record, removed, rejected_writes })
    }

    /// Whether there was such a row.
    pub fn delete(&mut self, id: i64) -> Result<bool, StoreError> {
        Ok(self.connection.execute("DELETE FROM record WHERE id = ?1", [id])? == 1)
    }

    fn create(&mut self) -> Result<(), StoreError> {
        let change = self.begin()?;
        change.execute_batch(include_str!("schema.sql"))?;
        change.pragma_update(None, "application_id", APPLICATION_ID)?;
        change.commit()?;
        Ok(())
    }

    fn begin(&mut self) -> Result<Transaction<'_>, StoreError> {
        Ok(self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?)
    }
}

fn insert(change: &Transaction<'_>, encounter: &Encounter, note: &str) -> Result<(Effect, Option<Record>), StoreError> {
    let key = encounter.key.as_ref().map(|key| key.as_str());
    let known = change.query_row(&format!("SELECT {COLUMNS} FROM record WHERE key = ?1"), [key], record).optional()?;
    if known.is_some() {
        return Ok((Effect::Kept, known));
    }
    let id = next_id(change)?;
    let inserted = change.query_row(
        &format!("INSERT INTO record VALUES (?1, ?2, ?3, ?4, 'replay', ?5) RETURNING {COLUMNS}"),
        params![id, encounter.patient_id.as_str(), encounter.kind.as_str(), note, key],
        record,
    )?;
    Ok((Effect::Inserted, Some(inserted)))
}

fn remove_all_of(change: &Transaction<'_>, encounter: &Encounter) -> Result<Vec<i64>, StoreError> {
    let mut query = change.prepare("DELETE FROM record WHERE patient_id = ?1 RETURNING id")?;
    let mut ids =
        query.query_map([encounter.patient_id.as_str()], |row| row.get(0))?.collect::<Result<Vec<i64>, _>>()?;
    ids.sort_unstable();
    Ok(ids)
}

/// Ids of removed rows don't come back before the next reset.
fn next_id(change: &Transaction<'_>) -> Result<i64, StoreError> {
    Ok(change.query_row("UPDATE counter SET last_id = last_id + 1 RETURNING last_id", [], |row| row.get(0))?)
}

fn record(row: &Row<'_>) -> rusqlite::Result<Record> {
    let text = |column: usize| row.get::<_, String>(column);
    let broken = |column: usize| {
        move |error| rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, Box::new(error))
    };
    Ok(Record {
        id: row.get(0)?,
        patient_id: crate::encounter::PatientId::parse(&text(1)?).map_err(broken(1))?,
        kind: crate::encounter::EncounterType::parse(&text(2)?).map_err(broken(2))?,
        note: text(3)?,
        source: if text(4)? == "other" { Source::Other } else { Source::Replay },
        key: row
            .get::<_, Option<String>>(5)?
            .map(|key| crate::encounter::WriteKey::parse(&key))
            .transpose()
            .map_err(broken(5))?,
    })
}
