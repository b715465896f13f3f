//! The events of the write journal.

use serde::Serialize;
use serde_json::Value;

use super::WriteNumber;
use crate::encounter::{Encounter, Record};
use crate::fault::Fault;
use crate::store::{Effect, Snapshot};

/// One line, but for its number and its time.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event<'a> {
    /// The server listens; this is what its store holds.
    Started {
        pid: u32,
        url: &'a str,
        #[serde(flatten)]
        store: &'a Snapshot,
    },
    /// A write has come in; nothing has been done about it.
    Attempt {
        write: WriteNumber,
        fault: Fault,
        bytes: Option<usize>,
        asked: Option<&'a Encounter>,
        problem: Option<Problem>,
    },
    /// What the store did.
    Stored { write: WriteNumber, effect: Effect, record: Option<&'a Record>, removed: &'a [i64], rejected_writes: i64 },
    /// The answer, noted before it leaves. Without a status nobody was told: the client had left, or the server stopped.
    Told { write: WriteNumber, status: Option<u16>, body: Option<&'a Value> },
    /// The store was reset to this.
    Reset {
        #[serde(flatten)]
        store: &'a Snapshot,
    },
    /// A row was removed on request.
    Deleted { id: i64, found: bool },
    /// The server ends in an orderly way.
    Stopped,
}

/// Why an attempt can't be a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Problem {
    BadJson,
    BadField,
    TooLarge,
    /// The body stopped coming.
    Unreadable,
}
