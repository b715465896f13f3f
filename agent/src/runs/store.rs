//! The run store of one runs folder: the door to records, stripes, dispatch and the gate.

use std::io;
use std::path::Path;

use serde_json::{Map, Value};

use super::dispatch::Dispatch;
use super::files::FolderFault;
use super::fingerprint::Fingerprint;
use super::gate::History;
use super::key::{FingerprintKey, KeyFault};
use super::ledger::{Ledger, LedgerFault};
use super::lock::StripeGuard;
use super::record::owner::this_host;
use super::record::{Process, RecordRead, RunRecord, wire};
use super::request_hash::{RequestHash, stripe_of_run};
use super::root::{RootFault, StoreRoot};
use super::server::{ServerId, ServerIdentity, sweep_dead};
use crate::contract::ids::{RequestId, RunId};

/// An open store, and this server's place in it.
#[derive(Debug)]
pub struct RunStore {
    root: StoreRoot,
    key: FingerprintKey,
    server: ServerIdentity,
    host: String,
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
        Ok(Self { root, key, server, host: this_host() })
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

    pub fn dispatch(&self) -> Dispatch<'_> {
        Dispatch::new(&self.root)
    }

    pub fn server_id(&self) -> ServerId {
        self.server.id()
    }

    /// This server, as a record names its owner.
    pub fn this_process(&self) -> Process {
        Process::Server { id: self.server.id(), pid: std::process::id(), host: self.host.clone() }
    }

    /// A server on this host, as a record names its owner.
    pub fn process_of(&self, owner: ServerId) -> Process {
        Process::Server { id: owner, pid: std::process::id(), host: self.host.clone() }
    }

    pub fn fingerprint(&self, workflow: &str, inputs: &Map<String, Value>) -> Fingerprint {
        Fingerprint::of(&self.key, workflow, inputs)
    }

    /// The runs that answer for a request, where it is known for this work. Takes no stripe: a call that would start
    /// nothing only reads.
    pub fn known_runs(&self, request_id: &RequestId, fingerprint: &Fingerprint) -> Result<Vec<RunId>, StoreError> {
        Ok(History::read(self, &RequestHash::of(request_id))?.latest_of(fingerprint))
    }

    /// Waits for the stripe of a request. Blocks the thread.
    pub fn lock_request(&self, request_id: &RequestId) -> Result<StripeGuard, StoreError> {
        Ok(RequestHash::of(request_id).stripe().lock(self.root.locks())?)
    }

    /// Waits for the stripe under which a run's record may be changed: its request's, or its own when it has none.
    pub fn lock_record(&self, record: &RunRecord) -> Result<StripeGuard, StoreError> {
        match &record.request_id {
            Some(request_id) => self.lock_request(request_id),
            None => Ok(stripe_of_run(&record.run_id).lock(self.root.locks())?),
        }
    }

    /// Reads one record; the cost doesn't depend on how many there are.
    pub fn read(&self, run_id: &RunId) -> Result<RecordRead, StoreError> {
        let file = self.root.records().read(&record_name(run_id), wire::RECORD_LIMIT)?;
        Ok(wire::read(file, run_id, &self.key))
    }

    /// Writes a record, whole and durable.
    pub fn write(&self, record: &RunRecord) -> Result<(), StoreError> {
        let bytes = wire::to_bytes(record, &self.key).map_err(io::Error::from)?;
        Ok(self.root.records().write_durable(&record_name(&record.run_id), &bytes)?)
    }

    /// Writes a record over one that can't be believed, which is kept beside it for a person to look at.
    pub fn replace_corrupt(&self, record: &RunRecord) -> Result<(), StoreError> {
        self.root.records().set_aside(&record_name(&record.run_id))?;
        self.write(record)
    }

    /// What is left of a run besides its record.
    pub fn traces(&self, run_id: &RunId) -> Result<Traces, StoreError> {
        Ok(Traces {
            dispatch: self.root.dispatch().has(run_id.as_str())?,
            run_dir: self.root.run_dir(run_id).symlink_metadata().is_ok(),
        })
    }

    /// Clears away what dead servers and keepers left. For start-up, off the path of any call.
    pub fn sweep(&self) -> Result<(), StoreError> {
        self.dispatch().sweep_params(self.server.id())?;
        Ok(sweep_dead(self.root.servers())?)
    }

    pub(super) fn forget(&self, run_id: &RunId) -> Result<(), StoreError> {
        Ok(self.root.records().remove(&record_name(run_id))?)
    }
}

impl StoreError {
    /// What the operator can do.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Root(fault) => fault.hint(),
            Self::Key(fault) => fault.hint(),
            Self::Ledger(fault) => fault.hint(),
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
    use crate::contract::outcome::Mode;
    use crate::runs::record::Phase;

    fn store() -> (tempfile::TempDir, RunStore) {
        let temp = tempfile::tempdir().unwrap();
        let store = RunStore::open(&temp.path().join("runs")).unwrap();
        (temp, store)
    }

    fn refusal(store: &RunStore) -> RunRecord {
        RunRecord {
            run_id: RunId::random(),
            request_id: None,
            workflow: None,
            mode: Mode::Production,
            started_at: "2026-11-29T18:38:07.371259+00:00".to_owned(),
            process: store.this_process(),
            attempt: None,
            phase: Phase::Running,
            evidence: Map::new(),
        }
    }

    #[test]
    fn a_run_leaves_traces_besides_its_record() {
        let (_temp, store) = store();
        let run_id = RunId::random();
        assert_eq!(store.traces(&run_id).unwrap(), Traces { dispatch: false, run_dir: false });
        store.dispatch().revoke(&run_id, store.server_id()).unwrap();
        std::fs::create_dir(store.root().run_dir(&run_id)).unwrap();
        assert_eq!(store.traces(&run_id).unwrap(), Traces { dispatch: true, run_dir: true });
    }

    #[test]
    fn the_runs_of_a_request_share_its_stripe_and_a_run_without_one_has_its_own() {
        let (_temp, store) = store();
        let request_id = RequestId::parse("abcd").unwrap();
        let stripe = store.lock_request(&request_id).unwrap().stripe();
        let record = refusal(&store);
        assert_eq!(store.lock_record(&record).unwrap().stripe(), stripe_of_run(&record.run_id));
        let attempt = RunRecord { request_id: Some(request_id), ..record };
        assert_eq!(store.lock_record(&attempt).unwrap().stripe(), stripe);
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
