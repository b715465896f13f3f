//! The result contract: closed outcomes and reasons, fixed copy, and the pure mapping from Flow's evidence to both.

pub mod copy;
pub mod evidence;
pub mod failed_check;
pub mod ids;
pub mod invalid_input;
pub mod mapping;
pub mod outcome;
pub mod reason;
pub mod result;
pub mod sandbox;
