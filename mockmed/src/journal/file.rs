//! The journal's file: appended to, synced, owned by one server.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use super::Event;

/// Appends to one file, or to none: then writes are only counted.
#[derive(Debug)]
pub struct Journal {
    file: Option<File>,
    last_line: u64,
    last_write: u64,
    /// The last line may be there in part: the next one needs a line of its own.
    torn: bool,
}

/// Ties the lines about one write together; from 1, never twice in one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct WriteNumber(u64);

#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    #[error("the journal {path} can't be opened: {source}", path = path.display())]
    Open { path: PathBuf, source: io::Error },
    #[error("the journal {path} is not a regular file", path = .0.display())]
    NotAFile(PathBuf),
    #[error("the journal {path} is in use by another process", path = .0.display())]
    InUse(PathBuf),
    #[error("the journal can't be written: {0}")]
    Append(#[from] io::Error),
}

#[derive(Serialize)]
struct Line<'a> {
    seq: u64,
    at: String,
    #[serde(flatten)]
    event: &'a Event<'a>,
}

impl Journal {
    pub const fn none() -> Self {
        Self { file: None, last_line: 0, last_write: 0, torn: false }
    }

    /// Opens the file for this process alone and goes on counting where its last line ends.
    pub fn append_to(path: &Path) -> Result<Self, JournalError> {
        let opening = |source| JournalError::Open { path: path.to_owned(), source };
        let mut file = open(path).map_err(opening)?;
        if !file.metadata().map_err(opening)?.is_file() {
            return Err(JournalError::NotAFile(path.to_owned()));
        }
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(JournalError::InUse(path.to_owned())),
            Err(TryLockError::Error(error)) => return Err(opening(error)),
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(opening)?;
        let torn = bytes.last().is_some_and(|last| *last != b'\n');
        let highest = |key: &str| lines(&bytes).filter_map(|line| line[key].as_u64()).max().unwrap_or(0);
        let (last_line, last_write) = (highest("seq"), highest("write"));
        Ok(Self { file: Some(file), last_line, last_write, torn })
    }

    /// A journal whose disk takes nothing.
    #[cfg(test)]
    pub fn that_cannot_be_written() -> Self {
        let file = OpenOptions::new().read(true).open(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
        Self { file: Some(file.unwrap()), ..Self::none() }
    }

    pub fn next_write(&mut self) -> WriteNumber {
        self.last_write += 1;
        WriteNumber(self.last_write)
    }

    /// The events are on the disk, in this order, when this comes back.
    pub fn append(&mut self, events: &[Event<'_>]) -> Result<(), JournalError> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let mut text = String::from(if self.torn { "\n" } else { "" });
        for event in events {
            self.last_line += 1;
            let at = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.6f+00:00").to_string();
            text += &serde_json::to_string(&Line { seq: self.last_line, at, event }).map_err(io::Error::from)?;
            text.push('\n');
        }
        self.torn = true;
        file.write_all(text.as_bytes())?;
        file.sync_data()?;
        self.torn = false;
        Ok(())
    }
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = Value> {
    bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok())
}
