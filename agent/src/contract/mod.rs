//! The result contract: closed outcomes and reasons, fixed copy, and the pure mapping from Flow's evidence to both.

pub mod evidence;
pub mod ids;
