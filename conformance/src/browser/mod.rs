//! A real browser for the scenarios that need one: found, or set up; never needed to build or to judge the rest.

mod found;
mod setup;

pub use found::{Browser, Missing, chromium, find, version};
pub use setup::{SetUp, set_up};
