//! The record store: the ground truth that `/api/db` shows. In memory, or in one SQLite file.

mod database;
mod error;

pub use database::Store;
pub use error::StoreError;

use serde::Serialize;

use crate::encounter::Record;

/// Everything that the store holds, in the shape of `/api/db`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Snapshot {
    /// In the order of their ids.
    pub records: Vec<Record>,
    pub rejected_writes: i64,
}

/// What one write did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub effect: Effect,
    /// The row that answers the write: the new one, or the one with the same key.
    pub record: Option<Record>,
    /// Ids of the rows that had to go.
    pub removed: Vec<i64>,
    pub rejected_writes: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    Inserted,
    /// The key was known: the old row stays as it is.
    Kept,
    Nothing,
}

/// What a reset leaves behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Seed {
    #[default]
    Empty,
    /// One row that somebody else wrote about the first patient.
    Concurrent,
}
