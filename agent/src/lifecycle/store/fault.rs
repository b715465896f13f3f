//! Why the store of actions can't do what was asked, in closed words: no path and no text of a library.

use std::io;

use rusqlite::ErrorCode;

use crate::lifecycle::crash::Injected;
use crate::runs::files::FolderFault;

/// The store refuses, or can't be read or written. Nothing may be started then.
#[derive(Debug, thiserror::Error)]
pub enum StoreFault {
    #[error("lifecycle.sqlite isn't there")]
    Missing,
    #[error("lifecycle.sqlite isn't the agent's, or isn't a file")]
    NotOurs,
    #[error("lifecycle.sqlite was made by another version of the agent")]
    OtherVersion,
    #[error("lifecycle.sqlite isn't an SQLite database")]
    Garbage,
    #[error("lifecycle.sqlite is damaged")]
    Damaged,
    #[error("another process kept lifecycle.sqlite locked for too long")]
    Busy,
    #[error("the disk of the runs folder is full")]
    Full,
    #[error("another server answers for this action now")]
    StaleOwner,
    #[error("another receipt stands for this action already")]
    ReceiptConflict,
    #[error("what was decided isn't what stands in the store")]
    BindingMismatch,
    #[error("a folder of the store can't be used: {0}")]
    Folder(#[from] FolderFault),
    #[error("lifecycle.sqlite can't be read or written: {0}")]
    Io(#[from] io::Error),
    #[error("lifecycle.sqlite can't be read or written: SQLite code {0}")]
    Sqlite(i32),
    #[error(transparent)]
    Injected(#[from] Injected),
}

impl StoreFault {
    /// What the operator can do.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Garbage | Self::Damaged | Self::NotOurs => {
                "restore lifecycle.sqlite from a backup; without one, have a person check the records of recent requests, then move the whole openadapt-agent folder aside"
            }
            Self::OtherVersion => "start the agent that made it, or choose another folder with --runs-dir",
            Self::Busy => "see which process holds lifecycle.sqlite, then try again",
            Self::Full => "make room on the disk of the runs folder",
            _ => "check the permissions and the disk of the runs folder",
        }
    }
}

impl From<rusqlite::Error> for StoreFault {
    fn from(fault: rusqlite::Error) -> Self {
        match fault {
            rusqlite::Error::SqliteFailure(failure, text) => match failure.code {
                ErrorCode::NotADatabase => Self::Garbage,
                ErrorCode::DatabaseCorrupt => Self::Damaged,
                ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Self::Busy,
                ErrorCode::DiskFull => Self::Full,
                ErrorCode::ConstraintViolation if text.as_deref() == Some("receipt_conflict") => Self::ReceiptConflict,
                _ => Self::Sqlite(failure.extended_code),
            },
            rusqlite::Error::SqlInputError { .. } => Self::NotOurs,
            _ => Self::Damaged,
        }
    }
}
