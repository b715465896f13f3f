//! The transport-free half of the server: what tools there are and what a call of one does.

pub mod host;
