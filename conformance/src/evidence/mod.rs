//! Everything that was observed of one scenario: data that can be stored, judged later, and mutated. No verdict is reached here.

pub mod actions;
pub mod crash;
pub mod files;
pub mod form;
pub mod journal;
pub mod ledger;
pub mod lifecycle;
pub mod model;

pub use journal::JournalLine;
pub use model::*;
