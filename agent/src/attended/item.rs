//! One row of the queue: typed categories, counts and opaque ids. No label, intent, observed text or path has a field here.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::category::{AllowedAction, Category, DeliveryState, IdentityStatus, Status};
use super::copy;
use super::id::AttentionId;
use crate::runs::clock;

/// What may be shown of a run that waits for a person. Source: *Needs Attention*.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttentionItem {
    pub id: AttentionId,
    /// When the run began; unknown where its report can't be read.
    pub created_at: Option<Timestamp>,
    pub category: Category,
    pub status: Status,
    pub durably_paused: bool,
    pub encrypted_pause: bool,
    pub observed_texts: usize,
    pub completed_intents: usize,
    /// The failed step's place in the report, from 1, for a picture before and after it.
    pub before: Option<usize>,
    pub after: Option<usize>,
    pub capability: Option<Capability>,
}

/// What is public of a capability whose signature was checked. It authorizes nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capability {
    /// `sha256:` and 64 hex digits.
    pub digest: String,
    pub expires_at: Option<Timestamp>,
    pub allowed: Vec<AllowedAction>,
    pub delivery: DeliveryState,
    pub identity_required: bool,
    pub identity: Option<IdentityStatus>,
}

impl AttentionItem {
    pub fn to_object(&self) -> Map<String, Value> {
        let words = copy::sentences(self.category, self.status);
        let picture = |step: Option<usize>, when| step.map(|step| format!("step-{step:03}-{when}"));
        let object = [
            ("id", self.id.as_str().into()),
            ("created_at", self.created_at.map(clock::spelled).into()),
            ("category", self.category.as_str().into()),
            ("headline", words.headline.into()),
            ("next_action", words.next_action.into()),
            ("status", self.status.as_str().into()),
            ("human_required", (self.category == Category::HumanRequired).into()),
            ("durably_paused", self.durably_paused.into()),
            ("encrypted_pause", self.encrypted_pause.into()),
            ("observed_text_count", self.observed_texts.into()),
            ("completed_intent_count", self.completed_intents.into()),
            ("before_artifact_id", picture(self.before, "before").into()),
            ("after_artifact_id", picture(self.after, "after").into()),
            ("capability", self.capability.as_ref().map_or(Value::Null, Capability::to_value)),
        ];
        object.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }
}

impl Capability {
    pub fn allows(&self, action: AllowedAction) -> bool {
        self.allowed.contains(&action)
    }

    fn to_value(&self) -> Value {
        json!({
            "digest": self.digest,
            "expires_at": self.expires_at.map(clock::spelled),
            "allowed_actions": self.allowed.iter().map(|action| action.as_str()).collect::<Vec<_>>(),
            "delivery_state": self.delivery.as_str(),
            "source_identity_required": self.identity_required,
            "source_identity_status": self.identity.map(IdentityStatus::as_str),
        })
    }
}
