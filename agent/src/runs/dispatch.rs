//! Dispatch folders: what a keeper is to start, and how it ended. The files between a run's keeper and its servers; who may start is
//! decided in the store of actions.

mod desk;
mod older;
mod private_word;
mod wire;

use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::clock::utc_now;
use super::files::{FileRead, Folder, FolderFault, is_fragment};
use super::lock::{Held, look};
use super::record::AttemptOf;
use super::root::StoreRoot;
use super::server::ServerId;
use crate::contract::ids::{RequestId, RunId};
use crate::contract::outcome::Mode;
use crate::contract::sandbox::SandboxFacts;
use crate::lifecycle::executor::StartToken;

pub use desk::{Entered, Entry, enter};
pub use older::{OlderState, Revocation};

/// The dispatch folders of one store.
#[derive(Debug, Clone, Copy)]
pub struct Dispatch<'a> {
    root: &'a StoreRoot,
}

/// What proves that a dispatch intent was committed, as its files carry it: 32 hex digits.
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
    /// What the run's record says, so that a run can be told of when everything else is lost.
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

/// The order of a committed intent.
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

/// What has become of the keeper of a claimed run.
#[derive(Debug, Clone, PartialEq)]
pub enum Keeper {
    Alive,
    Exited(ExitFacts),
    /// It is gone without exit facts that can be believed.
    Gone,
}

impl Token {
    pub fn as_str(&self) -> &str {
        &self.0
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

    /// Writes down what the keeper is to do, then the inputs, for an intent that is committed. Neither is synced: when they are lost
    /// with the power, the keeper is lost with them, and the intent is still unclaimed.
    pub fn order(
        &self,
        order: Order,
        owner: ServerId,
        token: &StartToken,
        params: Option<&[u8]>,
    ) -> Result<Intent, FolderFault> {
        let folder = self.root.dispatch().private_sub(order.run_id.as_str())?;
        let intent = Intent { order, token: Token(token.as_str().to_owned()), owner, committed_at: utc_now() };
        folder.write_lightly(INTENT, &wire::intent_bytes(&intent)?)?;
        if let Some(params) = params {
            self.root.params().write_lightly(&params_name(&intent.order.run_id), params)?;
        }
        Ok(intent)
    }

    /// The order, if it can be read.
    pub fn intent(&self, run_id: &RunId) -> io::Result<Option<Intent>> {
        match self.existing(run_id)? {
            Some(folder) => read_intent(&folder, run_id),
            None => Ok(None),
        }
    }

    /// What has become of the keeper that claimed a run with this token. The facts are looked for again after the lock was seen
    /// free: a keeper writes them before it lets go.
    pub fn keeper(&self, run_id: &RunId, token: &str) -> io::Result<Keeper> {
        let Some(folder) = self.existing(run_id)? else { return Ok(Keeper::Gone) };
        if let Some(facts) = read_exit(&folder, run_id, token)? {
            return Ok(Keeper::Exited(facts));
        }
        if look(&folder, LOCK)? == Held::Held {
            return Ok(Keeper::Alive);
        }
        Ok(read_exit(&folder, run_id, token)?.map_or(Keeper::Gone, Keeper::Exited))
    }

    /// Removes the inputs of a run that doesn't need them any more.
    pub fn discard_params(&self, run_id: &RunId) -> io::Result<()> {
        self.root.params().remove(&params_name(run_id))?;
        self.discard_private_word(run_id)
    }

    /// The runs of which inputs are on disk, those of half-written files included, and the names of the files.
    pub fn with_params(&self) -> io::Result<Vec<(RunId, String)>> {
        let names = self.root.params().names()?;
        Ok(names.into_iter().filter_map(|name| Some((run_of(&name)?, name))).collect())
    }

    /// Removes one of those files.
    pub fn discard_file(&self, name: &str) -> io::Result<()> {
        self.root.params().remove(name)
    }

    /// Removes what a process that was killed left half-written. For a run that has ended.
    pub fn discard_fragments(&self, run_id: &RunId) -> io::Result<()> {
        let Some(folder) = self.existing(run_id)? else { return Ok(()) };
        folder.names()?.iter().filter(|name| is_fragment(name)).try_for_each(|name| folder.remove(name))
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
const EXIT: &str = "exit.json";
const LOCK: &str = "lock";
const FILE_LIMIT: usize = 1 << 20;

fn params_name(run_id: &RunId) -> String {
    format!("{run_id}.json")
}

/// The run that a file of inputs, or the temporary file of a writer that died, belongs to.
fn run_of(name: &str) -> Option<RunId> {
    let name = name.strip_prefix('.').unwrap_or(name);
    RunId::parse(name.split_once(".json")?.0).ok()
}

fn read_intent(folder: &Folder, run_id: &RunId) -> io::Result<Option<Intent>> {
    let FileRead::Content { bytes, .. } = folder.read(INTENT, FILE_LIMIT)? else { return Ok(None) };
    Ok(wire::intent(&bytes, run_id))
}

fn read_exit(folder: &Folder, run_id: &RunId, token: &str) -> io::Result<Option<ExitFacts>> {
    let FileRead::Content { bytes, .. } = folder.read(EXIT, FILE_LIMIT)? else { return Ok(None) };
    Ok(wire::exit(&bytes, run_id, token))
}

#[cfg(test)]
mod tests;
