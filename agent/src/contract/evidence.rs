//! What the mapping reads: typed evidence that a Flow process left behind, and nothing of where it came from.

use super::failed_check::FailedCheck;
use super::outcome::closed_words;

closed_words! {
    /// Flow's finer outcome of a run. Source: report.json, `transaction_outcome`.
    TransactionOutcome {
        Verified = "VERIFIED",
        CompletedUnverified = "COMPLETED_UNVERIFIED",
        HaltedBeforeEffect = "HALTED_BEFORE_EFFECT",
        ReconciliationRequired = "RECONCILIATION_REQUIRED",
        RejectedPolicy = "REJECTED_POLICY",
        Canceled = "CANCELED",
        FailedPlatform = "FAILED_PLATFORM",
        RolledBack = "ROLLED_BACK",
    }
}

impl TransactionOutcome {
    /// Flow has proven that no consequential step took effect.
    pub const fn proves_no_effect(self) -> bool {
        matches!(self, Self::HaltedBeforeEffect | Self::RejectedPolicy | Self::Canceled | Self::FailedPlatform)
    }
}

closed_words! {
    /// Flow's coarse outcome of a run. Source: report.json, `execution_outcome`.
    ExecutionOutcome {
        Verified = "VERIFIED",
        CompletedUnverified = "COMPLETED_UNVERIFIED",
        Halted = "HALTED",
        Failed = "FAILED",
        RolledBack = "ROLLED_BACK",
    }
}

closed_words! {
    /// When Flow asks a person before a save. Source: report.json, `approval.mode`.
    ApprovalMode {
        EachItem = "each_item",
        ProblemsOnly = "problems_only",
        NotGated = "not_gated",
    }
}

closed_words! {
    /// Why a durable pause stopped the run. Words that aren't listed, `operator_review` among them, are `Other`.
    PauseCategory {
        Identity = "identity",
        Disambiguation = "disambiguation",
        HumanRequired = "human_required",
        EffectUnverifiable = "effect_unverifiable",
        PlaceholderEffect = "placeholder_effect",
        UnmetGuard = "unmet_guard",
        Postcondition = "postcondition",
        Resolution = "resolution",
        Other = "other",
    }
}

impl PauseCategory {
    pub fn from_flow(word: &str) -> Self {
        Self::parse(word).unwrap_or(Self::Other)
    }
}

/// How the process that was to run Flow ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProcessEnd {
    /// Flow provably never started.
    NeverStarted,
    /// Killed at the time limit after it had started.
    TimedOut,
    /// It started and ended with this code; `None` for a death by signal.
    Exited(Option<i32>),
    /// A report is read again later; the exit was good when it counted, or isn't known.
    Unknown,
}

/// The persisted report, checked for consistency before anybody believes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReportEvidence {
    /// There is none.
    Missing,
    /// There is something, but it isn't a report about this launch that agrees with itself.
    Untrusted,
    Consistent(ReportFacts),
}

/// What the mapping needs of a consistent report.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReportFacts {
    pub transaction: Option<TransactionOutcome>,
    pub execution: Option<ExecutionOutcome>,
    pub success: Option<bool>,
    /// `approval.decision` is `approval_required`.
    pub approval_required: bool,
    pub approval_mode: Option<ApprovalMode>,
    pub model_calls: Option<u64>,
}

/// The durable pause of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pause {
    None,
    /// A look-up that failed stands for `Open(Other)`.
    Open(PauseCategory),
    Rejected(PauseCategory),
}

/// All that a mapping may rest on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    pub end: ProcessEnd,
    pub report: ReportEvidence,
    pub pause: Pause,
    /// Flow made its run directory, so it had begun to execute.
    pub run_dir_left: bool,
    /// What Flow printed when it refused to start; used only then.
    pub refused_checks: Vec<FailedCheck>,
}
