//! Seals from outside: receipts that another program signed, and everything that can be wrong with one.

#![expect(clippy::unwrap_used, reason = "a test says where it failed")]

mod forge;
mod keys;
mod mutations;
mod runs;
mod vectors;
