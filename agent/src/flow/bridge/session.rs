//! The one recording session of a bridge process. It is never started a second time: with its process a session is gone.

use std::time::Duration;

use serde_json::{Map, Value};

use super::command::BridgeCommand;
use super::process::{BridgeProcess, Lost};
use super::protocol::{self, Speechless};
use super::{BridgeFault, HELLO_WITHIN};
use crate::lifecycle::executor::StartToken;

/// A browser is opened meanwhile.
const OPEN_WITHIN: Duration = Duration::from_secs(120);

/// A bridge process that holds a session. Calls block.
#[derive(Debug)]
pub struct SessionProcess {
    process: BridgeProcess,
    within: Duration,
}

/// What became of a step.
#[derive(Debug, Clone, PartialEq)]
pub enum Stepped {
    Done(Map<String, Value>),
    /// The session says no, in the bridge's own word. Nothing was done.
    Refused(String),
    /// It was handed over, and nobody can say what became of it.
    Unknown,
    /// The process was gone before.
    NotSent,
}

/// Why there is no session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotOpened {
    Bridge(BridgeFault),
    /// The bridge's own word.
    Reason(String),
}

impl SessionProcess {
    /// Starts the bridge and opens its session: what it says of it.
    pub fn open(command: &BridgeCommand, fields: Map<String, Value>) -> Result<(Self, Map<String, Value>), NotOpened> {
        let process = BridgeProcess::start(command).map_err(|_| NotOpened::Bridge(BridgeFault::NotStarted))?;
        let opened = Self { process, within: command.decision_within() };
        let said = opened.opened(fields).inspect_err(|_| opened.process.end())?;
        Ok((opened, said))
    }

    fn opened(&self, fields: Map<String, Value>) -> Result<Map<String, Value>, NotOpened> {
        let fault = |lost| NotOpened::Bridge(super::fault_of(lost));
        let greeting = self.process.ask("hello", Map::new(), HELLO_WITHIN).map_err(fault)?;
        protocol::hello(&greeting).map_err(|speechless| {
            NotOpened::Bridge(match speechless {
                Speechless::NoFlow => BridgeFault::NoFlow,
                Speechless::OtherVersion => BridgeFault::OtherVersion,
                Speechless::ImportError => BridgeFault::ImportError,
                Speechless::Garbage => BridgeFault::Garbage,
            })
        })?;
        let answer = self.process.ask("authoring.open", fields, OPEN_WITHIN).map_err(fault)?;
        if protocol::is_ok(&answer) {
            return Ok(answer);
        }
        let word = |key: &str| answer.get(key).and_then(Value::as_str);
        let unknown = word("kind") == Some("unknown_op");
        Err(NotOpened::Reason(word("authoring_reason").unwrap_or(if unknown { "no_authoring" } else { "" }).to_owned()))
    }

    /// Looks, and changes nothing.
    pub fn look(&self, op: &str, fields: Map<String, Value>) -> Stepped {
        self.ask(op, fields)
    }

    /// Carries out one step, once: with the token of its committed dispatch, which nothing else makes.
    pub fn step(&self, op: &str, fields: Map<String, Value>, _: StartToken) -> Stepped {
        self.ask(op, fields)
    }

    pub fn is_there(&self) -> bool {
        self.process.is_answering()
    }

    fn ask(&self, op: &str, fields: Map<String, Value>) -> Stepped {
        match self.process.ask(op, fields, self.within) {
            Ok(answer) if protocol::is_ok(&answer) => Stepped::Done(answer),
            Ok(answer) => {
                let word = |key: &str| answer.get(key).and_then(Value::as_str);
                match (word("kind"), word("code")) {
                    (Some("refused"), code) => Stepped::Refused(code.unwrap_or_default().to_owned()),
                    (Some("unknown_op" | "bad_request"), _) => Stepped::Refused(String::new()),
                    _ => Stepped::Unknown,
                }
            }
            Err(Lost::NeverSent) => Stepped::NotSent,
            // What it may still be doing nobody would see: it ends.
            Err(Lost::Ended | Lost::Late | Lost::Garbage) => {
                self.process.end();
                Stepped::Unknown
            }
        }
    }
}
