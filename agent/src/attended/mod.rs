//! Needs Attention: what waits for a person, read from the run folders, and what a person decides about it.

pub mod action;
pub mod category;
pub mod copy;
pub mod decide;
pub mod decision;
pub mod id;
pub mod item;
pub mod operator;
pub mod page;
mod places;
mod queue;
mod reading;
pub mod request;

pub use queue::{AttentionQueue, Resolved};
