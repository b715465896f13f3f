//! The closed reasons and the row that each one fixes. Source: *The result contract*, evidence table.

use super::outcome::{NextStep, Outcome, RecordChanged, closed_words};

closed_words! {
    /// Why a result is what it is. Everything else in a result follows from this word.
    Reason {
        SavedAndChecked = "saved_and_checked",
        UnexpectedScreen = "unexpected_screen",
        RecordNotConfirmed = "record_not_confirmed",
        PersonNeeded = "person_needed",
        RecordCheckNotSetUp = "record_check_not_set_up",
        StoppedForReview = "stopped_for_review",
        ApprovalNeeded = "approval_needed",
        /// Derived on read from a run still going; never stored.
        WaitingForApproval = "waiting_for_approval",
        SaveNotConfirmed = "save_not_confirmed",
        NotChecked = "not_checked",
        ChangeReversed = "change_reversed",
        TimedOut = "timed_out",
        ResultUnreadable = "result_unreadable",
        Interrupted = "interrupted",
        InvalidInput = "invalid_input",
        UnknownWorkflow = "unknown_workflow",
        WorkflowUnavailable = "workflow_unavailable",
        RunsDisabled = "runs_disabled",
        NotReadyToRun = "not_ready_to_run",
        PolicyRefused = "policy_refused",
        Canceled = "canceled",
        PlatformError = "platform_error",
        AppUnreachable = "app_unreachable",
        StoppedByPerson = "stopped_by_person",
        RequestIdConflict = "request_id_conflict",
        RetryLimit = "retry_limit",
        Running = "running",
    }
}

/// What a reason says of the save, and what the caller may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    pub outcome: Outcome,
    pub safe_to_retry: bool,
    pub record_changed: RecordChanged,
    pub next_step: NextStep,
}

impl Reason {
    pub const fn row(self) -> Row {
        use Reason::*;
        let (outcome, safe_to_retry, record_changed, next_step) = match self {
            SavedAndChecked => (Outcome::Done, false, RecordChanged::Yes, NextStep::None),
            UnexpectedScreen | RecordNotConfirmed | PersonNeeded | RecordCheckNotSetUp | StoppedForReview
            | ApprovalNeeded => (Outcome::NeedsReview, false, RecordChanged::No, NextStep::WaitForPerson),
            WaitingForApproval => (Outcome::NeedsReview, false, RecordChanged::Unknown, NextStep::WaitForPerson),
            SaveNotConfirmed | NotChecked | ChangeReversed | TimedOut | ResultUnreadable | Interrupted => {
                (Outcome::NotSureIfSaved, false, RecordChanged::Unknown, NextStep::CheckRecord)
            }
            InvalidInput | UnknownWorkflow => (Outcome::DidNotRun, true, RecordChanged::No, NextStep::FixInputs),
            WorkflowUnavailable | RunsDisabled | NotReadyToRun | PolicyRefused => {
                (Outcome::DidNotRun, true, RecordChanged::No, NextStep::FixSetup)
            }
            Canceled | PlatformError | AppUnreachable => (Outcome::DidNotRun, true, RecordChanged::No, NextStep::Retry),
            StoppedByPerson => (Outcome::DidNotRun, false, RecordChanged::No, NextStep::None),
            RequestIdConflict => (Outcome::DidNotRun, false, RecordChanged::Unknown, NextStep::FixInputs),
            RetryLimit => (Outcome::DidNotRun, false, RecordChanged::No, NextStep::FixSetup),
            Running => (Outcome::Running, false, RecordChanged::Unknown, NextStep::CallGetRun),
        };
        Row { outcome, safe_to_retry, record_changed, next_step }
    }

    pub const fn outcome(self) -> Outcome {
        self.row().outcome
    }

    /// A new attempt may start under the same request_id: the reason proves that nothing was written.
    /// `invalid_input` and `unknown_workflow` never reserved the id, so they are no attempts.
    pub const fn allows_new_attempt(self) -> bool {
        matches!(
            self,
            Self::NotReadyToRun
                | Self::PolicyRefused
                | Self::Canceled
                | Self::PlatformError
                | Self::AppUnreachable
                | Self::WorkflowUnavailable
                | Self::RunsDisabled
        )
    }

    /// The run has ended and this word may be written down as its result.
    pub const fn is_terminal(self) -> bool {
        !matches!(self, Self::Running | Self::WaitingForApproval)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_reason_says_that_the_change_was_saved() {
        let done: Vec<_> = Reason::ALL.iter().filter(|reason| reason.outcome() == Outcome::Done).collect();
        assert_eq!(done, [&Reason::SavedAndChecked]);
    }

    #[test]
    fn an_uncertain_save_is_never_unchanged_and_never_retryable() {
        for reason in Reason::ALL.iter().filter(|reason| reason.outcome() == Outcome::NotSureIfSaved) {
            let row = reason.row();
            assert_eq!((row.safe_to_retry, row.record_changed), (false, RecordChanged::Unknown), "{reason:?}");
        }
    }

    #[test]
    fn a_retry_is_safe_only_where_nothing_was_written() {
        for reason in Reason::ALL.iter().filter(|reason| reason.row().safe_to_retry) {
            assert_eq!(reason.row().record_changed, RecordChanged::No, "{reason:?}");
            assert_eq!(reason.outcome(), Outcome::DidNotRun, "{reason:?}");
        }
    }

    #[test]
    fn every_reason_that_allows_a_new_attempt_is_safe_to_retry() {
        for reason in Reason::ALL.iter().filter(|reason| reason.allows_new_attempt()) {
            assert!(reason.row().safe_to_retry, "{reason:?}");
        }
    }
}
