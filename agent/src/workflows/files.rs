//! Reading files of a bundle: regular ones, of bounded size, never through a symbolic link.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::flow::canonical::hex;

/// Why a file of a bundle wasn't read. The path is never part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileFault {
    Missing,
    Symlink,
    NotRegular,
    TooLarge,
    Unreadable,
}

/// The bytes of a regular file of at most `limit` bytes.
pub fn read(path: &Path, limit: usize) -> Result<Vec<u8>, FileFault> {
    let mut bytes = Vec::new();
    let beyond = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    open(path)?.take(beyond).read_to_end(&mut bytes).map_err(|_| FileFault::Unreadable)?;
    if bytes.len() > limit { Err(FileFault::TooLarge) } else { Ok(bytes) }
}

/// The SHA-256 of a file at a path relative to `root`, none of whose parts is a symbolic link.
pub fn sha256_below(root: &Path, relative: &str) -> Result<String, FileFault> {
    let relative = inside(relative).ok_or(FileFault::NotRegular)?;
    let mut path = root.to_path_buf();
    for part in relative.parent().into_iter().flat_map(Path::components) {
        path.push(part);
        if path.symlink_metadata().map_err(fault)?.is_symlink() {
            return Err(FileFault::Symlink);
        }
    }
    let mut file = open(&root.join(&relative))?;
    let mut hasher = Sha256::new();
    io::copy(&mut file, &mut hasher).map_err(|_| FileFault::Unreadable)?;
    Ok(hex(&hasher.finalize()))
}

/// A relative path that stays inside the folder it is joined to; nothing for any other.
pub fn inside(relative: &str) -> Option<PathBuf> {
    let odd = relative.is_empty() || relative.contains(['\\', '\0']);
    let path = Path::new(relative);
    let plain = path.components().all(|part| matches!(part, Component::Normal(_)));
    (!odd && plain).then(|| path.to_path_buf())
}

fn open(path: &Path) -> Result<File, FileFault> {
    let facts = path.symlink_metadata().map_err(fault)?;
    match facts.file_type() {
        kind if kind.is_symlink() => Err(FileFault::Symlink),
        kind if kind.is_file() => File::open(path).map_err(fault),
        _ => Err(FileFault::NotRegular),
    }
}

fn fault(error: io::Error) -> FileFault {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => FileFault::Missing,
        _ => FileFault::Unreadable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_relative_paths_stay_inside() {
        for good in ["a", "templates/a.png", "templates/über/a b.png", "a..b"] {
            assert!(inside(good).is_some(), "{good}");
        }
        for bad in ["", "/", "/etc/hosts", "..", "../a", "a/../b", "./a", "a\\b", "C:\\x", "a\0b"] {
            assert!(inside(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn reading_stops_at_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        std::fs::write(&path, "1234").unwrap();
        assert_eq!(read(&path, 4), Ok(b"1234".to_vec()));
        assert_eq!(read(&path, 3), Err(FileFault::TooLarge));
    }

    #[cfg(unix)]
    #[test]
    fn links_folders_and_pipes_are_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("d")).unwrap();
        std::fs::write(at("d/f"), "x").unwrap();
        std::os::unix::fs::symlink(at("d/f"), at("link")).unwrap();
        std::os::unix::fs::symlink(at("d"), at("linked")).unwrap();
        assert_eq!(read(&at("link"), 9), Err(FileFault::Symlink));
        assert_eq!(read(&at("d"), 9), Err(FileFault::NotRegular));
        assert_eq!(read(&at("none"), 9), Err(FileFault::Missing));
        assert!(sha256_below(folder.path(), "d/f").is_ok());
        assert_eq!(sha256_below(folder.path(), "linked/f"), Err(FileFault::Symlink));
        assert_eq!(sha256_below(folder.path(), "link"), Err(FileFault::Symlink));
        assert_eq!(sha256_below(folder.path(), "d/f/g"), Err(FileFault::Missing));
    }
}
