//! MCP over stdio: the thin adapter between a byte stream and the bridge.
//!
//! Bytes come in through `wire` and `line`; `envelope`, `params` and `desk` judge each message before rmcp sees it
//! (`front`); rmcp keeps the lifecycles and dispatches to `service`; answers leave through `outbox`.

mod answer;
mod closing;
mod desk;
mod envelope;
mod front;
mod line;
pub mod log;
mod outbox;
mod params;
pub mod process;
mod salvage;
mod serve;
mod service;
#[cfg(unix)]
mod unix;
mod wire;

pub use closing::Ended;
pub use serve::{ServerFace, serve};
pub use wire::Wire;
