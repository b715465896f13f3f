//! The judge. It drives the agent's real binary over real stdio, records what it sees, and judges the record.

pub mod bench;
pub mod browser;
pub mod certificate;
pub mod check;
pub mod cli;
pub mod clients;
pub mod console;
pub mod crash;
pub mod demo;
pub mod docs;
pub mod evidence;
pub mod exit;
pub mod leak;
pub mod model;
pub mod parity;
pub mod power;
pub mod real_flow;
pub mod report;
pub mod requirement;
pub mod run;
pub mod scenario;
pub mod storm;
pub mod wire;
