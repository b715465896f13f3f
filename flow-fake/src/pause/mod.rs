//! An open pause: the pending file, the signed capability and its key, and what a person decides about them afterwards.

mod capability;
mod decide;
mod moment;
mod pending;
mod tamper;

pub use capability::{capability, pause_digest, sign, signature_holds, transition_digest};
pub use decide::{Decision, approve, clear, record_approval, reject, set_status};
pub use moment::Moment;
pub use pending::pending;
pub use tamper::write;

use serde::Deserialize;

/// The states of a pending file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    #[default]
    Pending,
    Approved,
    Continuing,
    Rejected,
}

/// The one thing that is wrong with a pause on disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tamper {
    #[default]
    None,
    /// The signature is another one.
    Signature,
    /// The key file holds another key.
    Key,
    /// The key file is readable by others.
    KeyMode,
    /// The pending file was changed after the capability was signed for it.
    Pause,
    /// The capability, rightly signed, names another next transition than its own fields give.
    CapabilityDigest,
    /// There is no capability file.
    NoCapability,
    /// The pending file isn't JSON.
    Unreadable,
    /// The pending file is JSON, but a list.
    NotObject,
    /// The pending and capability files are encrypted containers (`.enc`).
    Encrypted,
}

impl Status {
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Continuing => "continuing",
            Self::Rejected => "rejected",
        }
    }
}

pub const PENDING: &str = "pending_escalation.json";
pub const CAPABILITY: &str = "attended_capability.json";
pub const KEY: &str = ".attended_capability.key";
/// Capabilities that a later one took the place of.
pub const HISTORY: &str = "attended_capability_history.json";
