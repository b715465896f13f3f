//! The client of Flow's bridge: one process for a server's lifetime, started when it is first needed, started again once after
//! it was lost. Source: docs/flow-bridge.md.

pub mod command;
mod interpreter;
pub mod process;
pub mod protocol;
pub mod session;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value, json};

use command::BridgeCommand;
use process::{BridgeProcess, Lost};
use protocol::{ActRequest, Acted, Hello, Item, Refusal, Speechless};

/// The first start and one more.
const STARTS: u8 = 2;
/// A deployment's browser is opened meanwhile.
const HELLO_WITHIN: Duration = Duration::from_secs(60);
const LOOK_WITHIN: Duration = Duration::from_secs(30);
/// A server that starts waits for this, so a client waits for it, too.
const DESCRIBE_WITHIN: Duration = Duration::from_secs(40);

/// Flow's bridge, as its callers see it. Calls block.
#[derive(Debug)]
pub struct FlowBridge {
    command: BridgeCommand,
    hello_within: Duration,
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
    #[error("the interpreter of --flow-cli has no openadapt-flow")]
    NoFlow,
    #[error("this isn't a Flow 1.35; another version's decisions aren't known here")]
    OtherVersion,
    #[error("Flow is there, but a part of it that is needed can't be loaded")]
    ImportError,
}

impl FlowBridge {
    pub fn new(command: BridgeCommand) -> Self {
        Self { command, hello_within: HELLO_WITHIN, state: Mutex::default() }
    }

    /// One that is only asked what bundles are, while a server starts.
    pub fn describing(command: BridgeCommand) -> Self {
        Self { command, hello_within: DESCRIBE_WITHIN, state: Mutex::default() }
    }

    /// All that the bridge says of itself. Starts it.
    pub fn greeting(&self) -> Result<Map<String, Value>, BridgeFault> {
        self.ask("hello", Map::new(), LOOK_WITHIN)
    }

    /// What a bundle is, as Flow reads it; nothing for one that it doesn't load.
    pub fn describe(&self, bundle_dir: &Path) -> Result<Option<Map<String, Value>>, BridgeFault> {
        let fields = object(json!({"dir": bundle_dir.to_string_lossy()}));
        protocol::bundle(&self.ask("bundle.describe", fields, DESCRIBE_WITHIN)?).ok_or(BridgeFault::Garbage)
    }

    /// What the bridge says of itself. Starts it.
    pub fn hello(&self) -> Result<Hello, BridgeFault> {
        self.running().map(|(_, hello)| hello)
    }

    /// The item as Flow sees it, or nothing. Asked again once where the process was lost over it.
    pub fn attention_item(&self, runs_dir: &Path, attention_id: &str) -> Result<Option<Item>, BridgeFault> {
        let fields = object(json!({"runs_dir": runs_dir.to_string_lossy(), "attention_id": attention_id}));
        let within = LOOK_WITHIN.min(self.command.decision_within());
        self.attended()?;
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
        let process = self.attended()?;
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

    fn attended(&self) -> Result<Arc<BridgeProcess>, BridgeFault> {
        let (process, hello) = self.running()?;
        if hello.attended { Ok(process) } else { Err(BridgeFault::NotAttended) }
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
        let hello = greeted(&process, self.hello_within).inspect_err(|_| process.end())?;
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

fn greeted(process: &BridgeProcess, within: Duration) -> Result<Hello, BridgeFault> {
    let greeting = process.ask("hello", Map::new(), within).map_err(fault_of)?;
    protocol::hello(&greeting).map_err(|speechless| match speechless {
        Speechless::NoFlow => BridgeFault::NoFlow,
        Speechless::OtherVersion => BridgeFault::OtherVersion,
        Speechless::ImportError => BridgeFault::ImportError,
        Speechless::Garbage => BridgeFault::Garbage,
    })
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
