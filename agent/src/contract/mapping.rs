//! Flow's evidence to a reason: one pure function. Source: *The result contract*, evidence table; first match wins.

use super::evidence::{
    Evidence, ExecutionOutcome, Pause, PauseCategory, ProcessEnd, ReportEvidence, ReportFacts, TransactionOutcome,
};
use super::reason::Reason;

/// Flow's exit code for a governed refusal before execution.
const EXIT_REFUSED: i32 = 2;

pub fn reason_for(evidence: &Evidence) -> Reason {
    if refused_before_execution(evidence) {
        return Reason::NotReadyToRun;
    }
    if evidence.end == ProcessEnd::TimedOut {
        return Reason::TimedOut;
    }
    match &evidence.report {
        ReportEvidence::Missing if evidence.end == ProcessEnd::NeverStarted => Reason::PlatformError,
        ReportEvidence::Missing | ReportEvidence::Untrusted => Reason::ResultUnreadable,
        ReportEvidence::Consistent(report) => match report.transaction {
            Some(outcome) => by_transaction(outcome, report, evidence),
            None => by_coarse_outcome(report, &evidence.end),
        },
    }
}

fn refused_before_execution(evidence: &Evidence) -> bool {
    evidence.end == ProcessEnd::Exited(Some(EXIT_REFUSED))
        && evidence.report == ReportEvidence::Missing
        && !evidence.run_dir_left
}

fn by_coarse_outcome(report: &ReportFacts, end: &ProcessEnd) -> Reason {
    match report.execution {
        Some(ExecutionOutcome::CompletedUnverified) => Reason::NotChecked,
        None if report.success == Some(true) && exited_clean(end) => Reason::NotChecked,
        _ => Reason::ResultUnreadable,
    }
}

fn by_transaction(outcome: TransactionOutcome, report: &ReportFacts, evidence: &Evidence) -> Reason {
    match outcome {
        TransactionOutcome::Verified if exited_clean(&evidence.end) || evidence.end == ProcessEnd::Unknown => {
            Reason::SavedAndChecked
        }
        TransactionOutcome::Verified => Reason::ResultUnreadable,
        TransactionOutcome::ReconciliationRequired => Reason::SaveNotConfirmed,
        TransactionOutcome::CompletedUnverified => Reason::NotChecked,
        TransactionOutcome::RolledBack => Reason::ChangeReversed,
        TransactionOutcome::HaltedBeforeEffect
        | TransactionOutcome::RejectedPolicy
        | TransactionOutcome::Canceled
        | TransactionOutcome::FailedPlatform => without_effect(outcome, report, evidence.pause),
    }
}

fn without_effect(outcome: TransactionOutcome, report: &ReportFacts, pause: Pause) -> Reason {
    match (pause, outcome) {
        (Pause::Rejected(_), _) => Reason::StoppedByPerson,
        _ if report.approval_required => Reason::ApprovalNeeded,
        (Pause::Open(category), _) => by_category(category),
        (Pause::None, TransactionOutcome::RejectedPolicy) => Reason::PolicyRefused,
        (Pause::None, TransactionOutcome::Canceled) => Reason::Canceled,
        (Pause::None, TransactionOutcome::FailedPlatform) => Reason::PlatformError,
        (Pause::None, _) => Reason::StoppedForReview,
    }
}

fn by_category(category: PauseCategory) -> Reason {
    match category {
        PauseCategory::Identity | PauseCategory::Disambiguation => Reason::RecordNotConfirmed,
        PauseCategory::HumanRequired => Reason::PersonNeeded,
        PauseCategory::EffectUnverifiable | PauseCategory::PlaceholderEffect => Reason::RecordCheckNotSetUp,
        PauseCategory::UnmetGuard | PauseCategory::Postcondition | PauseCategory::Resolution => {
            Reason::UnexpectedScreen
        }
        PauseCategory::Other => Reason::StoppedForReview,
    }
}

fn exited_clean(end: &ProcessEnd) -> bool {
    *end == ProcessEnd::Exited(Some(0))
}

#[cfg(test)]
mod tests;
