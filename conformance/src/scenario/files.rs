//! Files that a scenario plants, changes, or says something about.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::check::matcher::Matcher;

/// A file that stands before the first server starts. Exactly one kind of content.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PlantedFile {
    pub path: String,
    pub text: Option<String>,
    pub json: Option<Value>,
    pub hex: Option<String>,
    pub symlink_to: Option<String>,
    pub hard_link_to: Option<String>,
    pub dir: bool,
    pub fifo: bool,
    pub socket: bool,
    /// A folder that belongs to somebody else.
    pub foreign: bool,
    /// A copy of a file, or of a folder and what is in it.
    pub copy_of: Option<String>,
    /// A byte that is no UTF-8 stands at the end of the name.
    pub odd: bool,
    /// Octal; 0600 for files and 0700 for folders.
    pub mode: Option<String>,
}

/// What must be true of one path.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FileFact {
    pub path: String,
    pub exists: Option<bool>,
    pub kind: Option<FileKind>,
    /// Octal, for instance `0600`.
    pub mode: Option<String>,
    /// Matched against the content as JSON.
    pub expect: Option<Matcher>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<String>,
    pub text: Option<Matcher>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileKind {
    File,
    Dir,
    Symlink,
    Other,
}

/// A change to one path, made between two actions. Exactly one kind of change.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Edit {
    pub edit: String,
    /// JSON pointers and the values that they get.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub set: Map<String, Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remove: Vec<String>,
    pub text: Option<String>,
    pub json: Option<Value>,
    pub hex: Option<String>,
    pub append: Option<String>,
    pub truncate: Option<u64>,
    pub delete: bool,
    pub mode: Option<String>,
    pub symlink_to: Option<String>,
    pub copy_to: Option<String>,
    pub rename_to: Option<String>,
    pub hard_link_to: Option<String>,
    pub fifo: bool,
    pub socket: bool,
    /// Statements for a SQLite file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sqlite: Vec<String>,
    pub note: Option<String>,
}

/// A look at one path, between two actions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Look {
    pub file: String,
    /// A statement for an SQLite file: `expect` is held against what it comes to, and nothing of it stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sqlite: Option<String>,
    pub exists: Option<bool>,
    pub kind: Option<FileKind>,
    pub mode: Option<String>,
    pub expect: Option<Matcher>,
    #[serde(default)]
    pub absent: Vec<String>,
    pub text: Option<Matcher>,
    #[serde(default)]
    pub capture: BTreeMap<String, String>,
    pub note: Option<String>,
}

impl Look {
    pub fn fact(&self) -> FileFact {
        FileFact {
            path: self.file.clone(),
            exists: self.exists,
            kind: self.kind,
            mode: self.mode.clone(),
            expect: self.expect.clone(),
            absent: self.absent.clone(),
            text: self.text.clone(),
        }
    }
}
