//! What a request has been through: the store's attempts, those that an older agent's files or the ledger name, and what they leave open.

use super::core::Core;
use super::watch::View;
use crate::contract::ids::{RequestId, RunId};
use crate::contract::outcome::Mode;
use crate::lifecycle::gate::ledger_forbids;
use crate::runs::StoreError;
use crate::runs::fingerprint::Fingerprint;
use crate::runs::index::{self, EntryRead};
use crate::runs::ledger::Lookup;
use crate::runs::lock::StripeGuard;
use crate::runs::record::RecordRead;
use crate::runs::request_hash::{Attempt, Era, LedgerKey, RequestHash};

/// A call that passed every check before its request was looked at.
#[derive(Debug, Clone)]
pub struct Ask {
    pub request_id: RequestId,
    pub fingerprint: Fingerprint,
    pub workflow: String,
    pub mode: Mode,
}

/// The attempts at one request, oldest first.
#[derive(Debug, Default)]
pub struct History {
    /// Of the first attempt.
    work: Option<Fingerprint>,
    runs: Vec<RunId>,
}

impl History {
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    pub fn runs(&self) -> &[RunId] {
        &self.runs
    }

    pub fn is_of(&self, fingerprint: &Fingerprint) -> bool {
        self.work.as_ref().is_none_or(|first| first == fingerprint)
    }

    /// The runs that answer for the request, where it is known for this work; the latest first.
    pub fn runs_of(&self, fingerprint: &Fingerprint) -> impl Iterator<Item = &RunId> {
        let known = self.is_of(fingerprint);
        self.runs.iter().rev().filter(move |_| known)
    }

    fn add(&mut self, run_id: RunId, fingerprint: Fingerprint) {
        if !self.runs.contains(&run_id) {
            self.runs.push(run_id);
        }
        self.work.get_or_insert(fingerprint);
    }
}

impl Core {
    /// The store knows the requests that it saw. Files of an older agent are read for the others, and for attempts that a Python agent
    /// made on its own meanwhile.
    pub(super) fn history(&self, hash: &RequestHash) -> Result<History, StoreError> {
        let requests = self.store.root().requests();
        let mut history = History::default();
        match self.actions().request(hash)? {
            Some((fingerprint, _, runs)) => {
                runs.into_iter().for_each(|run_id| history.add(run_id, fingerprint.clone()))
            }
            None => match index::read(requests, hash, Era::Ours, self.store.key())? {
                EntryRead::Valid(entry) => {
                    entry.attempts.into_iter().for_each(|run_id| history.add(run_id, entry.fingerprint.clone()));
                }
                EntryRead::Missing => {}
                EntryRead::Corrupt => index::set_aside(requests, hash)?,
            },
        }
        if let EntryRead::Valid(entry) = index::read(requests, hash, Era::Python, self.store.key())? {
            entry.attempts.into_iter().for_each(|run_id| history.add(run_id, entry.fingerprint.clone()));
        }
        Ok(history)
    }

    /// The run whose answer is the request's; `None` where every attempt has proven that nothing was written, and the ledger has
    /// nothing against it.
    pub(super) fn standing(
        &self,
        held: &StripeGuard,
        ask: &Ask,
        history: &History,
    ) -> Result<Option<RunId>, StoreError> {
        if history.is_empty() || !history.is_of(&ask.fingerprint) {
            return Ok(None);
        }
        for (index, run_id) in history.runs.iter().enumerate().rev() {
            self.know(held, ask, Attempt::at(index), run_id)?;
            if !self.is_retryable(Some(held), run_id)? {
                return Ok(Some(run_id.clone()));
            }
        }
        let doubted = self.ledger_doubts(&ask.request_id, &history.runs)?;
        Ok(history.runs.last().filter(|_| doubted).cloned())
    }

