//! Bundles on disk: finding them, and loading one so that what is described is what was sealed.

use std::fs;
use std::path::{Path, PathBuf};

use super::defaults::Written;
use super::files::{self, FileFault};
use super::integrity::{self, Manifest};
use super::shape::Shape;
use crate::flow::canonical::{ParseFault, Tree};

/// The files that make a folder a bundle, in the order that ids are made of them.
pub const MARKERS: [&str; 2] = [PLAIN, ENCRYPTED];

/// A workflow file larger than this isn't read.
pub const WORKFLOW_LIMIT: usize = 16 << 20;

pub const ENCRYPTED: &str = "workflow.json.enc";
pub const SIDECAR: &str = "manifest.json";
const PLAIN: &str = "workflow.json";

/// Why a bundle can't be run from here. For the person at this computer; nothing of the bundle is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    #[error(
        "it is encrypted, and Flow didn't open it; OPENADAPT_BUNDLE_KEY has to be set where this server is started"
    )]
    Encrypted,
    #[error("the folder or one of its files is a symbolic link")]
    Symlink,
    #[error("the path of the folder isn't valid UTF-8")]
    PathNotUnicode,
    #[error("workflow.json can't be read")]
    Unreadable,
    #[error("workflow.json or manifest.json: {0}")]
    Parse(#[from] ParseFault),
    #[error("workflow.json isn't a JSON object")]
    NotAnObject,
    #[error("workflow.json has a schema_version that isn't known here")]
    Version,
    #[error("workflow.json has no name")]
    Name,
    #[error("the parameters in workflow.json aren't well-formed")]
    Params,
    #[error("the steps in workflow.json aren't well-formed")]
    Steps,
    #[error("two steps in workflow.json have the same id")]
    StepIds,
    #[error("the program in workflow.json has no entry state")]
    Program,
    #[error("workflow.json names a picture outside its folder")]
    AssetPath,
    #[error("the manifest isn't well-formed")]
    Manifest,
    #[error("workflow.json isn't what was sealed")]
    Digest,
    #[error("a sealed file is missing")]
    AssetMissing,
    #[error("a sealed file isn't what was sealed")]
    AssetChanged,
    #[error("a sealed file can't be read")]
    AssetUnreadable,
    #[error("the workflow was replaced after this server started")]
    Replaced,
}

/// A bundle that loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle {
    pub shape: Shape,
    pub seal: Seal,
    /// Of an encrypted bundle: one digest of the files that Flow decrypted.
    pub ciphertext: Option<String>,
}

/// Whether what was loaded is known to be what was saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seal {
    /// Checked against its manifest, whose content digest this is.
    Sealed(String),
    /// There is no manifest to check against. The digest is that of the bundle as it stands.
    Unsealed(String),
}

impl Seal {
    pub fn digest(&self) -> &str {
        let (Self::Sealed(digest) | Self::Unsealed(digest)) = self;
        digest
    }

    pub fn sealed(&self) -> Option<&str> {
        if let Self::Sealed(digest) = self { Some(digest) } else { None }
    }
}

/// The folder itself where it is a bundle, else those of its folders that are, by name.
pub fn discover(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut entries = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    if has_marker(folder) {
        return Ok(vec![folder.to_path_buf()]);
    }
    entries.sort_by_key(fs::DirEntry::file_name);
    Ok(entries.iter().map(fs::DirEntry::path).filter(|path| path.is_dir() && has_marker(path)).collect())
}

/// Whether the encrypted form is there. It wins over a plain one beside it.
pub fn is_encrypted(folder: &Path) -> bool {
    folder.join(ENCRYPTED).symlink_metadata().is_ok_and(|facts| facts.is_file())
}

/// Reads, checks and describes one bundle.
pub fn load(folder: &Path) -> Result<Bundle, LoadError> {
    let mut workflow = read_object(&folder.join(PLAIN))?;
    let shape = Shape::read(&mut workflow)?;
    let manifest = match workflow.get("manifest").filter(|manifest| !manifest.is_null()) {
        Some(embedded) => Manifest::read(embedded)?,
        None => sidecar(folder)?,
    };
    let seal = match manifest {
        Some(manifest) => Seal::Sealed(manifest.verify(workflow, folder)?),
        None => {
            let hashes = integrity::hashes_on_disk(&mut workflow, folder)?;
            Seal::Unsealed(integrity::content_digest(workflow, Written::Sparsely, hashes))
        }
    };
    Ok(Bundle { shape, seal, ciphertext: None })
}

/// Refuses a bundle that isn't to be looked into at all: of a path that no command line and no answer can carry, or behind a symbolic
/// link.
pub fn admit(folder: &Path, root: &Path) -> Result<(), LoadError> {
    if folder.to_str().is_none() {
        return Err(LoadError::PathNotUnicode);
    }
    let links = |path: &Path| path.symlink_metadata().is_ok_and(|facts| facts.is_symlink());
    if (folder != root && links(folder)) || MARKERS.iter().any(|marker| links(&folder.join(marker))) {
        return Err(LoadError::Symlink);
    }
    Ok(())
}

fn has_marker(folder: &Path) -> bool {
    MARKERS.iter().any(|marker| folder.join(marker).is_file())
}

fn sidecar(folder: &Path) -> Result<Option<Manifest>, LoadError> {
    let path = folder.join(SIDECAR);
    if path.symlink_metadata().is_err() {
        return Ok(None);
    }
    Manifest::read(&read_object(&path)?)
}

fn read_object(path: &Path) -> Result<Tree, LoadError> {
    let bytes = files::read(path, WORKFLOW_LIMIT).map_err(|fault| match fault {
        FileFault::Symlink => LoadError::Symlink,
        FileFault::TooLarge => ParseFault::TooLarge.into(),
        FileFault::Missing | FileFault::NotRegular | FileFault::Unreadable => LoadError::Unreadable,
    })?;
    let tree = Tree::parse(&bytes, WORKFLOW_LIMIT)?;
    if tree.as_map().is_some() { Ok(tree) } else { Err(LoadError::NotAnObject) }
}

#[cfg(test)]
mod tests;
