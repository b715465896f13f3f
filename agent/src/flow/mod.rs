//! Everything that knows how Flow is started and what it leaves behind. Nothing here decides what a run may be called.

pub mod approval;
pub mod bridge;
pub mod bundle_key;
pub mod canonical;
pub mod certify;
pub mod command;
pub mod decisions;
pub mod hex_text;
pub mod pause;
pub mod report;
pub mod run_dir;
