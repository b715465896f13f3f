//! MockMed: a small clinic in which every person is made up, for watching a workflow save a record, or fail to.
//!
//! [`start`] serves it on 127.0.0.1 from a thread of its own; the [`Running`] that comes back is the handle.

pub mod cli;
mod clinic;
mod encounter;
mod fault;
mod http;
mod journal;
mod server;
mod store;

pub use server::{Options, Running, StartError, start};
