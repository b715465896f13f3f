//! Plays the steps of one launch.

mod approval;
mod child;
mod clinic;
mod control;
pub mod driven;
mod gate;
mod kill;
mod noise;
mod player;
mod process;

pub use child::grandchild_main;
pub use control::forever;
pub use driven::resume;
pub use gate::{refusal, text as gate_text};
pub use player::Player;
pub use process::{Ending, traceback_text};
