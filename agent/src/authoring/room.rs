//! Where calls of recording tools come in: each that acts goes through the one entry, and only then to the session.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value, json};

use super::answer::{self, Refused};
use super::copy;
use super::label::Label;
use super::opening::{Opened, Screens};
use super::request::Step;
use super::screen;
use super::session::{Stage, Taken, Unseen};
use super::tool::RecordingTool;
use crate::bridge::host::FormOutcome;
use crate::flow::canonical::sha256_hex;
use crate::lifecycle::contracts::Tool;
use crate::lifecycle::sealed::DecisionEnd;
use crate::lifecycle::types::Origin;
use crate::runs::StoreError;
use crate::service::Core;
use crate::service::decisions::{Approved, Called, Piece};

/// One session and who may use it.
pub struct Room {
    core: Arc<Core>,
    origin: Origin,
    screens: Screens,
    /// Distinguishes this session's steps from every other's.
    id: String,
    inside: Mutex<Inside>,
}

struct Inside {
    opened: Opened,
    calls: u64,
    last: Option<(&'static str, Map<String, Value>)>,
    hint: Option<Label>,
}

/// What a call comes to.
#[derive(Debug, Clone, PartialEq)]
pub enum Told {
    Answer(Map<String, Value>),
    /// A fixed sentence.
    Refused(&'static str),
    /// It may have been done or not.
    Unknown,
    /// A person is asked; a yes is good for this.
    Ask {
        binding: String,
    },
}

/// A person's answer to a form, and what it was about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    pub outcome: FormOutcome,
    pub binding: String,
}

impl Room {
    pub fn new(core: Arc<Core>, origin: Origin, screens: Screens, opened: Opened) -> Self {
        let id = uuid::Uuid::new_v4().simple().to_string();
        Self { core, origin, screens, id, inside: Mutex::new(Inside { opened, calls: 0, last: None, hint: None }) }
    }

    pub fn screens(&self) -> Screens {
        self.screens
    }

    /// Blocks. `forms`: the client can ask a person.
    pub fn call(&self, tool: RecordingTool, step: &Step, forms: bool, given: Option<&Given>) -> Told {
        let mut inside = self.enter();
        let told = match tool.entered() {
            Some(entered) => self.act(&mut inside, (tool, entered), step, forms, given),
            None => self.look(&mut inside, step),
        };
        if let Told::Answer(answer) = &told
            && !matches!(tool, RecordingTool::GetCommandResult | RecordingTool::Screen)
        {
            inside.last = Some((tool.as_str(), answer.clone()));
        }
        told
    }

    fn look(&self, inside: &mut Inside, step: &Step) -> Told {
        let answer = match step {
            Step::Observe => match inside.opened.session.observe() {
                Ok(observed) => observed.to_object(),
                Err(unseen) => return unseen_as(unseen),
            },
            Step::Screen => {
                let scrubbed = self.screens == Screens::Scrubbed;
                if inside.opened.session.coach_only() {
                    return Told::Refused(copy::COACH_ONLY);
                }
                match inside.opened.session.screen(scrubbed) {
                    Ok(said) => match screen::shared(&said, scrubbed) {
                        Some(answer) => answer,
                        None => return Told::Refused(copy::NO_PICTURE),
                    },
                    Err(unseen) => return unseen_as(unseen),
                }
            }
            Step::CommandResult { command } => {
                let last = inside.last.as_ref();
                answer::command(last.filter(|(name, _)| command.as_ref().is_none_or(|command| command == name)))
            }
            Step::SetCoach(None) => return Told::Refused(copy::NO_HINT),
            Step::SetCoach(Some(hint)) => {
                inside.hint = Some(hint.clone());
                answer::coach(true, Some(hint))
            }
            Step::GetCoach => answer::coach(false, inside.hint.as_ref()),
            _ => answer::bind_status(),
        };
        Told::Answer(answer)
    }

    fn act(
        &self,
        inside: &mut Inside,
        (tool, entered): (RecordingTool, Tool),
        step: &Step,
        forms: bool,
        given: Option<&Given>,
    ) -> Told {
        inside.calls += u64::from(given.is_none());
        let piece = self.piece(inside, entered, step);
        let taken = match given {
            Some(given) => self.answered(inside, &piece, step, forms, given),
            None => match self.not_now(inside, tool, step, forms) {
                Some(told) => self.core.decision_refused(&piece).map(|()| told),
                None => self.called(inside, &piece, step, tool),
            },
        };
        taken.unwrap_or_else(|fault| {
            tracing::warn!("a step of a recording can't be written down: {fault}");
            Told::Refused(copy::NOT_RECORDED)
        })
    }

