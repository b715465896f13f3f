//! Files that survive a crash: whole when they are visible, private whatever the umask, never reached through a symlink.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, fchmod, fstat, linkat, mkdirat, openat, renameat, statat, unlinkat};
use rustix::io::Errno;

const PRIVATE_FILE: Mode = Mode::from_raw_mode(0o600);
const PRIVATE_FOLDER: Mode = Mode::from_raw_mode(0o700);

/// An open folder. Every name is resolved relative to it, so a path that is swapped afterwards changes nothing.
#[derive(Debug)]
pub struct Folder {
    fd: OwnedFd,
    path: PathBuf,
}

/// A folder isn't one that private files may be kept in.
#[derive(Debug, thiserror::Error)]
pub enum FolderFault {
    #[error("it is a symbolic link or not a folder")]
    NotAFolder,
    #[error("it belongs to another user")]
    OtherOwner,
    #[error("other users may write to it")]
    WritableByOthers,
    #[error("it can't be used: {0}")]
    Io(#[from] io::Error),
}

/// What a bounded read found.
#[derive(Debug, PartialEq, Eq)]
pub enum FileRead {
    Missing,
    /// The bytes and the permission bits.
    Content {
        bytes: Vec<u8>,
        mode: u32,
    },
    Unfit(Unfit),
}

/// Why a name is there and still can't be read as a file of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    #[error("it isn't a regular file")]
    NotARegularFile,
    #[error("it is larger than what is read here")]
    TooLarge,
}

/// Who made a file that only one may make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Creation {
    Won,
    Lost,
}

impl Folder {
    /// Opens a folder whose last path component isn't a symlink.
    pub fn open(path: &Path) -> Result<Self, FolderFault> {
        let fd = openat(rustix::fs::CWD, path, folder_flags(), Mode::empty()).map_err(folder_fault)?;
        Ok(Self { fd, path: path.to_owned() })
    }

    /// Opens a folder component by component, and refuses a symlink anywhere on the way. The path must be absolute.
    pub fn open_without_symlinks(path: &Path) -> Result<Self, FolderFault> {
        let mut fd = openat(rustix::fs::CWD, "/", passing_flags(), Mode::empty()).map_err(folder_fault)?;
        for component in path.components().skip(1) {
            fd = openat(&fd, component.as_os_str(), passing_flags(), Mode::empty()).map_err(folder_fault)?;
        }
        let fd = openat(&fd, ".", folder_flags(), Mode::empty()).map_err(folder_fault)?;
        Ok(Self { fd, path: path.to_owned() })
    }

    /// Opens or creates a sub-folder with mode 0700; one that exists must pass [`Self::make_private`].
    pub fn private_sub(&self, name: &str) -> Result<Self, FolderFault> {
        match mkdirat(&self.fd, name, PRIVATE_FOLDER) {
            Ok(()) => {
                rustix::fs::chmodat(&self.fd, name, PRIVATE_FOLDER, AtFlags::empty()).map_err(io::Error::from)?;
                self.sync()?;
            }
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(io::Error::from(errno).into()),
        }
        let sub = self.sub(name)?;
        sub.make_private()?;
        Ok(sub)
    }

    /// Opens a sub-folder that exists.
    pub fn sub(&self, name: &str) -> Result<Self, FolderFault> {
        let fd = openat(&self.fd, name, folder_flags(), Mode::empty()).map_err(folder_fault)?;
        Ok(Self { fd, path: self.path.join(name) })
    }

    /// Opens a folder that a relative path leads to from here, and refuses a symlink on the way. `.` is the folder itself.
    pub fn open_below(from: &Self, path: &str) -> Result<Self, FolderFault> {
        let mut fd = openat(&from.fd, ".", passing_flags(), Mode::empty()).map_err(folder_fault)?;
        for component in Path::new(path).components() {
            fd = openat(&fd, component.as_os_str(), passing_flags(), Mode::empty()).map_err(folder_fault)?;
        }
        let fd = openat(&fd, ".", folder_flags(), Mode::empty()).map_err(folder_fault)?;
        Ok(Self { fd, path: from.path.join(path) })
    }

    /// Refuses a folder that others own or may write to, and takes every right of others from one that is ours.
    pub fn make_private(&self) -> Result<(), FolderFault> {
        let stat = fstat(&self.fd).map_err(io::Error::from)?;
        if stat.st_uid != rustix::process::geteuid().as_raw() {
            return Err(FolderFault::OtherOwner);
        }
        if stat.st_mode & 0o022 != 0 {
            return Err(FolderFault::WritableByOthers);
        }
        if stat.st_mode & 0o777 != 0o700 {
            fchmod(&self.fd, PRIVATE_FOLDER).map_err(io::Error::from)?;
        }
        Ok(())
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// True while the path still leads to the folder that was opened.
    pub fn is_where_it_was(&self) -> bool {
        let (Ok(opened), Ok(named)) = (fstat(&self.fd), rustix::fs::lstat(&self.path)) else { return false };
        (opened.st_dev, opened.st_ino) == (named.st_dev, named.st_ino)
    }

    /// True when the name exists, whatever it is.
    pub fn has(&self, name: &str) -> io::Result<bool> {
        match statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(_) => Ok(true),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(false),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Reads a regular file of at most `limit` bytes.
    pub fn read(&self, name: &str, limit: usize) -> io::Result<FileRead> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match openat(&self.fd, name, flags, Mode::empty()) {
            Ok(fd) => File::from(fd),
            Err(Errno::NOENT) => return Ok(FileRead::Missing),
            Err(Errno::LOOP | Errno::NXIO) => return Ok(FileRead::Unfit(Unfit::NotARegularFile)),
            Err(errno) => return Err(errno.into()),
        };
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Ok(FileRead::Unfit(Unfit::NotARegularFile));
        }
        let mut bytes = Vec::new();
        file.take(limit as u64 + 1).read_to_end(&mut bytes)?;
        if bytes.len() > limit {
            return Ok(FileRead::Unfit(Unfit::TooLarge));
        }
        Ok(FileRead::Content { bytes, mode: metadata.permissions().mode() & 0o777 })
    }

