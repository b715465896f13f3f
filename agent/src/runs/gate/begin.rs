//! Beginning a request, under its stripe.

use super::decide::{Decision, Known, Standing, Work, decide, ledger_forbids};
use super::history::History;
use super::opening::{Opening, write_index, write_orphan};
use super::{Ask, Begin};
use crate::contract::ids::{RequestId, RunId};
use crate::runs::ledger::{Ledger, Lookup, Reservation};
use crate::runs::lock::StripeGuard;
use crate::runs::record::{RecordRead, RunRecord};
use crate::runs::request_hash::{Attempt, Era, LedgerKey, RequestHash};
use crate::runs::store::{RunStore, StoreError, Traces};

/// The gate of one store.
#[derive(Debug, Clone, Copy)]
pub struct RequestGate<'a> {
    store: &'a RunStore,
    ledger: &'a Ledger,
}

impl<'a> RequestGate<'a> {
    pub fn new(store: &'a RunStore, ledger: &'a Ledger) -> Self {
        Self { store, ledger }
    }

    /// Begins a request. Blocks while another call with the same request_id begins.
    ///
    /// `is_retryable` settles one run if it can be settled, and says whether its reason allows a new attempt. It is called
    /// with the request's stripe held and must not lock it again.
    pub fn begin<E: From<StoreError>>(
        &self,
        ask: &Ask,
        mut is_retryable: impl FnMut(&StripeGuard, &RunId) -> Result<bool, E>,
    ) -> Result<Begin, E> {
        let hash = RequestHash::of(&ask.request_id);
        let guard = self.store.lock_request(&ask.request_id)?;
        let mut history = History::read(self.store, &hash).map_err(StoreError::from)?;
        loop {
            let standing = self.standing(ask, &history, |run_id| is_retryable(&guard, run_id))?;
            match decide(known(ask, &history, &standing)) {
                Decision::Conflict => {
                    return Ok(Begin::Conflict { first_run_id: history.attempts()[0].clone() });
                }
                Decision::RetryLimit => return Ok(Begin::RetryLimit),
                Decision::Replay => return Ok(standing.replay(&history)),
                Decision::Start(attempt) => {
                    if !self.adopt_owner(ask, attempt, &mut history)?
                        && let Some(begun) = self.open(ask, attempt, &mut history)?
                    {
                        return Ok(begun);
                    }
                }
            }
        }
    }

    /// True when the ledger speaks against a record whose result says that nothing was written. Such a record must not be
    /// believed, by whatever way it is asked for.
    pub fn ledger_contradicts(&self, record: &RunRecord) -> Result<bool, StoreError> {
        let Some(attempt) = &record.attempt else { return Ok(false) };
        if !record.result().is_some_and(|result| result.reason.allows_new_attempt()) {
            return Ok(false);
        }
        Ok(self.ledger.lookup(std::slice::from_ref(&attempt.ledger_key))?.iter().any(ledger_forbids))
    }

    /// The same for all attempts at a request, found by their places.
    fn ledger_doubts(&self, request_id: &RequestId, runs: &[RunId]) -> Result<bool, StoreError> {
        let hash = RequestHash::of(request_id);
        let keys: Vec<_> = (0..runs.len()).flat_map(|at| keys(&hash, Attempt::at(at))).collect();
        let foreign = |lookup: &Lookup| lookup.owner().is_some_and(|owner| !runs.contains(owner));
        let lookups = self.ledger.lookup(&keys)?;
        Ok(lookups.iter().filter(|lookup| !foreign(lookup)).any(ledger_forbids))
    }

    fn standing<E: From<StoreError>>(
        &self,
        ask: &Ask,
        history: &History,
        mut is_retryable: impl FnMut(&RunId) -> Result<bool, E>,
    ) -> Result<Found, E> {
        if history.is_empty() || !history.is_of(&ask.fingerprint) {
            return Ok(Found::Open);
        }
        self.record_what_is_lost(ask, history)?;
        for run_id in history.latest() {
            if !is_retryable(run_id)? {
                return Ok(Found::Settled(run_id.clone()));
            }
        }
        let runs: Vec<_> = history.runs().cloned().collect();
        Ok(if self.ledger_doubts(&ask.request_id, &runs)? { Found::Doubted } else { Found::Open })
    }

