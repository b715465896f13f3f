//! openadapt-agent: what a calling agent may know about a save, and nothing else.

pub mod admission;
pub mod attended;
pub mod authoring;
pub mod bridge;
pub mod cli;
pub mod contract;
pub mod doctor;
pub mod flow;
pub mod keeper;
pub mod lifecycle;
pub mod mailbox;
pub mod mcp;
pub mod refusal;
pub mod runs;
pub mod sandbox;
pub mod seal;
pub mod service;
pub mod skill;
pub mod variable;
pub mod workflows;
