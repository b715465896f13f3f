//! Flow's recording session, and how far it has come. What the session is asked, and what comes of it, is Flow's business.

use serde_json::{Map, Value};

use super::answer::Refused;
use super::observe::{Backend, Known, Observed};
use super::request::Step;
use crate::flow::bridge::session::{SessionProcess, Stepped};
use crate::lifecycle::executor::StartToken;

/// How far a session has come, as its own answers tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stage {
    Idle,
    Recording,
    Paused,
    Stopped,
    /// There is a draft, by its id where it has one, that a person may accept.
    Compiled(Option<String>),
    Halted,
}

/// The session of one server.
#[derive(Debug)]
pub struct Session {
    process: SessionProcess,
    backend: Backend,
    coach_only: bool,
    stage: Stage,
    /// Another number whenever the same step may come to something else than before.
    generation: u64,
}

impl Session {
    pub fn new(process: SessionProcess, backend: Backend, coach_only: bool) -> Self {
        Self { process, backend, coach_only, stage: Stage::Idle, generation: 0 }
    }

    pub fn coach_only(&self) -> bool {
        self.coach_only
    }

    pub fn stage(&self) -> &Stage {
        &self.stage
    }

    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Its process is there.
    pub fn is_there(&self) -> bool {
        self.process.is_there()
    }

    /// The window, as it may be told of; or why it can't be looked at.
    pub fn observe(&mut self) -> Result<Observed, Unseen> {
        let said = match self.process.look("authoring.observe", Map::new()) {
            Stepped::Done(said) => said,
            Stepped::Refused(code) => return Err(Unseen::Refused(word(&code))),
            Stepped::Unknown | Stepped::NotSent => return Err(Unseen::Lost),
        };
        self.generation += 1;
        let recording = matches!(self.stage, Stage::Recording | Stage::Paused);
        let known = Known { backend: self.backend, coach_only: self.coach_only, recording };
        Ok(Observed::project(said.get("observe").unwrap_or(&Value::Null), known))
    }

    /// A picture of the window, as the session sends it.
    pub fn screen(&mut self, scrubbed: bool) -> Result<Map<String, Value>, Unseen> {
        let fields = Map::from_iter([("scrubbed".to_owned(), scrubbed.into())]);
        match self.process.look("authoring.screen", fields) {
            Stepped::Done(said) => Ok(said),
            Stepped::Refused(code) => Err(Unseen::Refused(word(&code))),
            Stepped::Unknown | Stepped::NotSent => Err(Unseen::Lost),
        }
    }

    /// One step, with the token of its dispatch.
    pub fn step(&mut self, step: &Step, token: StartToken) -> Taken {
        let (op, fields) = step.operation();
        match self.process.step(op, fields, token) {
            Stepped::Done(said) => {
                self.generation += 1;
                self.advance(step, &said);
                Taken::Done(said)
            }
            Stepped::Refused(code) => Taken::Refused(word(&code)),
            Stepped::Unknown => Taken::Unknown,
            Stepped::NotSent => Taken::NotSent,
        }
    }

    fn advance(&mut self, step: &Step, said: &Map<String, Value>) {
        self.stage = match step {
            Step::StartRecord => Stage::Recording,
            Step::Pause { .. } => Stage::Paused,
            Step::Continue if said.get("recorded") == Some(&Value::Bool(true)) => Stage::Recording,
            Step::StopRecord => Stage::Stopped,
            Step::Compile => Stage::Compiled(said.get("workflow_id").and_then(Value::as_str).map(str::to_owned)),
            Step::Halt => Stage::Halted,
            _ => return,
        };
    }
}

/// What a step came to.
#[derive(Debug, Clone, PartialEq)]
pub enum Taken {
    Done(Map<String, Value>),
    Refused(Refused),
    /// It may have been done or not.
    Unknown,
    /// There was nobody to hand it to.
    NotSent,
}

/// Why nothing was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unseen {
    Refused(Refused),
    Lost,
}

fn word(code: &str) -> Refused {
    Refused::parse(code).unwrap_or(Refused::Other)
}
