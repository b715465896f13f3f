//! Things at a path that are neither a plain file nor a plain folder.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{chown, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::{fs, io};

use rustix::fs::{CWD, FileType, Mode, mknodat};

/// Somebody else, where the judge may give things away.
const NOBODY: u32 = 65534;
/// Somebody else's folder, where it may not.
const OF_THE_SYSTEM: &str = "/usr";

pub fn fifo(path: &Path) -> io::Result<()> {
    Ok(mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?)
}

/// The name of a socket that nobody listens on any more.
pub fn socket(path: &Path) -> io::Result<()> {
    // A socket's own path must be short, and its name stays when the listener goes.
    let short = tempfile::tempdir()?;
    UnixListener::bind(short.path().join("s"))?;
    fs::rename(short.path().join("s"), path)
}

/// A folder that belongs to another user: given away, or the system's own behind a link.
pub fn foreign_folder(path: &Path) -> io::Result<()> {
    if rustix::process::geteuid().is_root() {
        fs::create_dir(path)?;
        return chown(path, Some(NOBODY), Some(NOBODY));
    }
    symlink(OF_THE_SYSTEM, path)
}

/// The path with a byte at its end that is no UTF-8.
pub fn oddly_named(path: &str) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(&[path.as_bytes(), &[0xff]].concat()))
}

/// A copy of a file, or of a folder and what is in it.
pub fn copy(source: &Path, target: &Path) -> io::Result<()> {
    if !source.is_dir() {
        return fs::copy(source, target).map(drop);
    }
    fs::create_dir(target)?;
    for entry in fs::read_dir(source)? {
        let entry = entry?;
        copy(&entry.path(), &target.join(entry.file_name()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};

    use super::*;

    #[test]
    fn each_thing_is_what_it_is_called() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fifo(&at("f")).unwrap();
        socket(&at("s")).unwrap();
        foreign_folder(&at("o")).unwrap();
        assert!(at("f").symlink_metadata().unwrap().file_type().is_fifo());
        assert!(at("s").symlink_metadata().unwrap().file_type().is_socket());
        let theirs = at("o").metadata().unwrap();
        fs::create_dir(at("d")).unwrap();
        fs::write(at("d/inside"), "x").unwrap();
        copy(&at("d"), &oddly_named(at("d").to_str().unwrap())).unwrap();
        assert_eq!(fs::read(oddly_named(at("d").to_str().unwrap()).join("inside")).unwrap(), b"x");
        assert!(theirs.is_dir() && theirs.uid() != rustix::process::geteuid().as_raw());
    }
}
