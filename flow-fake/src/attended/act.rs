//! Carries out one order.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::check::{Checked, Ready};
use super::lease::{self, Held};
use super::{Action, Book, CrashPoint, Entry, NotDone, Order, Stage, Status, checked, continuation, steps};
use crate::script::{BridgeStep, SCRIPT, Script};
use crate::{clock, pause};

const LONGEST_WAIT: Duration = Duration::from_secs(5);
const POLL: Duration = Duration::from_millis(5);

/// The decision, on record; the same one for the same request.
pub fn act(order: &Order, stage: &mut Stage<'_>) -> Result<Value, NotDone> {
    let book = Book::open(&order.run_dir)?;
    let ready = match checked(order, &book, stage.live)? {
        Checked::Before(decision) => return Ok(decision),
        Checked::Ready(ready) => ready,
    };
    let scripted = stage.spec.steps(order.request.action);
    if let [BridgeStep::Refuse(_), ..] = scripted {
        return Err(NotDone::Refused("the script refuses"));
    }
    if order.request.action.continues() {
        if scripted.is_empty() && was_driven(stage, &ready) {
            return Err(NotDone::Refused("nothing here does the rest of a driven run, and none is made up"));
        }
        return continuation::act(order, stage, book, &ready);
    }
    drop(book);
    let decided = steps::play(scripted, order, stage, &ready)?;
    stage.reached(CrashPoint::Prepared)?;
    let decision = record(order, stage, decided.unwrap_or(order.request.action.recorded_as()))?;
    stage.reached(CrashPoint::After)?;
    Ok(decision)
}

/// By the script of the bridge, or by the one that lies beside the run's bundle.
fn was_driven(stage: &Stage<'_>, ready: &Ready) -> bool {
    let beside = std::fs::read(ready.bundle.path.join(SCRIPT)).ok();
    stage.spec.drives || beside.is_some_and(|text| Script::parse(&text).is_ok_and(|script| script.drives()))
}

/// Checks again, as the script's steps took their time, and writes the decision before anybody else can.
fn record(order: &Order, stage: &mut Stage<'_>, status: Status) -> Result<Value, NotDone> {
    let (mut book, ready) = match ready(order, stage)? {
        Turn::Before(decision) => return Ok(decision),
        Turn::Ours(book, ready) => (book, ready),
    };
    let decision = book.append(order, &ready.capability, Entry::of(status))?;
    stage.decided(order, &decision)?;
    if status == Status::Rejected {
        pause::reject(&order.run_dir)?;
    }
    Ok(decision)
}

enum Turn {
    Before(Value),
    Ours(Book, Box<Ready>),
}

/// A reject comes before a continuation that hasn't begun to act, once that one has seen it.
fn ready(order: &Order, stage: &Stage<'_>) -> Result<Turn, NotDone> {
    let deadline = Instant::now() + LONGEST_WAIT;
    loop {
        let book = Book::open(&order.run_dir)?;
        let ready = match checked(order, &book, stage.live)? {
            Checked::Before(decision) => return Ok(Turn::Before(decision)),
            Checked::Ready(ready) => ready,
        };
        let held = lease::held(&book, &order.run_dir, clock::now());
        if order.request.action != Action::Reject || held == Held::No {
            return Ok(Turn::Ours(book, ready));
        }
        if held == Held::Delivering || Instant::now() > deadline {
            return Err(NotDone::Refused("the run is being continued"));
        }
        lease::ask_for_reject(&book, &order.run_dir)?;
        drop(book);
        thread::sleep(POLL);
    }
}
