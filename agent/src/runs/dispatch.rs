//! Dispatch: what was to be started, who took it, and how it ended. A run's keeper and its servers meet here, and nowhere else.

mod desk;
mod sweep;

use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::clock::utc_now;
use super::files::{Creation, FileRead, Folder, FolderFault};
use super::lock::{Held, look};
use super::record::AttemptOf;
use super::root::StoreRoot;
use super::server::ServerId;
use crate::contract::ids::{RequestId, RunId};
use crate::contract::outcome::Mode;

pub use desk::{Claimed, Entry, enter};

/// The dispatch folders of one store.
#[derive(Debug, Clone, Copy)]
pub struct Dispatch<'a> {
    root: &'a StoreRoot,
}

/// Proof that a dispatch intent was committed. Only a committed intent makes one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Token(String);

/// What a keeper is to start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    pub run_id: RunId,
    /// Flow's command line, program first.
    pub argv: Vec<String>,
    /// Flow's own run directory, absent until Flow makes it.
    pub run_dir: PathBuf,
    /// Time a person spends approving doesn't count.
    pub time_limit_ms: u64,
    /// What the run's record said, so that a lost record can be written again.
    pub of: Origin,
}

/// The part of a record that stands before anything runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    pub request_id: Option<RequestId>,
    pub workflow: Option<String>,
    pub mode: Mode,
    pub started_at: String,
    pub attempt: Option<AttemptOf>,
}

/// The committed intent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intent {
    pub order: Order,
    pub token: Token,
    pub owner: ServerId,
    pub committed_at: String,
}

/// How the process that ran Flow ended, written by its keeper.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExitFacts {
    pub end: FlowEnd,
    /// The time limit was reached and the process group was killed.
    pub timed_out: bool,
    /// `None` when Flow never started.
    pub started_at: Option<String>,
    pub ended_at: String,
    /// Wall time in seconds.
    pub seconds: f64,
    /// SHA-256 of report.json as it was at the exit, if there was one.
    pub report_sha256: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FlowEnd {
    /// The system refused to start the program.
    NeverStarted,
    Exited(i32),
    Signaled(i32),
}

/// Where a dispatch stands.
#[derive(Debug, Clone, PartialEq)]
pub enum DispatchState {
    /// Nothing was committed.
    NoIntent,
    /// Committed, and no keeper has taken it yet. It can still be revoked.
    Unclaimed,
    /// No keeper will ever take it: nothing started.
    Revoked,
    KeeperAlive,
    Exited(ExitFacts),
    /// A keeper took it and is gone without exit facts that can be read.
    KeeperDied,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Revocation {
    /// Proof that nothing was started and nothing will be.
    Revoked,
    /// A keeper was faster.
    KeeperClaimed,
}

impl<'a> Dispatch<'a> {
    pub fn new(root: &'a StoreRoot) -> Self {
        Self { root }
    }

    /// The folder that a keeper is told of.
    pub fn folder(&self, run_id: &RunId) -> PathBuf {
        self.root.dispatch().path().join(run_id.as_str())
    }

    /// Where the inputs of a run are while it needs them.
    pub fn params_file(&self, run_id: &RunId) -> PathBuf {
        self.root.params().path().join(params_name(run_id))
    }

    /// Commits the intent, then writes the inputs: inputs without an intent never exist. After this a keeper may be started.
    pub fn commit(&self, order: Order, owner: ServerId, params: Option<&[u8]>) -> Result<Intent, FolderFault> {
        let folder = self.root.dispatch().private_sub(order.run_id.as_str())?;
        let token = Token(uuid::Uuid::new_v4().simple().to_string());
        let intent = Intent { order, token, owner, committed_at: utc_now() };
        folder.write_durable(INTENT, &to_bytes(&intent)?)?;
        if let Some(params) = params {
            self.root.params().write_durable(&params_name(&intent.order.run_id), params)?;
        }
        Ok(intent)
    }

    /// The committed intent, if it can be read.
    pub fn intent(&self, run_id: &RunId) -> io::Result<Option<Intent>> {
        match self.existing(run_id)? {
            Some(folder) => read_intent(&folder, run_id),
            None => Ok(None),
        }
    }

    pub fn state(&self, run_id: &RunId) -> io::Result<DispatchState> {
        let Some(folder) = self.existing(run_id)? else { return Ok(DispatchState::NoIntent) };
        match read_claim(&folder)? {
            Taken::NotYet if folder.has(INTENT)? => Ok(DispatchState::Unclaimed),
            Taken::NotYet => Ok(DispatchState::NoIntent),
            Taken::Revoked => Ok(DispatchState::Revoked),
            Taken::ByKeeper => after_claim(&folder),
        }
    }

