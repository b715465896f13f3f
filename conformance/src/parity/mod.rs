//! The stand-in held against the real Flow: the same scenario bodies on both, and what each of them left, compared by its shape.

pub mod captured;
pub mod difference;
pub mod outline;
pub mod portrait;

pub use difference::{Difference, differences};
pub use portrait::Portrait;
