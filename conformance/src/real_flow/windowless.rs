//! A browser that is meant to be seen, where nothing can show it: worlds have no display, and a live session of Flow asks for one.

use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::{env, fs, process};

/// The browsers of `folder`, the visible ones opened without a window.
pub fn of(folder: &Path) -> io::Result<PathBuf> {
    let made = folder.with_file_name("windowless");
    if made.is_dir() {
        return Ok(made);
    }
    let draft = folder.with_file_name(format!("windowless-{}", process::id()));
    fs::create_dir_all(&draft)?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let at = draft.join(entry.file_name());
        match entry.file_name().to_string_lossy().starts_with("chromium-") {
            true => without_window(&entry.path(), &at)?,
            false => symlink(entry.path(), at)?,
        }
    }
    // Somebody else may have been quicker.
    match fs::rename(&draft, &made) {
        Err(_) if made.is_dir() => fs::remove_dir_all(&draft)?,
        other => other?,
    }
    Ok(made)
}

fn without_window(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, at) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            without_window(&path, &at)?;
        } else if entry.file_name() == format!("chrome{}", env::consts::EXE_SUFFIX).as_str() {
            fs::write(&at, format!("#!/bin/sh\nexec '{}' --headless=new \"$@\"\n", path.canonicalize()?.display()))?;
            fs::set_permissions(&at, fs::Permissions::from_mode(0o755))?;
        } else {
            symlink(path, at)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_visible_browser_is_opened_differently() {
        let folder = tempfile::tempdir().unwrap();
        let browsers = folder.path().join("browsers");
        for (place, name) in [("chromium-1/chrome-linux64", "chrome"), ("chromium_headless_shell-1/x", "shell")] {
            fs::create_dir_all(browsers.join(place)).unwrap();
            symlink("/bin/echo", browsers.join(place).join(name)).unwrap();
        }
        let made = of(&browsers).unwrap();
        let said = process::Command::new(made.join("chromium-1/chrome-linux64/chrome")).arg("x").output().unwrap();
        assert_eq!(String::from_utf8_lossy(&said.stdout), "--headless=new x\n");
        assert!(made.join("chromium_headless_shell-1/x/shell").exists());
        assert_eq!(of(&browsers).unwrap(), made);
    }
}
