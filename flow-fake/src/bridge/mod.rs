//! The bridge: one request a line on stdin, one response a line on stdout, and nothing else there.

mod answer;
mod authoring;
mod bundle;
mod fault;
mod serve;

pub use serve::{Bridge, serve};
