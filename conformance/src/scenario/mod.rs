//! Scenarios: read, expanded, selected. Nothing here runs anything.

pub mod action;
pub mod expand;
pub mod files;
pub mod form;
pub mod id;
pub mod mailbox;
pub mod model;
pub mod select;
pub mod source;
pub mod verbs;

pub use action::Action;
pub use id::{RequirementId, ScenarioId};
pub use model::Scenario;
