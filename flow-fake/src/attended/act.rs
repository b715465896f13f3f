//! Carries out one order.

use serde_json::Value;

use super::check::{Checked, Ready};
use super::{Book, CrashPoint, Entry, NotDone, Order, Stage, Status, checked};
use crate::pause;
use crate::play::{Ending, Player};
use crate::report::Subject;
use crate::script::{BridgeStep, Step};

/// The decision, on record; the same one for the same request.
pub fn act(order: &Order, stage: &mut Stage<'_>) -> Result<Value, NotDone> {
    let book = Book::open(&order.run_dir)?;
    let ready = match checked(order, &book, stage.live)? {
        Checked::Before(decision) => return Ok(decision),
        Checked::Ready(ready) => ready,
    };
    if let [BridgeStep::Refuse(_), ..] = stage.spec.steps(order.request.action) {
        return Err(NotDone::Refused("the script refuses"));
    }
    if order.request.action.continues() {
        return Err(NotDone::Refused("there is no live executor"));
    }
    drop(book);
    let status = play(order, stage, &ready)?;
    stage.reached(CrashPoint::Prepared)?;
    let decision = record(order, stage, status)?;
    stage.reached(CrashPoint::After)?;
    Ok(decision)
}

/// Checks again, as the script's steps took their time, and writes the decision before anybody else can.
fn record(order: &Order, stage: &mut Stage<'_>, status: Status) -> Result<Value, NotDone> {
    let mut book = Book::open(&order.run_dir)?;
    let ready = match checked(order, &book, stage.live)? {
        Checked::Before(decision) => return Ok(decision),
        Checked::Ready(ready) => ready,
    };
    let decision = book.append(order, &ready.capability, Entry::of(status))?;
    stage.decided(order, &decision)?;
    if status == Status::Rejected {
        pause::reject(&order.run_dir)?;
    }
    Ok(decision)
}

/// The script's steps for a decision that only leaves a record; the status that the record gets.
fn play(order: &Order, stage: &mut Stage<'_>, ready: &Ready) -> Result<Status, NotDone> {
    let subject = Subject::of_run_dir(&order.run_dir)?;
    let control = stage.control.clone();
    let steps = stage.spec.steps(order.request.action);
    let mut player =
        Player::new(&mut stage.journal, control, ready.bundle.clone(), subject, order.run_dir.clone(), false);
    for step in steps {
        match step {
            BridgeStep::Decide(status) => return Ok(*status),
            BridgeStep::Refuse(_) => return Err(NotDone::Refused("the script refuses")),
            BridgeStep::Play(step) => {
                let ending = player.step(step).map_err(|error| NotDone::Failed(error.to_string()))?;
                if let Some(ending) = ending {
                    return Err(ended(ending, step));
                }
            }
        }
    }
    Ok(order.request.action.recorded_as())
}

/// What a step that ends a process means inside a bridge, where a traceback only ends the decision.
fn ended(ending: Ending, step: &Step) -> NotDone {
    match step {
        Step::Traceback(error) => NotDone::Failed(error.clone()),
        _ => std::process::exit(i32::from(ending.take())),
    }
}
