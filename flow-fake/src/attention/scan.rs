//! Which folders below a runs folder are runs, and the opaque ids of their items.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::item;
use crate::canonical::sha256_hex;

const LEVELS: usize = 2;
const ID_LENGTH: usize = 24;

/// Every item, the newest first.
pub fn list(root: &Path) -> Vec<Value> {
    let mut items: Vec<Value> = run_folders(root).iter().filter_map(|folder| item(root, folder)).collect();
    items.sort_by(|left, right| right["created_at"].as_str().cmp(&left["created_at"].as_str()));
    items
}

/// The run folder behind an id, whether it needs attention or not.
pub fn resolve(root: &Path, id: &str) -> Option<PathBuf> {
    run_folders(root).into_iter().find(|folder| attention_id(root, folder).as_deref() == Some(id))
}

/// The id of a folder: digest of its path relative to the root, `.` for the root itself.
pub fn attention_id(root: &Path, folder: &Path) -> Option<String> {
    let relative = folder.strip_prefix(root).ok()?.to_str()?;
    let relative = if relative.is_empty() { "." } else { relative };
    Some(sha256_hex(relative)[..ID_LENGTH].to_owned())
}

/// The root and two levels below it; no link is followed, and a run folder isn't looked into.
pub fn run_folders(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut level = vec![root.to_owned()];
    for depth in 0..=LEVELS {
        let mut next = Vec::new();
        for folder in level {
            if is_regular(&folder.join("report.json")) {
                found.push(folder);
            } else if depth < LEVELS {
                next.extend(folders_in(&folder));
            }
        }
        level = next;
    }
    found.sort();
    found
}

fn is_regular(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_file())
}

fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let folders = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    folders.map(|entry| entry.path()).collect()
}
