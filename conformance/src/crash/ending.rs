//! How Flow would have ended, had nobody died.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// Saved, and read back.
    #[default]
    Verified,
    /// Stopped before saving, for a person.
    NeedsReview,
    /// A save may have gone through.
    Uncertain,
    /// Flow's gate refused.
    Refused,
}

/// What a result says, as far as a window's table goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Told {
    pub outcome: &'static str,
    pub reason: &'static str,
    /// The same request may be tried once more.
    pub retry: bool,
}

pub const NOT_STARTED: Told = Told { outcome: "did_not_run", reason: "platform_error", retry: true };
pub const INTERRUPTED: Told = Told { outcome: "not_sure_if_saved", reason: "interrupted", retry: false };

impl Ending {
    pub const ALL: [Self; 4] = [Self::Verified, Self::NeedsReview, Self::Uncertain, Self::Refused];

    pub fn name(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::NeedsReview => "needs-review",
            Self::Uncertain => "uncertain",
            Self::Refused => "refused",
        }
    }

    /// What flow-fake plays.
    pub fn steps(self) -> Value {
        match self {
            Self::Verified => json!(["run_dir", {"gate": "admit"}, "effect", {"report": "verified"}]),
            Self::NeedsReview => {
                json!(["run_dir", {"gate": "admit"}, {"report": "halted_before_effect"}, {"pause": {"category": "identity"}}])
            }
            Self::Uncertain => json!(["run_dir", {"gate": "admit"}, "effect", {"report": "reconciliation_required"}]),
            Self::Refused => json!([{"gate": {"refuse": ["Certification passed"]}}]),
        }
    }

    /// The contract's row for it.
    pub fn told(self) -> Told {
        match self {
            Self::Verified => Told { outcome: "done", reason: "saved_and_checked", retry: false },
            Self::NeedsReview => Told { outcome: "needs_review", reason: "record_not_confirmed", retry: false },
            Self::Uncertain => Told { outcome: "not_sure_if_saved", reason: "save_not_confirmed", retry: false },
            Self::Refused => Told { outcome: "did_not_run", reason: "not_ready_to_run", retry: true },
        }
    }

    /// Saves of one whole run.
    pub fn saves(self) -> usize {
        usize::from(matches!(self, Self::Verified | Self::Uncertain))
    }
}
