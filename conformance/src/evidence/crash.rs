//! What was seen of a crash, and of everything after it.

use serde::{Deserialize, Serialize};

use super::Exit;
use super::lifecycle::SeenStore;
use crate::crash::{Case, Kill};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CrashSeen {
    pub case: Option<Case>,
    pub kill: Option<Kill>,
    /// How the first server ended, where it did.
    pub died: Option<Exit>,
    /// Processes that were killed from outside.
    pub killed: Vec<String>,
    /// At which event a kill came, and how many of the run's events there had been.
    pub struck_at: Option<u64>,
    /// The store, when all who died were dead and nobody had come yet.
    pub at_death: SeenStore,
    /// The exchange of the call during which it happened.
    pub call: Option<usize>,
    /// Looks while a keeper still stood still.
    pub meanwhile: Vec<usize>,
    /// How the server ended that was to die in recovery.
    pub died_again: Option<Exit>,
    /// Looks when all was over, before anything else was asked.
    pub looks: Vec<usize>,
    /// The same request again.
    pub resent: Option<usize>,
    /// Looks at every run afterwards.
    pub after: Vec<usize>,
    pub at_end: SeenStore,
}
