//! The rest of a paused run: what the person did counts as done, and the steps after it are played.

use std::fs;

use serde_json::{Value, json};

use super::check::Ready;
use super::{Action, NotDone, Order, Stage, Status, checkpoint, live, steps};
use crate::pause::{self, Moment};
use crate::play::Player;
use crate::report::{self, Prepared, Profile, Shape, Subject};
use crate::script::{BridgeStep, Effect, Kind, PauseSpec, ReportSpec, Step};
use crate::{clock, files};

const CANDIDATE: &str = ".report.terminal-candidate.json";

/// How the rest of the run went.
#[derive(Debug)]
pub enum Outcome {
    Decided(Status),
    /// With a report; it stopped again when that is no success.
    Reported {
        success: bool,
    },
    /// The executor broke off with an exception.
    Broken,
}

pub struct Rest<'a> {
    order: &'a Order,
    ready: &'a Ready,
    subject: Subject,
    candidate: Option<Prepared>,
}

impl<'a> Rest<'a> {
    pub fn of(order: &'a Order, ready: &'a Ready) -> Result<Self, NotDone> {
        Ok(Self { order, ready, subject: Subject::of_run_dir(&order.run_dir)?, candidate: None })
    }

    pub fn play(mut self, stage: &mut Stage<'_>) -> Result<Outcome, NotDone> {
        let stage_url = stage.url.clone();
        let all = self.with_an_end(stage.spec.steps(self.order.request.action));
        let mut player = steps::player(self.order, stage, self.ready, self.subject.clone());
        let mut decided = None;
        let mut paused_again = false;
        for (at, step) in all.iter().enumerate() {
            match step {
                BridgeStep::Decide(status) => {
                    decided = Some(*status);
                    break;
                }
                BridgeStep::Refuse(_) => return Err(NotDone::Refused("the script refuses")),
                BridgeStep::Play(Step::Traceback(_)) => return Ok(Outcome::Broken),
                BridgeStep::Play(Step::Drive(_)) => match self.drive(&mut player, stage_url.as_deref())? {
                    Some(again) => paused_again |= again,
                    None => {
                        decided = Some(Status::Refused);
                        break;
                    }
                },
                BridgeStep::Play(Step::Report(spec)) => {
                    self.report(spec, all[at..].iter().any(is_pause))?;
                    note(&mut player, "report", json!({"shape": spec.shape, "stale": false}))?;
                }
                BridgeStep::Play(Step::Pause(spec)) => {
                    self.pause(spec)?;
                    note(&mut player, "pause", json!({"category": spec.category, "status": spec.status.name()}))?;
                }
                BridgeStep::Play(step) => steps::one(&mut player, step)?,
            }
        }
        let paused = paused_again || all.iter().any(is_pause);
        let success = self.finish()? && !paused;
        Ok(decided.map_or(Outcome::Reported { success }, Outcome::Decided))
    }

    /// Steps without an end go on to the save, when that lies ahead, and end well.
    fn with_an_end(&self, given: &[BridgeStep]) -> Vec<BridgeStep> {
        let mut all = given.to_vec();
        let ends = |step: &BridgeStep| {
            matches!(
                step,
                BridgeStep::Decide(_) | BridgeStep::Play(Step::Report(_) | Step::Traceback(_) | Step::Drive(_))
            )
        };
        if given.iter().any(ends) {
            return all;
        }
        let saves = given.iter().any(|step| matches!(step, BridgeStep::Play(Step::Effect(_))));
        if !saves && self.ready.capability["expected_next_transition"] != "<complete>" {
            all.push(BridgeStep::Play(Step::Effect(Effect { label: "save".into(), to: None })));
        }
        let shape = match self.subject.profile {
            None => Shape::NoProfileSuccess,
            Some(Profile::Demo) => Shape::CompletedUnverified,
            Some(_) => Shape::Verified,
        };
        all.push(BridgeStep::Play(Step::Report(Box::new(ReportSpec::of(shape)))));
        all
    }

