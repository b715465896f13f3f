//! The judge. It drives the agent's real binary over real stdio, records what it sees, and judges the record.

pub mod check;
pub mod scenario;
