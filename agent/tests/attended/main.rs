//! The attention tools through the bridge, on real run folders and with a bridge of Flow that plays a script.

#![expect(clippy::unwrap_used, reason = "a test says where it failed")]

mod decisions;
mod older;
mod tools;
mod world;
