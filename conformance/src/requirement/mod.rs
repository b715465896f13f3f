//! The requirement catalogue, and what a run says about each row of it.

pub mod catalogue;
pub mod claims;
pub mod matrix;

pub use catalogue::{Catalogue, Level, Requirement};
pub use claims::Claims;
pub use matrix::{Matrix, State};
