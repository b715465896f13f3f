//! Which runs folder a command is about, and the store of actions in it, looked at without leaving anything behind.

use std::path::PathBuf;

use super::serve_options::{self, Surroundings};
use crate::lifecycle::{Store, StoreFault};
use crate::refusal::Refusal;
use crate::runs::files::{Folder, FolderFault};
use crate::runs::key::FingerprintKey;
use crate::runs::root::STORE;

#[derive(Debug, clap::Args)]
pub struct RunsFolder {
    /// Where runs and their records are kept [default: $OPENADAPT_AGENT_RUNS_DIR, else ~/.openadapt/runs].
    #[arg(long, value_name = "DIR")]
    runs_dir: Option<PathBuf>,
}

impl RunsFolder {
    pub fn path(&self) -> Result<PathBuf, Refusal> {
        serve_options::runs_dir(self.runs_dir.clone(), &Surroundings::of_this_process())
    }

    /// `None` where no agent has kept anything yet.
    pub fn look(&self) -> Result<Option<Store>, Refusal> {
        let Ok(runs) = self.path()?.canonicalize() else { return Ok(None) };
        let root = match Folder::open(&runs.join(STORE)) {
            Ok(root) => root,
            Err(FolderFault::Io(fault)) if fault.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(fault) => return Err(refused(&StoreFault::from(fault))),
        };
        let key = FingerprintKey::existing(&root).map_err(|fault| Refusal::new(fault.to_string(), fault.hint()))?;
        let Some(key) = key else { return Ok(None) };
        Store::open_to_look(&root, &key).map_err(|fault| refused(&fault))
    }
}

pub fn refused(fault: &StoreFault) -> Refusal {
    Refusal::new(fault.to_string(), fault.hint())
}
