//! Plays the script's steps for a decision.

use super::check::Ready;
use super::{NotDone, Order, Stage, Status};
use crate::play::{Ending, Player};
use crate::report::Subject;
use crate::script::{BridgeStep, Step};

/// Plays steps that leave the run's files alone; the status that one of them decides.
pub fn play(
    steps: &[BridgeStep],
    order: &Order,
    stage: &mut Stage<'_>,
    ready: &Ready,
) -> Result<Option<Status>, NotDone> {
    let subject = Subject::of_run_dir(&order.run_dir)?;
    let mut player = player(order, stage, ready, subject);
    for step in steps {
        match step {
            BridgeStep::Decide(status) => return Ok(Some(*status)),
            BridgeStep::Refuse(_) => return Err(NotDone::Refused("the script refuses")),
            BridgeStep::Play(step) => one(&mut player, step)?,
        }
    }
    Ok(None)
}

pub fn player<'a>(order: &Order, stage: &'a mut Stage<'_>, ready: &Ready, subject: Subject) -> Player<'a> {
    let control = stage.control.clone();
    Player::new(&mut stage.journal, control, ready.bundle.clone(), subject, order.run_dir.clone(), false)
}

/// One step. What ends a process ends this one too, but a traceback ends only the decision.
pub fn one(player: &mut Player<'_>, step: &Step) -> Result<(), NotDone> {
    if let Step::Traceback(error) = step {
        return Err(NotDone::Failed(error.clone()));
    }
    match player.step(step).map_err(|error| NotDone::Failed(error.to_string()))? {
        None => Ok(()),
        Some(Ending::Code(code)) => std::process::exit(i32::from(code)),
        Some(signal) => std::process::exit(i32::from(signal.take())),
    }
}
