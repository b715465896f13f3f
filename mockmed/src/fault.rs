//! The fault modes: how a save goes wrong, as the closed list that `?fault=` picks from.

use serde::Serialize;

/// What the server does with one write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// No mode was named.
    None,
    /// Stored and said so.
    Ok,
    /// Stored without its note, and called saved.
    Partial,
    /// Not stored; the page has already called it saved.
    Optimistic,
    /// Stored, and the answer comes after the page gave up.
    Timeout,
    /// Not stored: nobody is signed in.
    Session,
    /// Stored over every other row of the patient.
    Stale,
    /// Stored; the page posts twice.
    Duplicate,
    /// The same under its other name.
    Double,
    /// The page posts twice with one key.
    Idempotent,
    /// A mode that this server doesn't know; it stores like `ok`.
    Other,
}

/// What happens to the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storing {
    Row,
    RowWithoutNote,
    /// Every row of the patient goes first.
    OnlyRowOfPatient,
    Nothing,
    /// Nothing, and it counts in `rejected_writes`.
    CountedRejection,
}

/// What the client is told, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Telling {
    Saved,
    SavedInPart,
    /// The same as `Saved`, after the delay.
    SavedLate,
    Conflict,
    SignedOut,
}

impl Fault {
    pub fn parse(text: Option<&str>) -> Self {
        match text {
            None | Some("") => Self::None,
            Some("ok") => Self::Ok,
            Some("partial") => Self::Partial,
            Some("optimistic") => Self::Optimistic,
            Some("timeout") => Self::Timeout,
            Some("session") => Self::Session,
            Some("stale") => Self::Stale,
            Some("duplicate") => Self::Duplicate,
            Some("double") => Self::Double,
            Some("idempotent") => Self::Idempotent,
            Some(_) => Self::Other,
        }
    }

    pub const fn storing(self) -> Storing {
        match self {
            Self::Partial => Storing::RowWithoutNote,
            Self::Stale => Storing::OnlyRowOfPatient,
            Self::Session => Storing::Nothing,
            Self::Optimistic => Storing::CountedRejection,
            Self::None | Self::Ok | Self::Timeout | Self::Duplicate | Self::Double | Self::Idempotent | Self::Other => {
                Storing::Row
            }
        }
    }

    pub const fn telling(self) -> Telling {
        match self {
            Self::Partial => Telling::SavedInPart,
            Self::Timeout => Telling::SavedLate,
            Self::Optimistic => Telling::Conflict,
            Self::Session => Telling::SignedOut,
            Self::None | Self::Ok | Self::Stale | Self::Duplicate | Self::Double | Self::Idempotent | Self::Other => {
                Telling::Saved
            }
        }
    }
}
