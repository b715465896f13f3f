//! The sandbox's five cases, played for a person: what the app shows, what its store holds, what the agent says.

mod agreement;
mod cases;
mod images;
mod page;
mod pictures;
mod play;
mod report;
#[cfg(test)]
mod sample;
mod scene;
mod text;
mod words;

pub use agreement::{Agreement, agreement};
pub use cases::{CASES, Case};
pub use images::{ImageFault, images};
pub use page::page;
pub use play::{Onlooker, Plan, play};
pub use scene::{Demo, Engine, Picture, Said, Scene, Screen, Store, Write};
pub use text::{closing, heading, scene as scene_in_words, table};
