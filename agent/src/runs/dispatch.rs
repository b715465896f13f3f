//! Dispatch: what was to be started, who took it, and how it ended. A run's keeper and its servers meet here, and nowhere else.

mod desk;
mod sweep;
mod wire;

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
use crate::contract::sandbox::SandboxFacts;

pub use desk::{Claimed, Entry, enter};
use wire::Claimant;

/// The dispatch folders of one store.
#[derive(Debug, Clone, Copy)]
pub struct Dispatch<'a> {
    root: &'a StoreRoot,
}

/// Proof that a dispatch intent was committed: 32 hex digits. Only a committed intent makes one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Token(String);

/// What a keeper is to start.
#[derive(Debug, Clone, PartialEq, Eq)]
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    pub request_id: Option<RequestId>,
    pub workflow: Option<String>,
    pub mode: Mode,
    pub started_at: String,
    pub attempt: Option<AttemptOf>,
    /// Case and engine of a sandbox run, for its result.
    pub sandbox: Option<SandboxFacts>,
}

/// The committed intent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intent {
    pub order: Order,
    pub token: Token,
    pub owner: ServerId,
    pub committed_at: String,
}

/// How the process that ran Flow ended, written by its keeper.
#[derive(Debug, Clone, PartialEq)]
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlowEnd {
    /// Its run directory was there already, or the system refused to start the program.
    NeverStarted,
    /// The exit code.
    Exited(i32),
    /// The signal's number, from 1.
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
    /// A keeper took it and is gone without exit facts that can be believed.
    KeeperDied,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Revocation {
    /// Proof that nothing was started and nothing will be.
    Revoked,
    /// A keeper was faster.
    KeeperClaimed,
}

impl Token {
    fn random() -> Self {
        Self(uuid::Uuid::new_v4().simple().to_string())
    }
}

impl<'de> Deserialize<'de> for Token {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let well_formed = text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if well_formed { Ok(Self(text)) } else { Err(serde::de::Error::custom("the text is not a token")) }
    }
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
        let token = Token::random();
        let intent = Intent { order, token, owner, committed_at: utc_now() };
        folder.write_durable(INTENT, &wire::intent_bytes(&intent)?)?;
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
        match read_claim(&folder, run_id)? {
            Taken::NotYet if folder.has(INTENT)? => Ok(DispatchState::Unclaimed),
            Taken::NotYet => Ok(DispatchState::NoIntent),
            Taken::Revoked => Ok(DispatchState::Revoked),
            Taken::ByKeeper => after_claim(&folder, run_id),
        }
    }

    /// Takes an intent back, also one that was never committed: whoever commits or claims later comes too late.
    pub fn revoke(&self, run_id: &RunId, by: ServerId) -> Result<Revocation, FolderFault> {
        let folder = self.root.dispatch().private_sub(run_id.as_str())?;
        let claim = wire::claim_bytes(run_id, Claimant::Revoked { server: by })?;
        let revocation = match folder.create_once(CLAIM, &claim)? {
            Creation::Won => Revocation::Revoked,
            Creation::Lost => match read_claim(&folder, run_id)? {
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

enum Taken {
    NotYet,
    Revoked,
    ByKeeper,
}

fn params_name(run_id: &RunId) -> String {
    format!("{run_id}.json")
}

/// A claim that can't be read proves nothing, so it counts as a keeper's.
fn read_claim(folder: &Folder, run_id: &RunId) -> io::Result<Taken> {
    Ok(match folder.read(CLAIM, FILE_LIMIT)? {
        FileRead::Missing => Taken::NotYet,
        FileRead::Content { bytes, .. } if wire::is_revocation(&bytes, run_id) => Taken::Revoked,
        FileRead::Content { .. } | FileRead::Unfit(_) => Taken::ByKeeper,
    })
}

fn read_intent(folder: &Folder, run_id: &RunId) -> io::Result<Option<Intent>> {
    let FileRead::Content { bytes, .. } = folder.read(INTENT, FILE_LIMIT)? else { return Ok(None) };
    Ok(wire::intent(&bytes, run_id))
}

/// The facts are looked for again after the lock was seen free: a keeper writes them before it lets go.
fn after_claim(folder: &Folder, run_id: &RunId) -> io::Result<DispatchState> {
    if let Some(facts) = read_exit(folder, run_id)? {
        return Ok(DispatchState::Exited(facts));
    }
    if look(folder, LOCK)? == Held::Held {
        return Ok(DispatchState::KeeperAlive);
    }
    Ok(read_exit(folder, run_id)?.map_or(DispatchState::KeeperDied, DispatchState::Exited))
}

/// Without the intent there is no token to hold the facts against.
fn read_exit(folder: &Folder, run_id: &RunId) -> io::Result<Option<ExitFacts>> {
    let FileRead::Content { bytes, .. } = folder.read(EXIT, FILE_LIMIT)? else { return Ok(None) };
    Ok(read_intent(folder, run_id)?.and_then(|intent| wire::exit(&bytes, &intent)))
}

#[cfg(test)]
mod tests;
