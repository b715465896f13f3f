//! Words of Flow that the contract stands on.

/// How Flow says that a run's transaction ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TransactionOutcome {
    Verified,
    CompletedUnverified,
    HaltedBeforeEffect,
    ReconciliationRequired,
    RejectedPolicy,
    Canceled,
    FailedPlatform,
    RolledBack,
}

impl TransactionOutcome {
    pub const ALL: [Self; 8] = [
        Self::Verified,
        Self::CompletedUnverified,
        Self::HaltedBeforeEffect,
        Self::ReconciliationRequired,
        Self::RejectedPolicy,
        Self::Canceled,
        Self::FailedPlatform,
        Self::RolledBack,
    ];

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.as_str() == text)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Verified => "VERIFIED",
            Self::CompletedUnverified => "COMPLETED_UNVERIFIED",
            Self::HaltedBeforeEffect => "HALTED_BEFORE_EFFECT",
            Self::ReconciliationRequired => "RECONCILIATION_REQUIRED",
            Self::RejectedPolicy => "REJECTED_POLICY",
            Self::Canceled => "CANCELED",
            Self::FailedPlatform => "FAILED_PLATFORM",
            Self::RolledBack => "ROLLED_BACK",
        }
    }
}
