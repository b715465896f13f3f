//! The copies of an action that others read: the record, the request's entry, the ledger's outcome. Made from the store alone, and made
//! again whenever one may be missing. Source: lifecycle, *Checkpoint and projection*, E02, F02 and F10.

use serde_json::Map;

use super::crash::{Point, pass};
use super::store::{Action, Receipt};
use crate::contract::evidence::TransactionOutcome;
use crate::contract::outcome::Outcome;
use crate::contract::reason::Reason;
use crate::runs::index::{EntryRead, RequestEntry};
use crate::runs::ledger::{Ledger, LedgerFault};
use crate::runs::record::{Finished, Phase, RunRecord};
use crate::runs::request_hash::{Era, RequestHash};
use crate::runs::{RunStore, StoreError, index};

/// The record of an action: the same bytes whenever it is made.
pub fn record_of(action: &Action, receipt: Option<&Receipt>) -> RunRecord {
    let ended = receipt.and_then(|receipt| Some((receipt, receipt.run()?)));
    let phase = ended.map_or(Phase::Running, |(receipt, result)| {
        Phase::Finished(Box::new(Finished {
            finished_at: receipt.finished_at.clone(),
            updated_at: (receipt.revision > 1).then(|| receipt.recorded_at.clone()),
            result: result.clone(),
        }))
    });
    RunRecord {
        run_id: action.run_id().clone(),
        request_id: action.request_id.clone(),
        workflow: action.workflow.clone(),
        mode: action.mode,
        started_at: action.started_at.clone(),
        process: action.process.clone(),
        attempt: action.counted_attempt().cloned(),
        phase,
        evidence: receipt.map_or_else(Map::new, |receipt| receipt.evidence.clone()),
    }
}

/// What others see of a run that has just been dispatched. Not synced: lost with the power, it is made again.
pub fn project_running(files: &RunStore, action: &Action) -> Result<(), StoreError> {
    files.write_lightly(&record_of(action, None))?;
    project_request(files, action)
}

/// What others see of a run that has ended.
pub fn project_ended(
    files: &RunStore,
    ledger: impl FnOnce() -> Result<std::sync::Arc<Ledger>, LedgerFault>,
    action: &Action,
    receipt: &Receipt,
) -> Result<(), StoreError> {
    pass(Point::ProjectBeforeFile).map_err(std::io::Error::from)?;
    let record = record_of(action, Some(receipt));
    match action.counted_attempt() {
        Some(_) => files.write_watched(&record, || Ok(pass(Point::ProjectAfterTmp)?))?,
        // A refusal is read by nobody but this store, which makes its copy again when it is lost with the power.
        None => files.write_lightly(&record)?,
    }
    pass(Point::ProjectAfterRename).map_err(std::io::Error::from)?;
    project_request(files, action)?;
    if receipt.revision == 1 {
        tell_ledger(ledger, action, receipt);
    }
    Ok(pass(Point::ProjectAfterLedger).map_err(std::io::Error::from)?)
}

fn project_request(files: &RunStore, action: &Action) -> Result<(), StoreError> {
    let (Some(request_id), Some(_)) = (&action.request_id, action.counted_attempt()) else { return Ok(()) };
    let hash = RequestHash::of(request_id);
    let Some((fingerprint, workflow, attempts)) = files.actions().request(&hash)? else { return Ok(()) };
    let entry = RequestEntry { fingerprint, workflow, attempts };
    let requests = files.root().requests();
    if index::read(requests, &hash, Era::Ours, files.key())? == EntryRead::Valid(entry.clone()) {
        return Ok(());
    }
    Ok(index::write(requests, &hash, &entry, files.key())?)
}

/// The ledger is told afterwards, and once; a result that it wasn't told of still stands.
fn tell_ledger(
    ledger: impl FnOnce() -> Result<std::sync::Arc<Ledger>, LedgerFault>,
    action: &Action,
    receipt: &Receipt,
) {
    let (Some(attempt), Some(result)) = (action.counted_attempt(), receipt.run()) else { return };
    let outcome = ledger_outcome(result.reason, result.facts.technical.transaction);
    let told = ledger().and_then(|ledger| ledger.record_outcome(&attempt.ledger_key, action.run_id(), outcome));
    if let Err(fault) = told {
        tracing::warn!("an outcome couldn't be written to the ledger: {fault}");
    }
}

/// What the ledger is told: Flow's own outcome unless the run isn't believed to have been without effect, else the one that
/// stands for the reason.
fn ledger_outcome(reason: Reason, transaction: Option<TransactionOutcome>) -> TransactionOutcome {
    let uncertain = reason.outcome() == Outcome::NotSureIfSaved;
    let told = transaction.filter(|outcome| !(uncertain && outcome.proves_no_effect()));
    told.unwrap_or(match reason {
        Reason::SavedAndChecked => TransactionOutcome::Verified,
        Reason::NotChecked => TransactionOutcome::CompletedUnverified,
        Reason::ChangeReversed => TransactionOutcome::RolledBack,
        Reason::Canceled => TransactionOutcome::Canceled,
        Reason::PlatformError | Reason::AppUnreachable | Reason::WorkflowUnavailable => {
            TransactionOutcome::FailedPlatform
        }
        Reason::NotReadyToRun | Reason::PolicyRefused | Reason::RunsDisabled => TransactionOutcome::RejectedPolicy,
        reason if reason.outcome() == Outcome::NeedsReview || reason == Reason::StoppedByPerson => {
            TransactionOutcome::HaltedBeforeEffect
        }
        _ => TransactionOutcome::ReconciliationRequired,
    })
}
