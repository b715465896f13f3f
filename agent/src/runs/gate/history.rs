//! What a request has been through, put together from our index, the Python agent's, and the ledger.

use std::io;

use super::Ask;
use crate::contract::ids::RunId;
use crate::runs::fingerprint::Fingerprint;
use crate::runs::index::{self, EntryRead, RequestEntry};
use crate::runs::request_hash::{Era, RequestHash};
use crate::runs::store::RunStore;

/// The attempts at one request.
#[derive(Debug, Default)]
pub struct History {
    /// Of the first attempt.
    work: Option<(Fingerprint, String)>,
    attempts: Vec<RunId>,
    /// Attempts that a Python agent made on its own after ours began.
    aside: Vec<RunId>,
}

impl History {
    /// Reads both indexes. A corrupt entry of ours is set aside; the ledger will name its attempts again.
    pub fn read(store: &RunStore, hash: &RequestHash) -> io::Result<Self> {
        let requests = store.root().requests();
        let ours = index::read(requests, hash, Era::Ours, store.key())?;
        let python = match index::read(requests, hash, Era::Python, store.key())? {
            EntryRead::Valid(entry) => Some(entry),
            EntryRead::Missing | EntryRead::Corrupt => None,
        };
        let ours = match ours {
            EntryRead::Valid(entry) => Some(entry),
            EntryRead::Missing => None,
            EntryRead::Corrupt => {
                index::set_aside(requests, hash)?;
                None
            }
        };
        Ok(match (ours, python) {
            (None, None) => Self::default(),
            (Some(entry), None) | (None, Some(entry)) => Self::of(entry),
            (Some(ours), Some(python)) => {
                let mut history = Self::of(ours);
                history.aside =
                    python.attempts.into_iter().filter(|run_id| !history.attempts.contains(run_id)).collect();
                history
            }
        })
    }

    /// The runs whose ends decide, where the request is known for this work.
    pub fn latest_of(self, fingerprint: &Fingerprint) -> Vec<RunId> {
        if self.is_of(fingerprint) { self.latest().cloned().collect() } else { Vec::new() }
    }

    pub fn is_empty(&self) -> bool {
        self.attempts.is_empty()
    }

    pub fn attempts(&self) -> &[RunId] {
        &self.attempts
    }

    /// Every run that is known for the request.
    pub fn runs(&self) -> impl Iterator<Item = &RunId> {
        self.attempts.iter().chain(&self.aside)
    }

    /// The runs whose ends decide: the latest of each line of attempts.
    pub fn latest(&self) -> impl Iterator<Item = &RunId> {
        self.attempts.last().into_iter().chain(&self.aside)
    }

    pub fn is_of(&self, fingerprint: &Fingerprint) -> bool {
        self.work.as_ref().is_none_or(|(first, _)| first == fingerprint)
    }

    /// Adds an attempt. The work of the first one stays the request's.
    pub fn add(&mut self, run_id: RunId, fingerprint: Fingerprint, workflow: String) {
        self.aside.retain(|aside| *aside != run_id);
        if !self.attempts.contains(&run_id) {
            self.attempts.push(run_id);
        }
        self.work.get_or_insert((fingerprint, workflow));
    }

    /// The entry of ours for these attempts.
    pub fn entry(&self, ask: &Ask) -> RequestEntry {
        let (fingerprint, workflow) =
            self.work.clone().unwrap_or_else(|| (ask.fingerprint.clone(), ask.workflow.clone()));
        RequestEntry { fingerprint, workflow, attempts: self.attempts.clone() }
    }

    fn of(entry: RequestEntry) -> Self {
        Self { work: Some((entry.fingerprint, entry.workflow)), attempts: entry.attempts, aside: Vec::new() }
    }
}
