//! The compiled bundle beside a skill: regular files only, private, and loadable as the same workflow.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use crate::refusal::Refusal;
use crate::workflows::Catalog;

/// No bundle has folders in folders in folders.
const DEEPEST: usize = 8;

/// Copies the bundle at `from` to `to`, a folder that isn't there yet, somewhere below `out`.
pub fn copy(from: &Path, to: &Path, out: &Path) -> Result<(), Refusal> {
    let place = |path: &Path| path.canonicalize().map_err(|error| not_copied(&error));
    if place(out)?.starts_with(place(from)?) {
        return Err(Refusal::new(
            "the skill would be written into the bundle itself",
            "name a folder outside it with --out",
        ));
    }
    copy_folder(from, to, DEEPEST)?;
    let id_of = |folder: &Path| {
        Catalog::discover(folder, &|_| None).ok()?.iter().next().map(|workflow| workflow.public_id.clone())
    };
    if id_of(to).is_none() || id_of(to) != id_of(from) {
        return Err(Refusal::new(
            "the bundle changed while it was copied",
            "call it again when Flow isn't writing to it",
        ));
    }
    Ok(())
}

fn copy_folder(from: &Path, to: &Path, depth: usize) -> Result<(), Refusal> {
    fs::DirBuilder::new().mode(0o700).create(to).map_err(|error| not_copied(&error))?;
    for entry in fs::read_dir(from).map_err(|error| not_copied(&error))? {
        let entry = entry.map_err(|error| not_copied(&error))?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().map_err(|error| not_copied(&error))?;
        match kind {
            // Editors and synchronizers leave these; none belongs to a bundle.
            _ if entry.file_name().as_encoded_bytes().starts_with(b".") => {}
            kind if kind.is_dir() && depth > 0 => copy_folder(&source, &target, depth - 1)?,
            kind if kind.is_file() => copy_file(&source, &target).map_err(|error| not_copied(&error))?,
            _ => {
                return Err(Refusal::new(
                    "the bundle holds something that is neither a file nor a folder",
                    "a bundle with symbolic links isn't copied; emit the skill without --include-bundle",
                ));
            }
        }
    }
    Ok(())
}

fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    let mut source = fs::File::open(from)?;
    let mut target = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(to)?;
    io::copy(&mut source, &mut target).map(drop)
}

fn not_copied(error: &io::Error) -> Refusal {
    Refusal::new(
        format!("the bundle can't be copied: {error}"),
        "emit the skill without --include-bundle, or name another folder with --out",
    )
}
