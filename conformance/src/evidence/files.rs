//! What lay in a world's folders when it was over.

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::scenario::files::FileKind;

/// Longer content isn't kept.
const KEPT_BYTES: u64 = 32 * 1024 * 1024;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SeenFile {
    pub path: PathBuf,
    /// None: nothing is there.
    pub kind: Option<FileKind>,
    /// Permission bits.
    pub mode: u32,
    pub bytes: u64,
    /// The content up to 1 MiB, bytes that are no UTF-8 replaced.
    pub text: String,
    /// What the scenario itself put there, and wasn't changed since: no statement about the agent.
    pub planted: bool,
}

impl SeenFile {
    /// One path, without following a symbolic link.
    pub fn look(path: &Path) -> Self {
        // Evidence is written as JSON, which holds no other names.
        let shown = PathBuf::from(path.to_string_lossy().into_owned());
        let Ok(facts) = fs::symlink_metadata(path) else {
            return Self { path: shown, kind: None, mode: 0, bytes: 0, text: String::new(), planted: false };
        };
        let kind = match facts.file_type() {
            kind if kind.is_file() => FileKind::File,
            kind if kind.is_dir() => FileKind::Dir,
            kind if kind.is_symlink() => FileKind::Symlink,
            _ => FileKind::Other,
        };
        let text = if kind == FileKind::File { content(path) } else { String::new() };
        Self {
            path: shown,
            kind: Some(kind),
            mode: facts.permissions().mode() & 0o7777,
            bytes: facts.len(),
            text,
            planted: false,
        }
    }

    /// There is more of it than was kept.
    pub fn is_cut(&self) -> bool {
        self.kind == Some(FileKind::File) && self.bytes > KEPT_BYTES
    }

    pub fn json(&self) -> Option<Value> {
        serde_json::from_str(&self.text).ok()
    }
}

/// Every file and folder below `root`, and `root` itself, in name order.
pub fn walk(root: &Path) -> Vec<SeenFile> {
    let mut found = Vec::new();
    visit(root, &mut found);
    found
}

fn visit(path: &Path, found: &mut Vec<SeenFile>) {
    let seen = SeenFile::look(path);
    let folder = seen.kind == Some(FileKind::Dir);
    if seen.kind.is_some() {
        found.push(seen);
    }
    if folder {
        let mut inside: Vec<PathBuf> =
            fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        inside.sort();
        inside.iter().for_each(|path| visit(path, found));
    }
}

fn content(path: &Path) -> String {
    let mut bytes = Vec::new();
    match fs::File::open(path).map(|file| file.take(KEPT_BYTES).read_to_end(&mut bytes)) {
        Ok(Ok(_)) => String::from_utf8_lossy(&bytes).into_owned(),
        _ => String::new(),
    }
}
