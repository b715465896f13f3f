//! The write journal: what was asked, what was stored and what the client was told, one JSON object a line. The shape is
//! `schemas/mockmed-journal-line.json`.

mod event;
mod file;

pub use event::{Event, Problem};
pub use file::{Journal, JournalError, WriteNumber};
