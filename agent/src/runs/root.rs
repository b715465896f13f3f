//! The runs folder and the store in it: made private, or refused with a sentence that says what to do.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::files::{Folder, FolderFault};
use crate::contract::ids::RunId;

/// `<runs>` with `<runs>/openadapt-agent` and its folders, open.
#[derive(Debug)]
pub struct StoreRoot {
    runs: PathBuf,
    root: Folder,
    records: Folder,
    requests: Folder,
    locks: Folder,
    servers: Folder,
    dispatch: Folder,
    params: Folder,
}

/// The runs folder can't be used as it is. No path is named: the operator knows which one was asked for.
#[derive(Debug, thiserror::Error)]
pub enum RootFault {
    #[error("the runs folder can't be made or found: {0}")]
    NoRunsFolder(io::Error),
    #[error("the path of the runs folder isn't valid UTF-8")]
    PathNotUnicode,
    #[error("the runs folder can't be used: {0}")]
    RunsFolder(FolderFault),
    #[error("the runs folder may be read by other users and holds files that aren't the agent's")]
    RunsFolderShared,
    #[error("the folder {folder} in the runs folder can't be used: {fault}")]
    StoreFolder { folder: &'static str, fault: FolderFault },
}

impl StoreRoot {
    /// Opens the store under a runs folder, and makes what is missing. `runs_dir` itself may be reached through symlinks;
    /// nothing inside it may be one.
    pub fn open(runs_dir: &Path) -> Result<Self, RootFault> {
        make_missing(runs_dir).map_err(RootFault::NoRunsFolder)?;
        let runs = runs_dir.canonicalize().map_err(RootFault::NoRunsFolder)?;
        if runs.to_str().is_none() {
            return Err(RootFault::PathNotUnicode);
        }
        let folder = Folder::open_without_symlinks(&runs).map_err(RootFault::RunsFolder)?;
        refuse_shared(&folder)?;
        folder.make_private().map_err(RootFault::RunsFolder)?;
        let root = sub(&folder, STORE)?;
        Ok(Self {
            records: sub(&root, "runs")?,
            requests: sub(&root, "requests")?,
            locks: sub(&root, "locks")?,
            servers: sub(&root, "servers")?,
            dispatch: sub(&root, "dispatch")?,
            params: sub(&root, "params")?,
            runs,
            root,
        })
    }

    /// The canonical runs folder, where Flow's run directories are.
    pub fn runs_dir(&self) -> &Path {
        &self.runs
    }

    /// True while the store's folders are the ones that were opened. What is missing from a folder that was taken away proves nothing.
    pub fn is_where_it_was(&self) -> bool {
        [&self.root, &self.records, &self.dispatch].into_iter().all(Folder::is_where_it_was)
    }

    /// Where Flow keeps its own files of a run.
    pub fn run_dir(&self, run_id: &RunId) -> PathBuf {
        self.runs.join(run_id.as_str())
    }

    /// `<runs>/openadapt-agent`.
    pub fn folder(&self) -> &Folder {
        &self.root
    }

    pub fn records(&self) -> &Folder {
        &self.records
    }

    pub fn requests(&self) -> &Folder {
        &self.requests
    }

    pub fn locks(&self) -> &Folder {
        &self.locks
    }

    pub fn servers(&self) -> &Folder {
        &self.servers
    }

    pub fn dispatch(&self) -> &Folder {
        &self.dispatch
    }

    /// Inputs of runs under way. Apart from the dispatch folders, so that a sweep costs as much as there are open runs.
    pub fn params(&self) -> &Folder {
        &self.params
    }
}

impl RootFault {
    /// What the operator can do.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoRunsFolder(_) | Self::PathNotUnicode => "choose another folder with --runs-dir",
            Self::RunsFolderShared => {
                "run chmod 700 on it if only you use it, or choose another folder with --runs-dir"
            }
            Self::RunsFolder(fault) | Self::StoreFolder { fault, .. } => match fault {
                FolderFault::NotAFolder => "move it aside, or choose another folder with --runs-dir",
                FolderFault::OtherOwner => {
                    "start the server as the user who owns it, or choose another folder with --runs-dir"
                }
                FolderFault::WritableByOthers => {
                    "check what is in it, then run chmod 700 on it, or choose another folder with --runs-dir"
                }
                FolderFault::Io(_) => "check its permissions and its disk, or choose another folder with --runs-dir",
            },
        }
    }
}

/// The agent's own folder in a runs folder.
pub const STORE: &str = "openadapt-agent";

/// Makes the folder and the parents that are missing, each 0700 whatever the umask.
fn make_missing(path: &Path) -> io::Result<()> {
    let missing: Vec<&Path> = path.ancestors().take_while(|path| is_missing(path)).collect();
    for path in missing.into_iter().rev() {
        match fs::create_dir(path) {
            Ok(()) => fs::set_permissions(path, fs::Permissions::from_mode(0o700))?,
            Err(fault) if fault.kind() == io::ErrorKind::AlreadyExists => {}
            Err(fault) => return Err(fault),
        }
    }
    Ok(())
}

fn is_missing(path: &Path) -> bool {
    path != Path::new("") && fs::symlink_metadata(path).is_err_and(|fault| fault.kind() == io::ErrorKind::NotFound)
}

/// A folder that others read and that holds somebody's files may be meant to be read. It is tightened only when it is
/// empty or known to be a runs folder (docs/decisions/0004-runs-folder-modes.md).
fn refuse_shared(folder: &Folder) -> Result<(), RootFault> {
    let fault = |fault: io::Error| RootFault::RunsFolder(fault.into());
    let read_by_others = rustix::fs::fstat(folder).map_err(|errno| fault(errno.into()))?.st_mode & 0o055 != 0;
    if read_by_others && !folder.has(STORE).map_err(fault)? && !folder.is_empty().map_err(fault)? {
        return Err(RootFault::RunsFolderShared);
    }
    Ok(())
}

fn sub(parent: &Folder, name: &'static str) -> Result<Folder, RootFault> {
    parent.private_sub(name).map_err(|fault| RootFault::StoreFolder { folder: name, fault })
}

#[cfg(test)]
mod tests;
