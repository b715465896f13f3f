//! What the store and the keeper leave on disk: valid under the schemas, and read back as it was meant.

mod keeper;
mod records;
mod world;