    /// Replaces a file as a whole: after this returns, a crash shows the new content; before, the old one.
    pub fn write_durable(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.write_watched(name, bytes, || Ok(()))
    }

    /// The same, with something to be done before the new content is seen.
    pub fn write_watched(&self, name: &str, bytes: &[u8], before: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        let temporary = self.temporary(name, bytes, true)?;
        let renamed = before().and_then(|()| Ok(renameat(&self.fd, &temporary, &self.fd, name)?));
        self.discard_unless(renamed, &temporary)?;
        self.sync()
    }

    /// Replaces a file as a whole and leaves it to the system when it gets to the disk. For what can be made again.
    pub fn write_lightly(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let temporary = self.temporary(name, bytes, false)?;
        let renamed = renameat(&self.fd, &temporary, &self.fd, name).map_err(io::Error::from);
        self.discard_unless(renamed, &temporary)
    }

    /// Makes a file that must not exist yet. Of many callers exactly one wins, and the content is whole when the name is seen.
    pub fn create_once(&self, name: &str, bytes: &[u8]) -> io::Result<Creation> {
        let temporary = self.temporary(name, bytes, true)?;
        let linked = linkat(&self.fd, &temporary, &self.fd, name, AtFlags::empty());
        self.remove(&temporary)?;
        match linked {
            Ok(()) => self.sync().map(|()| Creation::Won),
            Err(Errno::EXIST) => Ok(Creation::Lost),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Moves a file to the first free name of `name.corrupt-1`, `name.corrupt-2` … so that a person can look at it. A symlink
    /// holds nothing to look at and is removed.
    pub fn set_aside(&self, name: &str) -> io::Result<()> {
        if statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode).is_symlink())
        {
            self.remove(name)?;
            return self.sync();
        }
        for number in 1..=MOST_SET_ASIDE {
            let aside = format!("{name}.corrupt-{number}");
            match linkat(&self.fd, name, &self.fd, aside, AtFlags::empty()) {
                Ok(()) => {
                    self.remove(name)?;
                    return self.sync();
                }
                Err(Errno::EXIST) => {}
                Err(Errno::NOENT) => return Ok(()),
                Err(errno) => return Err(errno.into()),
            }
        }
        Err(io::Error::other("too many corrupt copies of one file were set aside"))
    }

    /// Removes a file; one that is gone already is fine.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        match unlinkat(&self.fd, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Opens a lock file, made with mode 0600 when it is missing.
    pub fn lock_file(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = File::from(openat(&self.fd, name, flags, PRIVATE_FILE)?);
        if file.metadata()?.permissions().mode() & 0o777 != 0o600 {
            fchmod(&file, PRIVATE_FILE)?;
        }
        Ok(file)
    }

    /// Opens a lock file that exists.
    pub fn existing_lock_file(&self, name: &str) -> io::Result<Option<File>> {
        match openat(&self.fd, name, OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty()) {
            Ok(fd) => Ok(Some(File::from(fd))),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    pub fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(renameat(&self.fd, from, &self.fd, to)?)
    }

    /// The names in the folder, in no order. For start-up only: its cost grows with the folder.
    pub fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.fd)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if name != "." && name != ".." {
                names.push(name);
            }
        }
        Ok(names)
    }

    pub fn is_empty(&self) -> io::Result<bool> {
        for entry in rustix::fs::Dir::read_from(&self.fd)? {
            if !matches!(entry?.file_name().to_bytes(), b"." | b"..") {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&self.fd)?)
    }

    fn temporary(&self, name: &str, bytes: &[u8], synced: bool) -> io::Result<String> {
        let temporary = format!(".{name}.{}.tmp", uuid::Uuid::new_v4().simple());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(openat(&self.fd, &temporary, flags, PRIVATE_FILE)?);
        let written = fchmod(&file, PRIVATE_FILE)
            .map_err(io::Error::from)
            .and_then(|()| file.write_all(bytes))
            .and_then(|()| if synced { file.sync_all() } else { Ok(()) });
        match written {
            Ok(()) => Ok(temporary),
            Err(fault) => {
                self.remove(&temporary)?;
                Err(fault)
            }
        }
    }

    fn discard_unless(&self, renamed: io::Result<()>, temporary: &str) -> io::Result<()> {
        if renamed.is_err() {
            self.remove(temporary)?;
        }
        renamed
    }
}

/// The name of a file that isn't whole yet.
pub fn is_fragment(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(".tmp")
}

impl AsFd for Folder {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

const MOST_SET_ASIDE: u32 = 1000;

fn folder_flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

/// A folder on the way needs to be passed, not read.
fn passing_flags() -> OFlags {
    if cfg!(target_os = "linux") { folder_flags() | OFlags::PATH } else { folder_flags() }
}

fn folder_fault(errno: Errno) -> FolderFault {
    match errno {
        Errno::LOOP | Errno::NOTDIR => FolderFault::NotAFolder,
        errno => FolderFault::Io(errno.into()),
    }
}

#[cfg(test)]
mod tests;
