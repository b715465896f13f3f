//! Going on with a paused run. Three records: prepared, delivery started, and how it ended.

use serde_json::{Value, json};

use super::check::Ready;
use super::lease::{self, Held, Phase};
use super::rest::{Outcome, Rest};
use super::{Book, CrashPoint, Entry, NotDone, Order, Stage, Status, steps};
use crate::canonical::digest;
use crate::clock;

/// Goes on under the lease of this run. `book` is the open one, in which the order was found to fit.
pub fn act(order: &Order, stage: &mut Stage<'_>, book: Book, ready: &Ready) -> Result<Value, NotDone> {
    prepare(order, stage, book, ready)?;
    stage.reached(CrashPoint::Prepared)?;
    let validating = &stage.spec.validating;
    steps::play(validating, order, stage, ready)?;
    if let Some(decision) = start(order, stage, ready)? {
        return Ok(decision);
    }
    stage.reached(CrashPoint::DeliveryStarted)?;
    let outcome = Rest::of(order, ready)?.play(stage)?;
    let decision = conclude(order, stage, ready, &outcome)?;
    stage.reached(CrashPoint::After)?;
    match outcome {
        Outcome::Broken => Err(NotDone::Failed("the executor broke off".into())),
        Outcome::Decided(_) | Outcome::Reported { .. } => Ok(decision),
    }
}

fn prepare(order: &Order, stage: &mut Stage<'_>, mut book: Book, ready: &Ready) -> Result<(), NotDone> {
    if lease::held(&book, &order.run_dir, clock::now()) != Held::No {
        return Err(NotDone::Refused("the run is being continued"));
    }
    note(&mut book, order, stage, ready, Entry::of(Status::Prepared))?;
    Ok(lease::take(&book, order, &ready.pending, clock::now())?)
}

/// The last moment for a reject to come first: then the continuation is over, refused.
fn start(order: &Order, stage: &mut Stage<'_>, ready: &Ready) -> Result<Option<Value>, NotDone> {
    let mut book = Book::open(&order.run_dir)?;
    if lease::is_reject_asked_for(&book, &order.run_dir) {
        lease::advance(&book, &order.run_dir, Phase::AbortedPreDelivery)?;
        let entry = Entry { report_success: Some(false), ..Entry::of(Status::Refused) };
        return note(&mut book, order, stage, ready, entry).map(Some);
    }
    lease::advance(&book, &order.run_dir, Phase::DeliveryStarted)?;
    note(&mut book, order, stage, ready, Entry::of(Status::DeliveryStarted))?;
    Ok(None)
}

fn conclude(order: &Order, stage: &mut Stage<'_>, ready: &Ready, outcome: &Outcome) -> Result<Value, NotDone> {
    let entry = match outcome {
        Outcome::Decided(status) => {
            Entry { report_success: (!status.is_unresolved()).then_some(false), ..Entry::of(*status) }
        }
        Outcome::Reported { success: true } => Entry {
            status: Status::Completed,
            report_success: Some(true),
            receipt: Some(receipt(order, &ready.capability)),
        },
        Outcome::Reported { success: false } => Entry { report_success: Some(false), ..Entry::of(Status::Halted) },
        Outcome::Broken => Entry::of(Status::DeliveryUncertain),
    };
    let mut book = Book::open(&order.run_dir)?;
    let phase = if entry.status.is_unresolved() { Phase::ReconciliationRequired } else { Phase::Completed };
    lease::advance(&book, &order.run_dir, phase)?;
    note(&mut book, order, stage, ready, entry)
}

fn note(book: &mut Book, order: &Order, stage: &mut Stage<'_>, ready: &Ready, entry: Entry) -> Result<Value, NotDone> {
    let decision = book.append(order, &ready.capability, entry)?;
    stage.decided(order, &decision)?;
    Ok(decision)
}

fn receipt(order: &Order, capability: &Value) -> String {
    digest(&json!({
        "capability_digest": order.request.capability_digest,
        "request_digest": order.request.digest(),
        "expected_transition_digest": capability["expected_transition_digest"],
    }))
}
