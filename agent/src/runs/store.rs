//! The run store of one runs folder: the door to its files, its stripes, its dispatch folders and the store of actions.

use std::io;
use std::path::Path;

use serde_json::{Map, Value};

use super::dispatch::Dispatch;
use super::files::FolderFault;
use super::fingerprint::Fingerprint;
use super::key::{FingerprintKey, KeyFault};
use super::ledger::{Ledger, LedgerFault};
use super::lock::StripeGuard;
use super::record::{RecordRead, RunRecord, wire};
use super::request_hash::{RequestHash, stripe_of_run};
use super::root::{RootFault, StoreRoot};
use super::server::{ServerId, ServerIdentity, sweep_dead};
use crate::contract::ids::{RequestId, RunId};
use crate::lifecycle::{Store, StoreFault};

/// An open store, and this server's place in it.
#[derive(Debug)]
pub struct RunStore {
    root: StoreRoot,
    key: FingerprintKey,
    server: ServerIdentity,
    actions: Store,
}

/// The store can't do what was asked. Sentences are for the operator and name no path.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error(transparent)]
    Root(#[from] RootFault),
    #[error(transparent)]
    Key(#[from] KeyFault),
    #[error(transparent)]
    Ledger(#[from] LedgerFault),
    #[error(transparent)]
    Actions(#[from] StoreFault),
    #[error("a folder of the store can't be used: {0}")]
    Folder(#[from] FolderFault),
    #[error("the store can't be read or written: {0}")]
    Io(#[from] io::Error),
}

/// What else is on disk about a run whose record is missing or corrupt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traces {
    /// The run was dispatched, or its dispatch was revoked.
    pub dispatch: bool,
    /// Flow made its run directory.
    pub run_dir: bool,
}

impl RunStore {
    /// Opens the store under a runs folder, as a server that is alive from now on. The ledger is opened apart from it, so
    /// that results can be read while a damaged ledger keeps runs from starting.
    pub fn open(runs_dir: &Path) -> Result<Self, StoreError> {
        let root = StoreRoot::open(runs_dir)?;
        let key = FingerprintKey::open(root.folder())?;
        let server = ServerIdentity::start(root.servers())?;
        let actions = Store::open(root.folder(), &key, server.id())?;
        Ok(Self { root, key, server, actions })
    }

    pub fn open_ledger(&self) -> Result<Ledger, LedgerFault> {
        Ledger::open(&self.root)
    }

    pub fn root(&self) -> &StoreRoot {
        &self.root
    }

    pub fn key(&self) -> &FingerprintKey {
        &self.key
    }

    /// The store of actions: what it says is so, and files are copies of it.
    pub fn actions(&self) -> &Store {
        &self.actions
    }

    pub fn dispatch(&self) -> Dispatch<'_> {
        Dispatch::new(&self.root)
    }

    pub fn server_id(&self) -> ServerId {
        self.server.id()
    }

    pub fn fingerprint(&self, workflow: &str, inputs: &Map<String, Value>) -> Fingerprint {
        Fingerprint::of(&self.key, workflow, inputs)
    }

    /// Waits for the stripe of a request. Blocks the thread.
    pub fn lock_request(&self, request_id: &RequestId) -> Result<StripeGuard, StoreError> {
        Ok(RequestHash::of(request_id).stripe().lock(self.root.locks())?)
    }

    /// Waits for the stripe under which a run's copies may be changed: its request's, or its own when it has none.
    pub fn lock_run(&self, run_id: &RunId, request_id: Option<&RequestId>) -> Result<StripeGuard, StoreError> {
        match request_id {
            Some(request_id) => self.lock_request(request_id),
            None => Ok(stripe_of_run(run_id).lock(self.root.locks())?),
        }
    }

    /// Reads one record; the cost doesn't depend on how many there are.
    pub fn read(&self, run_id: &RunId) -> Result<RecordRead, StoreError> {
        let file = self.root.records().read(&record_name(run_id), wire::RECORD_LIMIT)?;
        Ok(wire::read(file, run_id, &self.key))
    }

    /// Writes a record, whole and durable, with something to be done before it is seen.
    pub fn write_watched(&self, record: &RunRecord, before: impl FnOnce() -> io::Result<()>) -> Result<(), StoreError> {
        let bytes = wire::to_bytes(record, &self.key).map_err(io::Error::from)?;
        Ok(self.root.records().write_watched(&record_name(&record.run_id), &bytes, before)?)
    }

    /// Writes a record that the store can make again at any time.
    pub fn write_lightly(&self, record: &RunRecord) -> Result<(), StoreError> {
        let bytes = wire::to_bytes(record, &self.key).map_err(io::Error::from)?;
        Ok(self.root.records().write_lightly(&record_name(&record.run_id), &bytes)?)
    }

    /// Keeps a record that can't be believed beside its place, for a person to look at.
    pub fn set_aside(&self, run_id: &RunId) -> Result<(), StoreError> {
        Ok(self.root.records().set_aside(&record_name(run_id))?)
    }

    /// What is left of a run besides its record.
    pub fn traces(&self, run_id: &RunId) -> Result<Traces, StoreError> {
        Ok(Traces {
            dispatch: self.root.dispatch().has(run_id.as_str())?,
            run_dir: self.root.run_dir(run_id).symlink_metadata().is_ok(),
        })
    }

    /// Clears away the locks of dead servers. For start-up, off the path of any call.
    pub fn sweep(&self) -> Result<(), StoreError> {
        Ok(sweep_dead(self.root.servers())?)
    }
}

impl StoreError {
    /// What the operator can do.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Root(fault) => fault.hint(),
            Self::Key(fault) => fault.hint(),
            Self::Ledger(fault) => fault.hint(),
            Self::Actions(fault) => fault.hint(),
            Self::Folder(_) | Self::Io(_) => "check the permissions and the disk of the runs folder",
        }
    }
}

fn record_name(run_id: &RunId) -> String {
    format!("{run_id}.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store() -> (tempfile::TempDir, RunStore) {
        let temp = tempfile::tempdir().unwrap();
        let store = RunStore::open(&temp.path().join("runs")).unwrap();
        (temp, store)
    }

    #[test]
    fn a_run_leaves_traces_besides_its_record() {
        let (_temp, store) = store();
        let run_id = RunId::random();
        assert_eq!(store.traces(&run_id).unwrap(), Traces { dispatch: false, run_dir: false });
        store.dispatch().revoke_older(&run_id, store.server_id()).unwrap();
        std::fs::create_dir(store.root().run_dir(&run_id)).unwrap();
        assert_eq!(store.traces(&run_id).unwrap(), Traces { dispatch: true, run_dir: true });
    }

    #[test]
    fn the_runs_of_a_request_share_its_stripe_and_a_run_without_one_has_its_own() {
        let (_temp, store) = store();
        let (request_id, run_id) = (RequestId::parse("abcd").unwrap(), RunId::random());
        let stripe = store.lock_request(&request_id).unwrap().stripe();
        assert_eq!(store.lock_run(&run_id, None).unwrap().stripe(), stripe_of_run(&run_id));
        assert_eq!(store.lock_run(&run_id, Some(&request_id)).unwrap().stripe(), stripe);
    }

    #[test]
    fn a_server_that_starts_sweeps_what_dead_ones_left_and_stays_alive_itself() {
        let (temp, store) = store();
        let dead = RunStore::open(&temp.path().join("runs")).unwrap();
        let dead_id = dead.server_id();
        drop(dead);
        store.sweep().unwrap();
        let servers = store.root().servers();
        assert_eq!(servers.names().unwrap().len(), 1);
        assert!(store.server_id().is_alive(servers).unwrap());
        assert!(!dead_id.is_alive(servers).unwrap());
    }

    #[test]
    fn two_stores_on_one_folder_give_equal_work_equal_fingerprints() {
        let (temp, store) = store();
        let other = RunStore::open(&temp.path().join("runs")).unwrap();
        let inputs = serde_json::json!({"note": "x"}).as_object().unwrap().clone();
        assert_eq!(store.fingerprint("w", &inputs), other.fingerprint("w", &inputs));
    }
}
