//! The one entry that every action goes through: permission, dispatch intent, receipt, recovery. No second workflow engine: what is
//! executed, and how, is Flow's business.

pub mod canonical;
pub mod contracts;
pub mod crash;
pub mod events;
pub mod executor;
pub mod facts;
pub mod failures;
pub mod gate;
pub mod machine;
pub mod policy;
pub mod project;
pub mod review;
pub mod sealed;
pub mod store;
#[cfg(test)]
pub mod testing;
pub mod types;

pub use store::{Store, StoreFault};
