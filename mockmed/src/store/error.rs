//! Why the store can't do what was asked.

use std::path::PathBuf;

/// Why the store can't be opened or used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("the record store {path} can't be opened: {source}", path = path.display())]
    Open { path: PathBuf, source: rusqlite::Error },
    #[error("the record store {path} is in use by another process", path = .0.display())]
    InUse(PathBuf),
    #[error("{path} is not a MockMed record store", path = .0.display())]
    Foreign(PathBuf),
    #[error("the record store failed: {0}")]
    Failed(#[from] rusqlite::Error),
}
