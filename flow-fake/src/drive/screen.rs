//! What a course needs of a browser's page: a few questions and deeds, each with an end.

use std::time::Duration;

use thiserror::Error;

/// The browser gave no answer that the course could go on with.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Trouble {
    #[error("TimeoutError: the page didn't answer in time ({0})")]
    Silent(String),
    #[error("Error: {0}")]
    Broken(String),
}

pub type Answer<T> = Result<T, Trouble>;

/// A rectangle on the page, in whole pixels: left, top, width, height.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Area {
    pub left: i64,
    pub top: i64,
    pub width: i64,
    pub height: i64,
}

pub trait Screen {
    fn go_to(&mut self, url: &str) -> Answer<()>;
    fn count(&mut self, selector: &str) -> Answer<usize>;
    /// The text of each match.
    fn texts(&mut self, selector: &str) -> Answer<Vec<String>>;
    /// Where the first match is; `None` when nothing is seen of it.
    fn area(&mut self, selector: &str) -> Answer<Option<Area>>;
    /// Whether a match is seen before the patience ends.
    fn appears(&mut self, selector: &str, patience: Duration) -> Answer<bool>;
    fn click(&mut self, selector: &str) -> Answer<()>;
    fn fill(&mut self, selector: &str, text: &str) -> Answer<()>;
    /// What a field holds.
    fn value(&mut self, selector: &str) -> Answer<String>;
    /// A PNG of what is seen.
    fn picture(&mut self) -> Answer<Vec<u8>>;
    /// From now on the page answers nothing any more.
    fn freeze(&mut self) -> Answer<()>;
    /// Ends the browser; gives up on one that won't.
    fn close(&mut self);
}

impl Area {
    pub fn center(self) -> (i64, i64) {
        (self.left + self.width / 2, self.top + self.height / 2)
    }
}
