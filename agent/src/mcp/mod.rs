//! MCP over stdio: the thin adapter between a byte stream and the bridge.
//!
//! Bytes come in through `wire` and `line`, and are read `once`; `envelope`, `params` and `desk` judge each message before rmcp sees it
//! (`front`); rmcp keeps the lifecycles and dispatches to `service`; answers leave through `outbox`. Where a tool needs a
//! person's yes, `consent` asks for it with a `form`: by `asking`, or with a sealed `request_state` in 2026-07-28. A call
//! that waits says so by `progress`, where its caller asked for that.

mod answer;
mod asking;
mod closing;
mod consent;
mod desk;
mod envelope;
mod form;
mod front;
mod line;
pub mod log;
mod once;
mod outbox;
mod params;
pub mod process;
mod progress;
mod request_state;
mod salvage;
mod serve;
mod service;
#[cfg(unix)]
mod unix;
mod wire;

pub use closing::Ended;
pub use serve::{ServerFace, serve};
pub use wire::Wire;
