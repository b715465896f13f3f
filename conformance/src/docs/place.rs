//! Where blocks are run: the workspace, the programs that were built, and what an empty home needs to find them.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// Programs that a page may call by name, and what stands in for the one that isn't built here.
const PROGRAMS: [(&str, &str); 5] = [
    ("openadapt-agent", "openadapt-agent"),
    ("flow-fake", "flow-fake"),
    ("mockmed", "mockmed"),
    ("conformance", "conformance"),
    ("openadapt-flow", "flow-fake"),
];

#[derive(Debug)]
pub struct Place {
    pub root: PathBuf,
    /// Where cargo put the programs.
    pub built: PathBuf,
    bin: TempDir,
}

/// A home and a folder to work in, both new, with the example workflows in `workflows`.
#[derive(Debug)]
pub struct Room {
    folder: TempDir,
}

impl Place {
    pub fn new(root: &Path, built: &Path) -> io::Result<Self> {
        let bin = tempfile::tempdir()?;
        for (name, program) in PROGRAMS {
            symlink(built.join(program), bin.path().join(name))?;
        }
        Ok(Self { root: root.canonicalize()?, built: built.to_owned(), bin })
    }

    pub fn room(&self) -> io::Result<Room> {
        let folder = tempfile::tempdir()?;
        fs::create_dir(folder.path().join("home"))?;
        copy(&self.examples(), &folder.path().join("here/workflows"))?;
        Ok(Room { folder })
    }

    /// `/path/to/…` as it is on this machine.
    pub fn filled(&self, text: &str) -> String {
        text.replace("/path/to/target/release", &self.built.display().to_string())
            .replace("/path/to/workflows", &self.examples().display().to_string())
    }

    /// All that a program gets to know of this machine.
    pub fn environment(&self, room: &Room) -> Vec<(&'static str, OsString)> {
        let mut path = self.bin.path().as_os_str().to_owned();
        path.push(":/usr/local/bin:/usr/bin:/bin");
        vec![("HOME", room.home().into_os_string()), ("PATH", path)]
    }

    /// Where a program that a page calls by name is.
    pub fn program(&self, name: &str) -> PathBuf {
        if PROGRAMS.iter().any(|(known, _)| *known == name) { self.bin.path().join(name) } else { name.into() }
    }

    /// An MCP bundle's folder, as a host unpacks it.
    pub fn unpacked(&self) -> io::Result<PathBuf> {
        let server = self.bin.path().join("bundle/server");
        fs::create_dir_all(&server)?;
        symlink(self.built.join("openadapt-agent"), server.join("openadapt-agent"))?;
        Ok(self.bin.path().join("bundle"))
    }

    /// Where `cargo install` puts a program.
    pub fn installed(&self) -> PathBuf {
        self.bin.path().join("installed")
    }

    pub fn examples(&self) -> PathBuf {
        self.root.join("docs/examples/workflows")
    }
}

impl Room {
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub fn here(&self) -> PathBuf {
        self.folder.path().join("here")
    }
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => copy(&entry.path(), &target)?,
            false => drop(fs::copy(entry.path(), target)?),
        }
    }
    Ok(())
}
