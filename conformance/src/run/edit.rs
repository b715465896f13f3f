//! Changes to files that a scenario makes behind the agent's back.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::path::Path;

use rusqlite::Connection;
use rustix::fs::OFlags;
use serde_json::Value;

use super::special;
use super::world::{octal, unhex};
use crate::scenario::files::Edit;

pub fn edit(edit: &Edit) -> io::Result<()> {
    let path = Path::new(&edit.edit);
    if !path.is_absolute() {
        return Err(bad(format!("{} is no absolute path", edit.edit)));
    }
    if !edit.set.is_empty() || !edit.remove.is_empty() {
        change_json(path, edit)?;
    }
    if let Some(text) = &edit.text {
        fs::write(path, text)?;
    }
    if let Some(json) = &edit.json {
        fs::write(path, json.to_string())?;
    }
    if let Some(hex) = &edit.hex {
        fs::write(path, unhex(hex).ok_or_else(|| bad("the text is no hex".into()))?)?;
    }
    if let Some(text) = &edit.append {
        // A pipe that nobody reads is a fault of the scenario, and not waited for.
        let unblocked = OFlags::NONBLOCK.bits().cast_signed();
        OpenOptions::new().append(true).custom_flags(unblocked).open(path)?.write_all(text.as_bytes())?;
    }
    if let Some(length) = edit.truncate {
        OpenOptions::new().write(true).open(path)?.set_len(length)?;
    }
    if !edit.sqlite.is_empty() {
        statements(path, &edit.sqlite).map_err(io::Error::other)?;
    }
    if let Some(target) = &edit.copy_to {
        fs::copy(path, target)?;
    }
    if let Some(target) = &edit.rename_to {
        fs::rename(path, target)?;
    }
    let replaced = edit.symlink_to.is_some() || edit.hard_link_to.is_some() || edit.fifo || edit.socket;
    if edit.delete || replaced {
        remove(path)?;
    }
    if let Some(target) = &edit.hard_link_to {
        fs::hard_link(target, path)?;
    }
    if edit.fifo {
        special::fifo(path)?;
    }
    if edit.socket {
        special::socket(path)?;
    }
    if let Some(target) = &edit.symlink_to {
        symlink(target, path)?;
    }
    if let Some(mode) = &edit.mode {
        let mode = octal(mode).map_err(|error| bad(error.to_string()))?;
        fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
    }
    Ok(())
}

fn change_json(path: &Path, edit: &Edit) -> io::Result<()> {
    let mut whole: Value = serde_json::from_slice(&fs::read(path)?)?;
    for (pointer, value) in &edit.set {
        *place(&mut whole, pointer)? = value.clone();
    }
    for pointer in &edit.remove {
        let (parent, key) = pointer.rsplit_once('/').ok_or_else(|| bad(format!("{pointer:?} is no JSON pointer")))?;
        let parent = whole.pointer_mut(parent).and_then(Value::as_object_mut);
        let gone = parent.and_then(|parent| parent.remove(key));
        gone.ok_or_else(|| bad(format!("nothing is at {pointer}")))?;
    }
    fs::write(path, whole.to_string())
}

/// The value at a pointer; a missing last key is added.
fn place<'v>(whole: &'v mut Value, pointer: &str) -> io::Result<&'v mut Value> {
    if whole.pointer(pointer).is_none() {
        let (parent, key) = pointer.rsplit_once('/').ok_or_else(|| bad(format!("{pointer:?} is no JSON pointer")))?;
        let parent = whole.pointer_mut(parent).and_then(Value::as_object_mut);
        let parent = parent.ok_or_else(|| bad(format!("no object is above {pointer}")))?;
        parent.insert(key.to_owned(), Value::Null);
    }
    whole.pointer_mut(pointer).ok_or_else(|| bad(format!("nothing is at {pointer}")))
}

fn statements(path: &Path, statements: &[String]) -> rusqlite::Result<()> {
    let connection = Connection::open(path)?;
    statements.iter().try_for_each(|statement| connection.execute_batch(statement))
}

fn remove(path: &Path) -> io::Result<()> {
    if !path.is_dir() || path.is_symlink() {
        return fs::remove_file(path);
    }
    // A server may write into it meanwhile.
    for _ in 0..MOST_REMOVALS {
        match fs::remove_dir_all(path) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
            removed => return removed,
        }
    }
    Err(bad(format!("{} is filled as fast as it is emptied", path.display())))
}

const MOST_REMOVALS: u32 = 1000;

fn bad(problem: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, problem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Map, json};

    #[test]
    fn pointers_are_set_added_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        fs::write(&path, r#"{"result":{"reason":"x","gone":1}}"#).unwrap();
        let wanted = Edit {
            edit: path.display().to_string(),
            set: Map::from_iter([("/result/reason".into(), json!("y")), ("/new".into(), json!(2))]),
            remove: vec!["/result/gone".into()],
            ..Edit::default()
        };
        edit(&wanted).unwrap();
        let after: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        assert_eq!(after, json!({"result": {"reason": "y"}, "new": 2}));
    }

    #[test]
    fn an_edit_of_something_that_is_not_there_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        let missing = Edit { edit: path.display().to_string(), delete: true, ..Edit::default() };
        assert!(edit(&missing).is_err());
    }
}
