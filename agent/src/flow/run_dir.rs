//! One run's own folder, as Flow leaves it. Files are read bounded, and never through a link.

use std::path::{Path, PathBuf};

use super::canonical::Tree;
use crate::runs::files::{FileRead, Folder, FolderFault};

/// The folder of a run, or why there is none to read from.
#[derive(Debug)]
pub enum RunDir {
    Nothing,
    /// Something stands there that isn't a plain folder, or that can't be opened.
    Unusable,
    Open(Folder),
}

/// What a name in the folder holds.
#[derive(Debug, PartialEq, Eq)]
pub enum Found {
    Nothing,
    /// It is there and can't be read as a regular file within the limit.
    Unusable,
    Bytes(Vec<u8>),
}

/// What a name in the folder holds, as JSON.
#[derive(Debug, PartialEq, Eq)]
pub enum FoundTree {
    Nothing,
    Unusable,
    Tree(Tree),
}

impl RunDir {
    pub fn open(path: &Path) -> Self {
        match Folder::open(path) {
            Ok(folder) => Self::Open(folder),
            Err(FolderFault::Io(fault)) if fault.kind() == std::io::ErrorKind::NotFound => Self::Nothing,
            Err(_) => Self::Unusable,
        }
    }

    pub fn exists(&self) -> bool {
        !matches!(self, Self::Nothing)
    }

    pub fn path(&self) -> Option<PathBuf> {
        if let Self::Open(folder) = self { Some(folder.path().to_owned()) } else { None }
    }

    pub fn read(&self, name: &str, limit: usize) -> Found {
        self.read_with_mode(name, limit).0
    }

    /// The content and the permission bits of the file.
    pub fn read_with_mode(&self, name: &str, limit: usize) -> (Found, u32) {
        let folder = match self {
            Self::Nothing => return (Found::Nothing, 0),
            Self::Unusable => return (Found::Unusable, 0),
            Self::Open(folder) => folder,
        };
        match folder.read(name, limit) {
            Ok(FileRead::Missing) => (Found::Nothing, 0),
            Ok(FileRead::Content { bytes, mode }) => (Found::Bytes(bytes), mode),
            Ok(FileRead::Unfit(_)) | Err(_) => (Found::Unusable, 0),
        }
    }

    pub fn read_tree(&self, name: &str, limit: usize) -> FoundTree {
        match self.read(name, limit) {
            Found::Nothing => FoundTree::Nothing,
            Found::Unusable => FoundTree::Unusable,
            Found::Bytes(bytes) => Tree::parse(&bytes, limit).map_or(FoundTree::Unusable, FoundTree::Tree),
        }
    }

    /// True for a name that is there, whatever it is, and for one that can't be looked up.
    pub fn has(&self, name: &str) -> bool {
        match self {
            Self::Nothing => false,
            Self::Unusable => true,
            Self::Open(folder) => folder.has(name).unwrap_or(true),
        }
    }

    /// The names in the folder; none where it can't be listed.
    pub fn names(&self) -> Vec<String> {
        if let Self::Open(folder) = self { folder.names().unwrap_or_default() } else { Vec::new() }
    }
}
