//! Why the ledger can't be used, in closed words: no path and no text of a library reaches the operator's screen.

use std::io;

use rusqlite::ErrorCode;
use rusqlite::ffi;

use crate::runs::files::FolderFault;

/// The file system lacks what Flow's ledger needs, or holds a folder in its place; no reservation can be hidden by it.
/// The list is closed: anything else is a [`LedgerFault`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FallbackReason {
    #[error("the file system offers no locks that the ledger of used requests can rely on")]
    LocksUnsupported,
    #[error("a folder stands where the ledger of used requests should be")]
    FolderInPlace,
}

/// The ledger refuses. No run may start until it doesn't.
#[derive(Debug, thiserror::Error)]
pub enum LedgerFault {
    #[error("ledger.sqlite isn't an SQLite database")]
    Garbage,
    #[error("ledger.sqlite is damaged")]
    Damaged,
    #[error("ledger.sqlite is missing or empty although claims of earlier runs are there")]
    Lost,
    #[error("ledger.sqlite belongs to something else, or was copied or moved here")]
    OwnerOrSchemaMismatch,
    #[error("{0} is a symbolic link or not what it should be")]
    NotOurs(&'static str),
    #[error("the folder of the ledger was moved while it was in use")]
    FolderMoved,
    #[error("a claim of the ledger can't be read")]
    UnreadableClaim,
    #[error("the key has no reservation")]
    NoReservation,
    #[error("the key is reserved for another run")]
    OtherOwner,
    #[error("another outcome is already written down for the key")]
    OutcomeAlreadyRecorded,
    #[error("another process kept the ledger locked for too long")]
    Busy,
    #[error("the folder of the ledger's claims can't be used: {0}")]
    ClaimsFolder(#[from] FolderFault),
    #[error("the ledger can't be read or written: {0}")]
    Io(#[from] io::Error),
    #[error("the ledger can't be read or written: SQLite code {0}")]
    Sqlite(i32),
}

impl LedgerFault {
    /// What the operator can do.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Garbage | Self::Damaged | Self::Lost => {
                "restore ledger.sqlite from a backup; without one, have a person check the records of recent requests, then move the whole openadapt-agent folder aside"
            }
            Self::OwnerOrSchemaMismatch | Self::FolderMoved => {
                "put the runs folder back where it was, or start with a new one"
            }
            Self::NotOurs(_) | Self::UnreadableClaim => {
                "look at what stands in the openadapt-agent folder under that name"
            }
            Self::Busy => "see which process holds ledger.sqlite, then try again",
            _ => "check the permissions and the disk of the runs folder",
        }
    }
}

/// SQLite's codes for a file system whose locks don't work.
pub fn is_lock_failure(fault: &rusqlite::Error) -> bool {
    const LOCK_FAILURES: [i32; 5] = [
        ffi::SQLITE_IOERR_LOCK,
        ffi::SQLITE_IOERR_RDLOCK,
        ffi::SQLITE_IOERR_UNLOCK,
        ffi::SQLITE_IOERR_CHECKRESERVEDLOCK,
        ffi::SQLITE_PROTOCOL,
    ];
    matches!(fault, rusqlite::Error::SqliteFailure(failure, _) if LOCK_FAILURES.contains(&failure.extended_code))
}

/// The system's codes for the same.
pub fn locks_are_unsupported(fault: &io::Error) -> bool {
    use rustix::io::Errno;
    let unsupported = [Errno::NOLCK, Errno::NOSYS, Errno::OPNOTSUPP, Errno::NOTSUP];
    fault.raw_os_error().is_some_and(|code| unsupported.iter().any(|errno| errno.raw_os_error() == code))
}

impl From<rusqlite::Error> for LedgerFault {
    fn from(fault: rusqlite::Error) -> Self {
        match fault {
            rusqlite::Error::SqliteFailure(failure, _) => match failure.code {
                ErrorCode::NotADatabase => Self::Garbage,
                ErrorCode::DatabaseCorrupt => Self::Damaged,
                ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Self::Busy,
                _ => Self::Sqlite(failure.extended_code),
            },
            rusqlite::Error::SqlInputError { .. } => Self::OwnerOrSchemaMismatch,
            _ => Self::Damaged,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_failures_of_the_locks_themselves_select_the_fallback() {
        let failure = |code| rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
        for code in [ffi::SQLITE_IOERR_LOCK, ffi::SQLITE_IOERR_RDLOCK, ffi::SQLITE_PROTOCOL] {
            assert!(is_lock_failure(&failure(code)), "{code}");
        }
        for code in [ffi::SQLITE_BUSY, ffi::SQLITE_NOTADB, ffi::SQLITE_CORRUPT, ffi::SQLITE_CANTOPEN, ffi::SQLITE_FULL]
        {
            assert!(!is_lock_failure(&failure(code)), "{code}");
        }
        use rustix::io::Errno;
        for errno in [Errno::NOLCK, Errno::NOSYS, Errno::OPNOTSUPP] {
            assert!(locks_are_unsupported(&errno.into()), "{errno}");
        }
        for errno in [Errno::ACCESS, Errno::NOSPC, Errno::IO, Errno::WOULDBLOCK] {
            assert!(!locks_are_unsupported(&errno.into()), "{errno}");
        }
    }
}