    /// The key of the next attempt may be reserved already: by a server that died before it counted the attempt, or by a Python
    /// agent. That attempt is taken into the history, so that every way to ask finds it.
    pub(super) fn adopt_owner(
        &self,
        held: &StripeGuard,
        ask: &Ask,
        attempt: Attempt,
        history: &mut History,
    ) -> Result<bool, StoreError> {
        let keys = keys(&RequestHash::of(&ask.request_id), attempt);
        let found = self.ledger()?.lookup(&keys)?.into_iter().find(|found| *found != Lookup::None);
        let Some(found) = found else { return Ok(false) };
        self.adopt(held, ask, attempt, found.owner(), history)?;
        Ok(true)
    }

    /// A reservation that names no run, a run that has its place already, or a run of another request gets a run of its own.
    pub(super) fn adopt(
        &self,
        held: &StripeGuard,
        ask: &Ask,
        attempt: Attempt,
        owner: Option<&RunId>,
        history: &mut History,
    ) -> Result<(), StoreError> {
        let owner = owner.filter(|owner| !history.runs.contains(owner));
        let (run_id, fingerprint) = match owner.map(|owner| self.whose(owner)).transpose()? {
            Some(Whose::Request(request_id, print)) if request_id.as_ref() == Some(&ask.request_id) => (owner, print),
            Some(Whose::Nobodys) => (owner, None),
            Some(Whose::Request(..)) | None => (None, None),
        };
        let run_id = run_id.cloned().unwrap_or_else(RunId::random);
        self.know(held, ask, attempt, &run_id)?;
        // Its key counts, whether its server got as far as counting it or not.
        if let Some(known) = self.actions().find(&run_id)?
            && known.action.attempt.is_some()
            && !known.action.reserved
        {
            self.actions().count_attempt(&known.action)?;
        }
        history.add(run_id, fingerprint.unwrap_or_else(|| ask.fingerprint.clone()));
        Ok(())
    }

    /// A run of which nothing is left gets a place in the store that says so: it is then found by its run id as well as by its request.
    fn know(&self, held: &StripeGuard, ask: &Ask, attempt: Attempt, run_id: &RunId) -> Result<(), StoreError> {
        if self.settle(Some(held), run_id)? == View::Unknown {
            self.take_in_lost(ask, attempt, run_id)?;
            self.settle(Some(held), run_id)?;
        }
        Ok(())
    }

    fn whose(&self, run_id: &RunId) -> Result<Whose, StoreError> {
        if let Some(known) = self.actions().find(run_id)? {
            let action = known.action;
            return Ok(Whose::Request(action.request_id, action.attempt.map(|attempt| attempt.fingerprint)));
        }
        Ok(match self.store.read(run_id)? {
            RecordRead::Valid(record) => {
                Whose::Request(record.request_id, record.attempt.map(|attempt| attempt.fingerprint))
            }
            RecordRead::Missing | RecordRead::Corrupt => Whose::Nobodys,
        })
    }

    /// Whether the ledger speaks against the attempts at a request, found by their places.
    fn ledger_doubts(&self, request_id: &RequestId, runs: &[RunId]) -> Result<bool, StoreError> {
        let hash = RequestHash::of(request_id);
        let keys: Vec<_> = (0..runs.len()).flat_map(|at| keys(&hash, Attempt::at(at))).collect();
        let foreign = |lookup: &Lookup| lookup.owner().is_some_and(|owner| !runs.contains(owner));
        let lookups = self.ledger()?.lookup(&keys)?;
        Ok(lookups.iter().filter(|lookup| !foreign(lookup)).any(ledger_forbids))
    }
}

/// Whose a run is.
enum Whose {
    Request(Option<RequestId>, Option<Fingerprint>),
    Nobodys,
}

/// What an attempt may be reserved under.
fn keys(hash: &RequestHash, attempt: Attempt) -> [LedgerKey; 2] {
    [hash.ledger_key(attempt, Era::Ours), hash.ledger_key(attempt, Era::Python)]
}
