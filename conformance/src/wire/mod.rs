//! A raw client over a server's pipes. It believes nothing: every line is kept as it came, and judged later.

pub mod client;
pub mod ready;
pub mod server;
pub mod tail;
pub mod transcript;
