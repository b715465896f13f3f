//! The client of Flow's bridge: one process for a server's lifetime, started when it is first needed, started again once after
//! it was lost. Source: docs/flow-bridge.md.

pub mod command;
pub mod process;
pub mod protocol;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value, json};

use command::BridgeCommand;
use process::{BridgeProcess, Lost};
use protocol::{ActRequest, Acted, Hello, Item, Refusal};

/// The first start and one more.
const STARTS: u8 = 2;
/// A deployment's browser is opened meanwhile.
const HELLO_WITHIN: Duration = Duration::from_secs(60);
const LOOK_WITHIN: Duration = Duration::from_secs(30);

/// Flow's bridge, as its callers see it. Calls block.
#[derive(Debug)]
pub struct FlowBridge {
    command: BridgeCommand,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    running: Option<(Arc<BridgeProcess>, Hello)>,
    started: u8,
}

/// Nothing was asked of Flow, or nothing that could change anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BridgeFault {
    #[error("the bridge's program can't be started")]
    NotStarted,
    #[error("the bridge was lost, and it isn't started a third time")]
    LostTwice,
    #[error("the bridge ended before it answered")]
    Ended,
    #[error("the bridge didn't answer in time")]
    Late,
    #[error("the bridge wrote something that is no answer")]
    Garbage,
    #[error("this Flow carries no decisions")]
    NotAttended,
}

impl FlowBridge {
    pub fn new(command: BridgeCommand) -> Self {
        Self { command, state: Mutex::default() }
    }

    /// What the bridge says of itself. Starts it.
    pub fn hello(&self) -> Result<Hello, BridgeFault> {
        self.running().map(|(_, hello)| hello)
    }

    /// The item as Flow sees it, or nothing. Asked again once where the process was lost over it.
    pub fn attention_item(&self, runs_dir: &Path, attention_id: &str) -> Result<Option<Item>, BridgeFault> {
        let fields = object(json!({"runs_dir": runs_dir.to_string_lossy(), "attention_id": attention_id}));
        let within = LOOK_WITHIN.min(self.command.decision_within());
        let answer = match self.ask("attention.get", fields.clone(), within) {
            Err(BridgeFault::Ended | BridgeFault::Garbage) => self.ask("attention.get", fields, within),
            answer => answer,
        };
        protocol::item(&answer?).ok_or(BridgeFault::Garbage)
    }

    /// Submits one decision. It is never sent twice.
    ///
    /// # Errors
    /// `Err` only while nothing was submitted. Once it was, whatever isn't an answer is [`Acted::Failed`].
    pub fn act(&self, runs_dir: &Path, request: &ActRequest<'_>) -> Result<Acted, BridgeFault> {
        let (process, _) = self.running()?;
        let answer = process.ask("attended.act", request.fields(runs_dir), self.command.decision_within());
        Ok(match answer {
            Ok(answer) => match protocol::acted(&answer, request) {
                Ok(decision) => Acted::Decided(decision),
                Err(Refusal::Refused) => Acted::Refused,
                Err(Refusal::Failed) => Acted::Failed,
            },
            Err(Lost::NeverSent) => {
                self.forget(&process);
                return Err(BridgeFault::Ended);
            }
            Err(Lost::Ended | Lost::Late | Lost::Garbage) => {
                self.forget(&process);
                Acted::Failed
            }
        })
    }

    fn ask(&self, op: &str, fields: Map<String, Value>, within: Duration) -> Result<Map<String, Value>, BridgeFault> {
        let (process, _) = self.running()?;
        process.ask(op, fields, within).map_err(|lost| {
            self.forget(&process);
            fault_of(lost)
        })
    }

    fn running(&self) -> Result<(Arc<BridgeProcess>, Hello), BridgeFault> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((process, hello)) = &state.running
            && process.is_answering()
        {
            return Ok((Arc::clone(process), *hello));
        }
        state.running = None;
        if state.started == STARTS {
            return Err(BridgeFault::LostTwice);
        }
        state.started += 1;
        let process = Arc::new(BridgeProcess::start(&self.command).map_err(|_| BridgeFault::NotStarted)?);
        let hello = greeted(&process).inspect_err(|_| process.end())?;
        state.running = Some((Arc::clone(&process), hello));
        Ok((process, hello))
    }

    /// A process that has once failed to answer isn't asked again.
    fn forget(&self, lost: &Arc<BridgeProcess>) {
        lost.end();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.running.as_ref().is_some_and(|(running, _)| Arc::ptr_eq(running, lost)) {
            state.running = None;
        }
    }
}

fn greeted(process: &BridgeProcess) -> Result<Hello, BridgeFault> {
    let greeting = process.ask("hello", Map::new(), HELLO_WITHIN).map_err(fault_of)?;
    let hello = protocol::hello(&greeting).ok_or(BridgeFault::Garbage)?;
    if hello.attended { Ok(hello) } else { Err(BridgeFault::NotAttended) }
}

fn fault_of(lost: Lost) -> BridgeFault {
    match lost {
        Lost::NeverSent | Lost::Ended => BridgeFault::Ended,
        Lost::Late => BridgeFault::Late,
        Lost::Garbage => BridgeFault::Garbage,
    }
}

fn object(value: Value) -> Map<String, Value> {
    if let Value::Object(object) = value { object } else { Map::new() }
}

#[cfg(test)]
mod tests;
