//! Files as Flow writes them: to a temporary name in the same folder, then renamed into place.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde_json::Value;

pub const PRIVATE: u32 = 0o600;
/// A mode that leaves the decision to the process umask.
pub const UMASK: u32 = 0o666;

/// Replaces `path` in one step.
pub fn replace(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = folder.join(format!(".{name}.{}.tmp", uuid::Uuid::new_v4().simple()));
    let written = create(&temporary, bytes, mode).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Creates `path`, which must not exist.
pub fn create(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?.write_all(bytes)
}

/// Two-space indented JSON, without a last line end, as Flow dumps its models.
pub fn pretty(value: &Value) -> Vec<u8> {
    format!("{value:#}").into_bytes()
}

pub fn replace_json(path: &Path, value: &Value, mode: u32) -> io::Result<()> {
    replace(path, &pretty(value), mode)
}

pub fn read_json(path: &Path) -> io::Result<Value> {
    Ok(serde_json::from_slice(&fs::read(path)?)?)
}

/// Removes a file, link or folder; nothing there is fine.
pub fn remove(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(missing) if missing.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(other) => Err(other),
    }
}
