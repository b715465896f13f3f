//! The folder of a skill: whole when it is there, and never written over anything that this program didn't write.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::bundle_copy;
use super::document::{MARK, SkillDocument};
use super::name::SkillName;
use crate::refusal::Refusal;

const SKILL_FILE: &str = "SKILL.md";
const BUNDLE: &str = "bundle";

/// Makes `<out>/<name>` with SKILL.md, and with the bundle where one is to be copied. An earlier one of the same name is
/// replaced as a whole.
pub fn write(
    out: &Path,
    name: &SkillName,
    document: &SkillDocument,
    bundle: Option<&Path>,
) -> Result<PathBuf, Refusal> {
    fs::create_dir_all(out).map_err(|error| not_written(&error))?;
    let folder = out.join(name.as_str());
    let earlier = is_there(&folder)?;
    if earlier && !is_ours(&folder) {
        return Err(Refusal::new(
            format!("the folder {name} is already there, and this program didn't write it"),
            "name another folder with --out, or move that one away",
        ));
    }
    // Made beside its place and moved there, so that a client never reads half a skill.
    let workshop =
        tempfile::Builder::new().prefix(".emit-skill-").tempdir_in(out).map_err(|error| not_written(&error))?;
    let made = workshop.path().join("new");
    fs::create_dir(&made)
        .and_then(|()| fs::write(made.join(SKILL_FILE), document.as_bytes()))
        .map_err(|error| not_written(&error))?;
    if let Some(bundle) = bundle {
        bundle_copy::copy(bundle, &made.join(BUNDLE), out)?;
    }
    if earlier {
        fs::rename(&folder, workshop.path().join("earlier")).map_err(|error| not_written(&error))?;
    }
    fs::rename(&made, &folder).map_err(|error| not_written(&error))?;
    Ok(folder)
}

fn is_there(folder: &Path) -> Result<bool, Refusal> {
    match folder.symlink_metadata() {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(not_written(&error)),
    }
}

/// A real folder that holds SKILL.md with this program's mark, perhaps a bundle, and nothing else.
fn is_ours(folder: &Path) -> bool {
    let is_folder = |path: &Path| path.symlink_metadata().is_ok_and(|facts| facts.is_dir());
    let is_file = |path: &Path| path.symlink_metadata().is_ok_and(|facts| facts.is_file());
    let Ok(entries) = fs::read_dir(folder) else { return false };
    let known = entries.flatten().all(|entry| match entry.file_name().to_str() {
        Some(SKILL_FILE) => is_file(&entry.path()),
        Some(BUNDLE) => is_folder(&entry.path()),
        _ => false,
    });
    known && is_folder(folder) && is_marked(&folder.join(SKILL_FILE))
}

fn is_marked(skill: &Path) -> bool {
    let text = fs::read_to_string(skill).unwrap_or_default();
    let front = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")).map(|(front, _)| front);
    front.is_some_and(|front| front.lines().any(|line| line.trim_start() == MARK))
}

fn not_written(error: &io::Error) -> Refusal {
    Refusal::new(format!("the skill can't be written: {error}"), "name a folder that you may write to with --out")
}

#[cfg(test)]
mod tests;
