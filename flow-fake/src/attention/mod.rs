//! The attention queue, as Flow projects it from the run folders.

mod item;
mod scan;
mod wording;

pub use item::item;
pub use scan::{attention_id, list, resolve, run_folders};
