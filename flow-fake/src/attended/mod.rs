//! A person's decision about a pause: request, checks, record, and what it does to the run.

mod act;
mod book;
mod chain;
mod check;
pub mod checkpoint;
mod continuation;
mod lease;
mod live;
mod request;
mod rest;
mod stage;
mod steps;

pub use act::act;
pub use book::{Book, Entry};
pub use check::{capability_digest, checked, signed_capability};
pub use live::Gone;
pub use request::{Action, Order, Request, Status};
pub use stage::{CrashPoint, Stage};

use thiserror::Error;

/// Why there is no decision to answer with.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum NotDone {
    /// Nothing was written.
    #[error("refused: {0}")]
    Refused(&'static str),
    /// Nobody can say what happened.
    #[error("failed: {0}")]
    Failed(String),
}

impl From<std::io::Error> for NotDone {
    fn from(error: std::io::Error) -> Self {
        Self::Failed(error.to_string())
    }
}
