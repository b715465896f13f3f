//! The sandbox: one made-up workflow on a made-up clinic, for whoever starts the server without anything to run.

mod app;
mod case;
mod clinic;
mod engine;
mod lacking;
mod leash;
mod listing;
mod prepare;
mod programs;
mod room;
mod simulated;
mod stage;
mod workflow;

pub use room::{Chosen, Sandbox};
pub use simulated::simulated;
pub use stage::{Stage, Unreachable};
pub use workflow::{case_of, catalog, params};

use crate::contract::sandbox::SandboxEngine;
use crate::flow::bridge::command::BridgeCommand;

/// Which engine the operator asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineChoice {
    /// The most real one that this computer can run.
    Auto,
    /// This one, or none.
    Named(SandboxEngine),
}

/// What the operator fixed about the sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxSettings {
    pub choice: EngineChoice,
    /// The engine's bridge; none named: the stand-in beside this program or on the PATH.
    pub bridge: Option<BridgeCommand>,
    /// The words that start the app; none named: MockMed beside this program or on the PATH.
    pub app: Option<Vec<String>>,
    /// The app's port on this computer; 0 takes a free one.
    pub port: u16,
    /// The browser's window is shown.
    pub headed: bool,
}
