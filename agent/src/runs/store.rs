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
