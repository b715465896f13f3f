//! Runs scenarios: worlds, actions, the record of what happened.

pub mod act;
pub mod answers;
pub mod bundle;
pub mod clinic;
pub mod crash;
pub mod edit;
pub mod events;
pub mod forms;
pub mod fuzz;
pub mod limits;
mod mailbox;
pub mod older;
pub mod operator;
pub mod perform;
pub mod process;
pub mod processes;
pub mod scheduler;
pub mod smoke;
pub mod special;
pub mod storm;
pub mod subject;
pub mod variables;
pub mod world;

pub use perform::perform;
