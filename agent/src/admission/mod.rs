//! Admissions: whether this exact release, and a workflow's exact bundle, may call itself production now. Admitted or not
//! actively admitted, and nothing between. Source: the design's first section.

pub mod authority;
pub mod campaign;
pub mod evidence;
pub mod fetch;
mod hashes;
pub mod ledger;
pub mod live;
pub mod profile;
mod reading;
pub mod reason;
pub mod release;
pub mod report;
pub mod run_rule;
pub(crate) mod shape;
mod signature;
pub mod source;
pub mod status;
mod targets;
pub mod trust;
pub mod trust_state;
pub mod watermark;
mod window;
pub mod workflow;

pub use reason::{Reason, State};
pub use run_rule::RunRule;
pub use targets::TargetId;