    /// Flow's order: candidate, pause removed; the candidate becomes the report at the very end.
    fn report(&mut self, spec: &ReportSpec, pauses_again: bool) -> Result<(), NotDone> {
        let run_dir = &self.order.run_dir;
        let prepared = report::prepare(spec, &self.subject, clock::now());
        let mut prepared = prepared.map_err(|error| NotDone::Failed(error.to_string()))?;
        if let Some(value) = &mut prepared.value {
            let undamaged = prepared.bytes == files::pretty(value);
            self.mark(value);
            if undamaged {
                prepared.bytes = files::pretty(value);
            }
            let first = self.paused_at();
            let digest = &self.order.request.capability_digest;
            checkpoint::write(run_dir, &self.subject, value, first, digest)?;
        }
        pause::record_approval(run_dir, &self.ready.pending, &run_dir.to_string_lossy(), &self.order.operator)?;
        files::replace(&run_dir.join(CANDIDATE), &prepared.bytes, files::PRIVATE)?;
        if !pauses_again {
            pause::clear(run_dir)?;
        }
        self.candidate = Some(prepared);
        Ok(())
    }

    /// The rest of the run in the live session: nothing where the person's step isn't seen there, else whether it paused again.
    fn drive(&mut self, player: &mut Player<'_>, url: Option<&str>) -> Result<Option<bool>, NotDone> {
        let broken = |error: String| NotDone::Failed(error);
        let url = url.ok_or_else(|| broken("the deployment names no app".into()))?;
        self.subject.url = Some(url.to_owned());
        player.subject.url = Some(url.to_owned());
        let attended = live::Attended { ready: self.ready, action: self.order.request.action };
        let gone = live::go_on(player, &attended, url).map_err(|error| broken(error.to_string()))?;
        let Some(gone) = gone else { return Ok(None) };
        let run_dir = &self.order.run_dir;
        checkpoint::attended(
            run_dir,
            &self.subject,
            &gone.report,
            self.paused_at(),
            &self.order.request.capability_digest,
        )?;
        pause::record_approval(run_dir, &self.ready.pending, &run_dir.to_string_lossy(), &self.order.operator)?;
        let prepared = Prepared { bytes: files::pretty(&gone.report), kind: Kind::File, value: Some(gone.report) };
        files::replace(&run_dir.join(CANDIDATE), &prepared.bytes, files::PRIVATE)?;
        self.candidate = Some(prepared);
        note(player, "report", json!({"shape": gone.shape, "stale": false}))?;
        match gone.category {
            Some(category) => self.pause(&PauseSpec::of(category)).map(|()| Some(true)),
            None => pause::clear(run_dir).map(|()| Some(false)).map_err(NotDone::from),
        }
    }

    fn pause(&self, spec: &PauseSpec) -> Result<(), NotDone> {
        let report = self.candidate.as_ref().and_then(|candidate| candidate.value.as_ref());
        let moment = Moment::of(&self.subject, spec, report);
        Ok(pause::write(&self.order.run_dir, &moment, spec, clock::now())?)
    }

    /// Whether the new report is one of a success.
    fn finish(self) -> Result<bool, NotDone> {
        let run_dir = &self.order.run_dir;
        let Some(prepared) = self.candidate else { return Ok(false) };
        if prepared.kind == Kind::File {
            fs::rename(run_dir.join(CANDIDATE), run_dir.join("report.json"))?;
        } else {
            report::place(run_dir, &prepared)?;
            files::remove(&run_dir.join(CANDIDATE))?;
        }
        Ok(prepared.value.is_some_and(|report| report["success"] == true))
    }

    /// The step that a person decided about was not done by the engine.
    fn mark(&self, report: &mut Value) {
        let at = self.paused_at();
        let Some(result) = report["results"].get_mut(at).filter(|result| result["ok"] == true) else { return };
        let skipped = self.order.request.action == Action::Skip;
        result["actuation"] = json!(if skipped { "human_attended_skip" } else { "human_attended" });
        result["delivery_attempted"] = json!(false);
        result["skipped"] = json!(skipped);
    }

    fn paused_at(&self) -> usize {
        self.ready.capability["step_index"].as_u64().and_then(|at| usize::try_from(at).ok()).unwrap_or_default()
    }
}

fn is_pause(step: &BridgeStep) -> bool {
    matches!(step, BridgeStep::Play(Step::Pause(_)))
}

fn note(player: &mut crate::play::Player<'_>, event: &str, facts: Value) -> Result<(), NotDone> {
    player.note(event, facts).map_err(|error| NotDone::Failed(error.to_string()))
}
