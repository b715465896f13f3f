//! The closed words of an attention item. A word of Flow's that isn't here never goes out.

use crate::contract::outcome::closed_words;

closed_words! {
    /// Why a run waits for a person. Source: Flow's attention queue.
    Category {
        HumanRequired = "human_required",
        Identity = "identity",
        Disambiguation = "disambiguation",
        Resolution = "resolution",
        UnmetGuard = "unmet_guard",
        Postcondition = "postcondition",
        EffectRefuted = "effect_refuted",
        EffectIndeterminate = "effect_indeterminate",
        EffectEscalated = "effect_escalated",
        EffectUnverifiable = "effect_unverifiable",
        PlaceholderEffect = "placeholder_effect",
        Halt = "halt",
        /// Everything else, and every run that isn't paused.
        OperatorReview = "operator_review",
    }
}

impl Category {
    pub fn from_flow(word: Option<&str>) -> Self {
        word.and_then(Self::parse).unwrap_or(Self::OperatorReview)
    }
}

closed_words! {
    /// Where an item stands: a pause's state, or else what the run came to.
    Status {
        Pending = "pending",
        Approved = "approved",
        Rejected = "rejected",
        Encrypted = "encrypted",
        Verified = "verified",
        CompletedUnverified = "completed_unverified",
        Halted = "halted",
        Failed = "failed",
        RolledBack = "rolled_back",
    }
}

closed_words! {
    /// Whether the paused step's action reached the app.
    DeliveryState {
        NotDelivered = "not_delivered",
        Delivered = "delivered",
        Unknown = "unknown",
    }
}

closed_words! {
    /// What the check of the record's identity came to at the pause.
    IdentityStatus {
        Verified = "verified",
        Mismatch = "mismatch",
        Abstain = "abstain",
        Unreadable = "unreadable",
    }
}

closed_words! {
    /// What a capability may allow.
    AllowedAction {
        Continue = "continue",
        Skip = "skip",
        Reconcile = "reconcile",
        Reject = "reject",
        Teach = "teach",
        Escalate = "escalate",
    }
}
