//! Admissions from outside: ledgers, packs and files as an attacker or an unlucky operator would leave them, and one verdict each.

#![expect(clippy::unwrap_used, reason = "a test says where it failed")]

mod fetching;
mod flips;
mod forge;
mod ledgers;
mod packs;
mod releases;
mod runs;
mod samples;
mod watermarks;
mod workflows;
mod world;