    /// Takes an intent back, also one that was never committed: whoever commits or claims later comes too late.
    pub fn revoke(&self, run_id: &RunId, by: ServerId) -> Result<Revocation, FolderFault> {
        let folder = self.root.dispatch().private_sub(run_id.as_str())?;
        let claim = Claim { by: Claimant::Revoked, who: by.to_string(), at: utc_now() };
        let revocation = match folder.create_once(CLAIM, &to_bytes(&claim)?)? {
            Creation::Won => Revocation::Revoked,
            Creation::Lost => match read_claim(&folder)? {
                Taken::Revoked => Revocation::Revoked,
                Taken::ByKeeper | Taken::NotYet => Revocation::KeeperClaimed,
            },
        };
        if revocation == Revocation::Revoked {
            self.discard_params(run_id)?;
        }
        Ok(revocation)
    }

    /// Removes the inputs of a run that doesn't need them any more.
    pub fn discard_params(&self, run_id: &RunId) -> io::Result<()> {
        self.root.params().remove(&params_name(run_id))
    }

    /// Removes inputs that runs left behind whose keeper, or whose server before any keeper, is proven dead. For start-up.
    pub fn sweep_params(&self, by: ServerId) -> Result<(), FolderFault> {
        sweep::sweep_params(*self, by)
    }

    /// What Flow printed on stdout and stderr, as far as it was kept. Never shown to a caller.
    pub fn printed(&self, run_id: &RunId) -> [String; 2] {
        let folder = self.existing(run_id).ok().flatten();
        PRINTED.map(|name| match folder.as_ref().map(|folder| folder.read(name, PRINTED_LIMIT)) {
            Some(Ok(FileRead::Content { bytes, .. })) => String::from_utf8_lossy(&bytes).into_owned(),
            _ => String::new(),
        })
    }

    fn existing(&self, run_id: &RunId) -> io::Result<Option<Folder>> {
        match self.root.dispatch().sub(run_id.as_str()) {
            Ok(folder) => Ok(Some(folder)),
            Err(FolderFault::Io(fault)) if fault.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(FolderFault::Io(fault)) => Err(fault),
            Err(fault) => Err(io::Error::other(fault)),
        }
    }
}

/// What Flow printed: bounded, for the operator, and for the reading of a refusal.
pub const PRINTED: [&str; 2] = ["stdout.log", "stderr.log"];
const PRINTED_LIMIT: usize = 1 << 20;
const INTENT: &str = "intent.json";
const CLAIM: &str = "claim.json";
const EXIT: &str = "exit.json";
const LOCK: &str = "lock";
const FILE_LIMIT: usize = 1 << 20;

#[derive(Serialize, Deserialize)]
struct Claim {
    by: Claimant,
    who: String,
    at: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Claimant {
    Keeper,
    Revoked,
}

enum Taken {
    NotYet,
    Revoked,
    ByKeeper,
}

fn params_name(run_id: &RunId) -> String {
    format!("{run_id}.json")
}

fn to_bytes<T: Serialize>(value: &T) -> io::Result<Vec<u8>> {
    Ok(serde_json::to_vec(value)?)
}

/// A claim that can't be read proves nothing, so it counts as a keeper's.
fn read_claim(folder: &Folder) -> io::Result<Taken> {
    Ok(match folder.read(CLAIM, FILE_LIMIT)? {
        FileRead::Missing => Taken::NotYet,
        FileRead::Unfit(_) => Taken::ByKeeper,
        FileRead::Content { bytes, .. } => match serde_json::from_slice::<Claim>(&bytes) {
            Ok(Claim { by: Claimant::Revoked, .. }) => Taken::Revoked,
            _ => Taken::ByKeeper,
        },
    })
}

fn read_intent(folder: &Folder, run_id: &RunId) -> io::Result<Option<Intent>> {
    let FileRead::Content { bytes, .. } = folder.read(INTENT, FILE_LIMIT)? else { return Ok(None) };
    Ok(serde_json::from_slice::<Intent>(&bytes).ok().filter(|intent| intent.order.run_id == *run_id))
}

/// The facts are looked for again after the lock was seen free: a keeper writes them before it lets go.
fn after_claim(folder: &Folder) -> io::Result<DispatchState> {
    if let Some(facts) = read_exit(folder)? {
        return Ok(DispatchState::Exited(facts));
    }
    if look(folder, LOCK)? == Held::Held {
        return Ok(DispatchState::KeeperAlive);
    }
    Ok(read_exit(folder)?.map_or(DispatchState::KeeperDied, DispatchState::Exited))
}

fn read_exit(folder: &Folder) -> io::Result<Option<ExitFacts>> {
    let FileRead::Content { bytes, .. } = folder.read(EXIT, FILE_LIMIT)? else { return Ok(None) };
    Ok(serde_json::from_slice(&bytes).ok())
}

#[cfg(test)]
mod tests;
