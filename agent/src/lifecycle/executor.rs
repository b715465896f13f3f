//! What it takes to start an executor, and how its requests are accounted for. Source: lifecycle, *Types* and part H.

use crate::contract::outcome::closed_words;

closed_words! {
    /// How a request to an executor ended. Nothing but `completed` can be a success.
    ExecutorStatus {
        Completed = "completed",
        Failed = "failed",
        Cancelled = "cancelled",
        /// It ended, or was lost, without anything that says what it did.
        Incomplete = "incomplete",
    }
}

/// Proof that a dispatch intent was committed: 32 hex digits that the one committed transaction wrote. Nothing else makes one, so
/// an action that was denied, or only authorized, has nothing to start an executor with.
///
/// ```compile_fail
/// let token = openadapt_agent::lifecycle::executor::StartToken { text: String::new() };
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct StartToken {
    text: String,
}

impl StartToken {
    /// For the store's dispatch transaction alone.
    pub(super) fn committed(text: String) -> Self {
        Self { text }
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }
}
