//! Judges each command, and carries out what may be: once, for the account that a person allowed, and never after something went
//! unknown.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::command::{Command, CommandId, Refusal, Said};
use super::envelope::{Envelope, NoEnvelope, Sub};
use super::person::Person;
use crate::authoring::copy;
use crate::authoring::request::Step;
use crate::authoring::room::{Room, Told};
use crate::authoring::tool::RecordingTool;

/// More commands than these come from nobody who records.
const MOST: usize = 10_000;

/// Where steps are carried out. Calls block.
pub trait Recorder: Send {
    fn step(&mut self, tool: RecordingTool, step: &Step) -> Told;
}

impl Recorder for Arc<Room> {
    fn step(&mut self, tool: RecordingTool, step: &Step) -> Told {
        self.call(tool, step, false, None)
    }
}

/// One mailbox's commands.
pub struct Desk<R, P> {
    recorder: R,
    person: P,
    allowed: Option<Sub>,
    seen: BTreeSet<CommandId>,
    /// Something was done or not, and nobody knows: from then on nothing is done.
    uncertain: bool,
}

/// What becomes of a command.
#[derive(Debug, Clone, PartialEq)]
pub enum Turn {
    Answer(CommandId, Said),
    /// A person has said yes: the mailbox is told first, and then `allowed`.
    Allow(CommandId, Box<Envelope>),
    /// It can't even be answered.
    Nothing,
}

impl<R: Recorder, P: Person> Desk<R, P> {
    pub fn new(recorder: R, person: P) -> Self {
        Self { recorder, person, allowed: None, seen: BTreeSet::new(), uncertain: false }
    }

    pub fn take(&mut self, said: Map<String, Value>) -> Turn {
        let refused = |id, refusal| Turn::Answer(id, Said::Refused(refusal));
        let envelope = match Envelope::read(said) {
            Ok(envelope) => envelope,
            Err(NoEnvelope(Some(id))) => return refused(id, Refusal::InvalidEnvelope),
            Err(NoEnvelope(None)) => return Turn::Nothing,
        };
        let id = envelope.id.clone();
        if self.uncertain || self.seen.len() >= MOST || !self.seen.insert(id.clone()) {
            return refused(id, Refusal::ReconciliationRequired);
        }
        let is_allowed = self.allowed.as_ref() == Some(&envelope.sub);
        match &envelope.command {
            Command::BindPack => self.asked(envelope),
            Command::Type => refused(id, Refusal::TypeRefused),
            Command::Unknown => refused(id, Refusal::InvalidEnvelope),
            Command::Step(..) if !is_allowed => refused(id, Refusal::NotAllowed),
            Command::Step(tool, step) => {
                let said = self.carry_out(*tool, step);
                Turn::Answer(id, said)
            }
        }
    }

    /// The mailbox knows of the person's yes.
    pub fn allowed(&mut self, envelope: &Envelope) -> Said {
        self.allowed = Some(envelope.sub.clone());
        let app = envelope.app.map(super::command::ChatApp::as_str);
        Said::Done(object(json!({ "allowed": true, "client_display": app })))
    }

    fn asked(&mut self, envelope: Envelope) -> Turn {
        let id = envelope.id.clone();
        let Some(app) = envelope.app else { return Turn::Answer(id, Said::Refused(Refusal::InvalidAllow)) };
        let instead = self.allowed.as_ref().is_some_and(|sub| *sub != envelope.sub);
        if self.person.allows(app, instead) {
            Turn::Allow(id, Box::new(envelope))
        } else {
            Turn::Answer(id, Said::Refused(Refusal::Denied))
        }
    }

    fn carry_out(&mut self, tool: RecordingTool, step: &Step) -> Said {
        let told = self.recorder.step(tool, step);
        match (step, told) {
            (Step::Pause { param, secret, .. }, Told::Answer(_)) => {
                let typed = self.person.has_typed(*secret);
                self.continued(typed, param.as_ref().map(crate::authoring::request::Param::as_str))
            }
            (_, told) => self.said(told),
        }
    }

    /// What the person typed is observed, never typed again.
    fn continued(&mut self, typed: bool, param: Option<&str>) -> Said {
        if !typed {
            return Said::Refused(Refusal::Error);
        }
        let told = self.recorder.step(RecordingTool::ContinueInput, &Step::Continue);
        match self.said(told) {
            Said::Done(answer) if answer.get("recorded") == Some(&Value::Bool(true)) => {
                let mut recorded = json!({ "recorded": true });
                if let Some(param) = param {
                    recorded["param"] = param.into();
                }
                Said::Done(object(recorded))
            }
            Said::Done(_) => Said::Refused(Refusal::Error),
            refused => refused,
        }
    }

    fn said(&mut self, told: Told) -> Said {
        match told {
            Told::Answer(answer) if answer.get("error").and_then(Value::as_str) == Some("stale_node") => {
                Said::Refused(Refusal::StaleNode)
            }
            Told::Answer(answer) if answer.contains_key("error") => Said::Refused(Refusal::Error),
            Told::Answer(answer) => Said::Done(answer),
            Told::Refused(copy::COACH_ONLY) => Said::Refused(Refusal::CoachOnly),
            Told::Refused(_) | Told::Ask { .. } => Said::Refused(Refusal::Error),
            Told::Unknown => {
                self.uncertain = true;
                Said::Refused(Refusal::ReconciliationRequired)
            }
        }
    }
}

fn object(value: Value) -> Map<String, Value> {
    if let Value::Object(object) = value { object } else { Map::new() }
}

#[cfg(test)]
mod tests;
