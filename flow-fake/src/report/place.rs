//! Puts a prepared report into a run folder.

use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::Prepared;
use crate::files;
use crate::script::Kind;

/// Replaces `report.json`, private and in one step; creates the run folder when it isn't there.
pub fn place(run_dir: &Path, report: &Prepared) -> io::Result<()> {
    std::fs::create_dir_all(run_dir)?;
    let path = run_dir.join("report.json");
    match report.kind {
        Kind::File => files::replace(&path, &report.bytes, files::PRIVATE),
        Kind::Symlink => {
            let target = run_dir.join("report.elsewhere.json");
            files::replace(&target, &report.bytes, files::PRIVATE)?;
            files::remove(&path)?;
            symlink("report.elsewhere.json", &path)
        }
        Kind::Directory => {
            files::remove(&path)?;
            std::fs::create_dir(&path)
        }
        Kind::Fifo => {
            files::remove(&path)?;
            Ok(mknodat(CWD, &path, FileType::Fifo, Mode::from_raw_mode(files::PRIVATE), 0)?)
        }
    }
}
