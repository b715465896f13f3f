//! What is asked for, and by whom.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::canonical::digest;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    Continue,
    Skip,
    Reject,
    Teach,
    Escalate,
    Reconcile,
}

/// The states of a decision. The first three aren't final.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Prepared,
    DeliveryStarted,
    DeliveryUncertain,
    Completed,
    Refused,
    Halted,
    NeedsDemonstration,
    Escalated,
    Rejected,
}

/// The four fields that a decision is made of. An unknown one is refused.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub capability_digest: String,
    pub idempotency_key: String,
    pub action: Action,
    #[serde(default)]
    pub disposition: Option<String>,
}

/// A request about one run.
#[derive(Debug, Clone)]
pub struct Order {
    pub attention_id: String,
    pub run_dir: PathBuf,
    pub request: Request,
    pub operator: String,
    pub decided_by: String,
}

impl Action {
    /// Whether it goes on with the run, for which a live executor is needed.
    pub fn continues(self) -> bool {
        matches!(self, Self::Continue | Self::Skip | Self::Reconcile)
    }

    /// The status of a decision that needs nothing but its record.
    pub fn recorded_as(self) -> Status {
        match self {
            Self::Reject => Status::Rejected,
            Self::Teach => Status::NeedsDemonstration,
            Self::Escalate => Status::Escalated,
            Self::Continue | Self::Skip | Self::Reconcile => Status::Completed,
        }
    }

    fn dispositions(self) -> &'static [&'static str] {
        match self {
            Self::Continue => &["completed_by_operator"],
            Self::Skip => &["not_applicable"],
            Self::Reject => &["rejected_by_operator"],
            Self::Teach => &["teach_requested"],
            Self::Escalate => &["cannot_complete", "needs_assistance"],
            Self::Reconcile => &["reconciliation_requested"],
        }
    }
}

impl Status {
    /// Whether the action may have reached the app and nobody knows how that ended.
    pub fn is_unresolved(self) -> bool {
        matches!(self, Self::DeliveryStarted | Self::DeliveryUncertain)
    }
}

impl Request {
    /// `None` for anything that Flow's model of a request doesn't take.
    pub fn parse(value: Value) -> Option<Self> {
        let request: Self = serde_json::from_value(value).ok()?;
        let hex = request.capability_digest.strip_prefix("sha256:")?;
        let is_digest = hex.len() == 64 && hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let key = &request.idempotency_key;
        let usable = |byte: u8| byte.is_ascii_alphanumeric() || b"._:-".contains(&byte);
        (is_digest && (16..=200).contains(&key.len()) && key.bytes().all(usable)).then_some(request)
    }

    pub fn disposition_fits(&self) -> bool {
        self.disposition.as_deref().is_none_or(|given| self.action.dispositions().contains(&given))
    }

    pub fn digest(&self) -> String {
        digest(&json!({
            "capability_digest": self.capability_digest,
            "idempotency_key": self.idempotency_key,
            "action": self.action,
            "disposition": self.disposition,
        }))
    }
}