    /// An attempt whose record is gone, and that left nothing else to judge it by, gets a record that nobody answers for: it
    /// is then found by its run id as well as by its request.
    fn record_what_is_lost(&self, ask: &Ask, history: &History) -> Result<(), StoreError> {
        for (index, run_id) in history.attempts().iter().enumerate() {
            let nothing_left = Traces { dispatch: false, run_dir: false };
            if self.store.read(run_id)? == RecordRead::Missing && self.store.traces(run_id)? == nothing_left {
                write_orphan(self.store, ask, Attempt::at(index), run_id)?;
            }
        }
        Ok(())
    }

    /// The key of the next attempt may be reserved already: by a server that died before it wrote the index, or by a Python
    /// agent. That attempt is taken into the history, with a record if it has none, so that every way to ask finds it.
    fn adopt_owner(&self, ask: &Ask, attempt: Attempt, history: &mut History) -> Result<bool, StoreError> {
        let keys = keys(&RequestHash::of(&ask.request_id), attempt);
        let Some(found) = self.ledger.lookup(&keys)?.into_iter().find(|found| *found != Lookup::None) else {
            return Ok(false);
        };
        self.adopt(ask, attempt, found.owner(), history)?;
        Ok(true)
    }

    /// A reservation that names no run, a run that has its place already, or a run of another request gets a run of its own.
    fn adopt(
        &self,
        ask: &Ask,
        attempt: Attempt,
        owner: Option<&RunId>,
        history: &mut History,
    ) -> Result<(), StoreError> {
        let (mut fingerprint, mut workflow) = (ask.fingerprint.clone(), ask.workflow.clone());
        let mut run_id = owner.filter(|owner| !history.attempts().contains(owner)).cloned();
        let found = run_id.as_ref().map_or(Ok(RecordRead::Missing), |run_id| self.store.read(run_id))?;
        let recorded = match found {
            RecordRead::Valid(record) if record.request_id.as_ref() == Some(&ask.request_id) => {
                fingerprint = record.attempt.map_or(fingerprint, |attempt| attempt.fingerprint);
                workflow = record.workflow.unwrap_or(workflow);
                true
            }
            RecordRead::Valid(_) => {
                run_id = None;
                false
            }
            RecordRead::Corrupt => true,
            RecordRead::Missing => false,
        };
        let run_id = run_id.unwrap_or_else(RunId::random);
        if !recorded {
            write_orphan(self.store, ask, attempt, &run_id)?;
        }
        history.add(run_id, fingerprint, workflow);
        write_index(self.store, ask, history)
    }

    /// `None` when another agent reserved the key at the same moment; its run is in the history then.
    fn open(&self, ask: &Ask, attempt: Attempt, history: &mut History) -> Result<Option<Begin>, StoreError> {
        let opening = Opening::new(self.store, ask, attempt);
        opening.write_record()?;
        let abandoned = |fault| Begin::Abandoned { run_id: opening.started().run_id.clone(), fault };
        match opening.reserve(self.ledger) {
            Err(fault) => Ok(Some(abandoned(fault))),
            Ok(Reservation::Owned { run_id }) => {
                opening.forget()?;
                self.adopt(ask, attempt, Some(&run_id), history)?;
                Ok(None)
            }
            Ok(Reservation::Reserved) => Ok(Some(match opening.enter_in_index(history) {
                Ok(()) => Begin::Start(opening.started().clone()),
                Err(fault) => abandoned(fault),
            })),
        }
    }
}

/// What looking at the attempts found.
enum Found {
    Open,
    Settled(RunId),
    Doubted,
}

impl Found {
    fn replay(self, history: &History) -> Begin {
        let latest = || history.attempts()[history.attempts().len() - 1].clone();
        match self {
            Self::Settled(run_id) => Begin::Replay { run_id, doubted: false },
            Self::Open | Self::Doubted => Begin::Replay { run_id: latest(), doubted: true },
        }
    }
}

fn known(ask: &Ask, history: &History, found: &Found) -> Known {
    if history.is_empty() {
        return Known::Unseen;
    }
    Known::Seen {
        work: if history.is_of(&ask.fingerprint) { Work::Same } else { Work::Other },
        attempts: history.runs().count(),
        standing: match found {
            Found::Open => Standing::ProvedNothingWritten,
            Found::Settled(_) | Found::Doubted => Standing::Settled,
        },
    }
}

/// What an attempt may be reserved under.
fn keys(hash: &RequestHash, attempt: Attempt) -> [LedgerKey; 2] {
    [hash.ledger_key(attempt, Era::Ours), hash.ledger_key(attempt, Era::Python)]
}
