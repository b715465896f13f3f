//! What the store and the keeper leave on disk: valid under the schemas, and read back as it was meant.

#![expect(clippy::unwrap_used, reason = "a test says where it failed")]

mod crash_points;
mod keeper;
mod records;
mod world;
