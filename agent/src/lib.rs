//! openadapt-agent: what a calling agent may know about a save, and nothing else.

pub mod bridge;
pub mod contract;
pub mod mcp;
