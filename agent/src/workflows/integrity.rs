//! The seal of a bundle: one digest over the workflow and the hashes of its pictures, and the pictures themselves.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::anatomy::asset_paths;
use super::bundle::LoadError;
use super::defaults::{Written, to_digest_form};
use super::files::{FileFault, sha256_below};
use crate::flow::canonical::Tree;

/// The manifest of a sealed bundle, as far as integrity needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    content_digest: String,
    file_hashes: BTreeMap<String, Tree>,
}

impl Manifest {
    /// Nothing for a manifest that seals nothing: `content_digest` absent or empty.
    pub fn read(tree: &Tree) -> Result<Option<Self>, LoadError> {
        let entries = tree.as_map().ok_or(LoadError::Manifest)?;
        let content_digest = match entries.get("content_digest") {
            None => return Ok(None),
            Some(digest) => digest.as_text().ok_or(LoadError::Manifest)?,
        };
        let file_hashes = match entries.get("file_hashes") {
            None => BTreeMap::new(),
            Some(hashes) => hashes.as_map().ok_or(LoadError::Manifest)?.clone(),
        };
        if file_hashes.values().any(|hash| hash.as_text().is_none()) {
            return Err(LoadError::Manifest);
        }
        let sealed = !content_digest.is_empty();
        Ok(sealed.then(|| Self { content_digest: content_digest.to_owned(), file_hashes }))
    }

    /// Checks the workflow and every sealed file against this manifest; gives the content digest.
    pub fn verify(self, workflow: Tree, folder: &Path) -> Result<String, LoadError> {
        for (path, hash) in &self.file_hashes {
            if Some(hash_of(folder, path)?.as_str()) != hash.as_text() {
                return Err(LoadError::AssetChanged);
            }
        }
        if content_digest(workflow, Written::InFull, self.file_hashes) == self.content_digest {
            Ok(self.content_digest)
        } else {
            Err(LoadError::Digest)
        }
    }
}

/// SHA-256 hex over the workflow in its digest form and the hashes of its files.
pub fn content_digest(mut workflow: Tree, written: Written, file_hashes: BTreeMap<String, Tree>) -> String {
    if let Some(entries) = workflow.as_map_mut() {
        entries.remove("manifest");
        entries.insert("schema_version".to_owned(), Tree::Number("2".to_owned()));
    }
    to_digest_form(&mut workflow, written);
    Tree::map([("workflow", workflow), ("files", Tree::Map(file_hashes))]).sha256_hex()
}

/// What a seal made now would hold: every file under templates/ and every picture that the workflow names, as far as it is there.
pub fn hashes_on_disk(workflow: &mut Tree, folder: &Path) -> Result<BTreeMap<String, Tree>, LoadError> {
    let mut hashes = BTreeMap::new();
    hash_folder(folder, "templates", &mut hashes)?;
    for path in asset_paths(workflow) {
        match hash_of(folder, &path) {
            Ok(hash) => hashes.insert(path, Tree::Text(hash)),
            Err(LoadError::AssetMissing) => None,
            Err(error) => return Err(error),
        };
    }
    Ok(hashes)
}

pub fn hash_folder(folder: &Path, below: &str, hashes: &mut BTreeMap<String, Tree>) -> Result<(), LoadError> {
    let Ok(entries) = fs::read_dir(folder.join(below)) else { return Ok(()) };
    for entry in entries {
        let entry = entry.map_err(|_| LoadError::AssetUnreadable)?;
        let name = entry.file_name().into_string().map_err(|_| LoadError::AssetUnreadable)?;
        let path = format!("{below}/{name}");
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            hash_folder(folder, &path, hashes)?;
        } else {
            hashes.insert(path.clone(), Tree::Text(hash_of(folder, &path)?));
        }
    }
    Ok(())
}

pub fn hash_of(folder: &Path, path: &str) -> Result<String, LoadError> {
    sha256_below(folder, path).map_err(|fault| match fault {
        FileFault::Symlink => LoadError::Symlink,
        FileFault::Missing => LoadError::AssetMissing,
        FileFault::NotRegular | FileFault::TooLarge | FileFault::Unreadable => LoadError::AssetUnreadable,
    })
}