    /// What can be known without the session.
    fn not_now(&self, inside: &Inside, tool: RecordingTool, step: &Step, forms: bool) -> Option<Told> {
        let session = &inside.opened.session;
        if session.coach_only() && tool.drives() {
            return Some(Told::Refused(copy::COACH_ONLY));
        }
        if !session.is_there() {
            return Some(Told::Refused(copy::LOST));
        }
        match step {
            Step::Pause { param: None, .. } => Some(Told::Refused(copy::NEEDS_PARAM)),
            Step::Admit => match session.stage() {
                Stage::Compiled(_) if !forms => Some(Told::Refused(copy::NO_FORM)),
                Stage::Compiled(_) => None,
                Stage::Halted => Some(Told::Refused(copy::refused(Refused::Halted))),
                _ => Some(Told::Answer(answer::refused(Refused::NotCompiled.as_str()))),
            },
            _ => None,
        }
    }

    fn called(&self, inside: &mut Inside, piece: &Piece, step: &Step, tool: RecordingTool) -> Result<Told, StoreError> {
        let called = match tool {
            RecordingTool::Admit => self.core.decision_called(piece)?,
            _ => self.core.piece_called(piece)?,
        };
        match called {
            Called::Ask => Ok(Told::Ask { binding: piece.binding.clone() }),
            Called::Approved(approved) => self.carry_out(inside, piece, step, *approved),
            Called::Suppressed => Ok(Told::Refused(copy::SUPPRESSED)),
        }
    }

    fn answered(
        &self,
        inside: &mut Inside,
        piece: &Piece,
        step: &Step,
        forms: bool,
        given: &Given,
    ) -> Result<Told, StoreError> {
        let binds =
            given.binding == piece.binding && forms && matches!(inside.opened.session.stage(), Stage::Compiled(_));
        let outcome =
            if given.outcome == FormOutcome::Confirmed && !binds { FormOutcome::Unanswered } else { given.outcome };
        let approved = self.core.decision_answered(piece, outcome)?;
        match (given.outcome, approved) {
            (FormOutcome::Confirmed, Some(approved)) => self.carry_out(inside, piece, step, approved),
            (FormOutcome::Confirmed, None) => Ok(Told::Refused(copy::CHANGED_MEANWHILE)),
            (FormOutcome::NotConfirmed, _) => Ok(Told::Refused(copy::NOT_CONFIRMED)),
            (FormOutcome::Declined, _) => Ok(Told::Refused(copy::DECLINED)),
            (FormOutcome::Cancelled, _) => Ok(Told::Refused(copy::CANCELLED)),
            (FormOutcome::Unanswered, _) => Ok(Told::Refused(copy::UNANSWERED)),
        }
    }

    /// Dispatched, handed over, sealed: in this order, and each once.
    fn carry_out(
        &self,
        inside: &mut Inside,
        piece: &Piece,
        step: &Step,
        approved: Approved,
    ) -> Result<Told, StoreError> {
        let Some((handed, token)) = self.core.decision_dispatched(piece, approved)? else {
            return Ok(Told::Refused(copy::CHANGED_MEANWHILE));
        };
        let taken = inside.opened.session.step(step, token);
        let (end, told) = match &taken {
            Taken::Done(said) => (DecisionEnd::CarriedOut, Told::Answer(answer::done(step, said))),
            Taken::Refused(refused) => (DecisionEnd::Refused, refused_as(*refused)),
            Taken::Unknown => (DecisionEnd::Uncertain, Told::Unknown),
            Taken::NotSent => (DecisionEnd::NotSubmitted, Told::Refused(copy::LOST)),
        };
        if let Err(fault) = self.core.decision_ended(piece, handed, end, Map::new()) {
            // It was done or not; nobody could say so again, so nobody is told that all is well.
            tracing::warn!("what became of a step of a recording couldn't be written down: {fault}");
            return Ok(Told::Unknown);
        }
        Ok(told)
    }

    fn piece(&self, inside: &Inside, tool: Tool, step: &Step) -> Piece {
        let session = &inside.opened.session;
        let (op, fields) = step.operation();
        let contract = json!([tool.as_str(), tool.contract().version]);
        let draft = if let Stage::Compiled(draft) = session.stage() { draft.as_deref() } else { None };
        Piece {
            tool,
            origin: self.origin,
            operation: json!({ "contract": contract, "session": self.id, "op": op, "fields": fields, "call": inside.calls }),
            repeats: json!({ "contract": contract, "session": self.id, "op": op, "fields": fields, "seen": session.generation() }),
            binding: sha256_hex(format!("{}\n{}\n{}", tool.as_str(), self.id, draft.unwrap_or_default()).as_bytes()),
            named: Map::new(),
        }
    }

    fn enter(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn refused_as(refused: Refused) -> Told {
    match refused.as_result() {
        Some(word) => Told::Answer(answer::refused(word)),
        None => Told::Refused(copy::refused(refused)),
    }
}

fn unseen_as(unseen: Unseen) -> Told {
    match unseen {
        Unseen::Refused(refused) => Told::Refused(copy::refused(refused)),
        Unseen::Lost => Told::Refused(copy::LOST),
    }
}
