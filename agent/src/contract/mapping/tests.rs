//! The mapping against a table that was written down from the design's evidence table, not from the code.

use super::*;
use crate::contract::evidence::ApprovalMode;
use crate::contract::outcome::{Outcome, RecordChanged};

const ENDS: [ProcessEnd; 9] = [
    ProcessEnd::NeverStarted,
    ProcessEnd::TimedOut,
    ProcessEnd::Exited(Some(0)),
    ProcessEnd::Exited(Some(1)),
    ProcessEnd::Exited(Some(2)),
    ProcessEnd::Exited(Some(3)),
    ProcessEnd::Exited(Some(-1)),
    ProcessEnd::Exited(None),
    ProcessEnd::Unknown,
];

fn pauses() -> Vec<Pause> {
    let categories = PauseCategory::ALL.iter().copied();
    let open = categories.clone().map(Pause::Open);
    open.chain(categories.map(Pause::Rejected)).chain([Pause::None]).collect()
}

fn options<T: Copy>(values: &[T]) -> Vec<Option<T>> {
    values.iter().copied().map(Some).chain([None]).collect()
}

/// Every combination of the closed values, a few thousand pieces of evidence.
fn every_evidence() -> Vec<Evidence> {
    let mut reports = vec![ReportEvidence::Missing, ReportEvidence::Untrusted];
    for transaction in options(TransactionOutcome::ALL) {
        for execution in options(ExecutionOutcome::ALL) {
            for success in [Some(true), Some(false), None] {
                for approval_required in [true, false] {
                    reports.push(ReportEvidence::Consistent(ReportFacts {
                        transaction,
                        execution,
                        success,
                        approval_required,
                        approval_mode: Some(ApprovalMode::EachItem),
                        model_calls: Some(0),
                    }));
                }
            }
        }
    }
    let mut all = Vec::new();
    for end in &ENDS {
        for report in &reports {
            for pause in pauses() {
                for run_dir_left in [true, false] {
                    all.push(Evidence {
                        end: end.clone(),
                        report: report.clone(),
                        pause,
                        run_dir_left,
                        refused_checks: Vec::new(),
                    });
                }
            }
        }
    }
    all
}

/// The design's table, read row by row. A row says for which evidence it speaks and which reasons it allows.
fn row_of_the_design(evidence: &Evidence) -> &'static str {
    let report = match &evidence.report {
        ReportEvidence::Missing if evidence.end == ProcessEnd::Exited(Some(2)) && !evidence.run_dir_left => {
            return "not_ready_to_run";
        }
        _ if evidence.end == ProcessEnd::TimedOut => return "timed_out",
        ReportEvidence::Missing if evidence.end == ProcessEnd::NeverStarted => return "platform_error",
        ReportEvidence::Missing | ReportEvidence::Untrusted => return "result_unreadable",
        ReportEvidence::Consistent(report) => report,
    };
    let clean = evidence.end == ProcessEnd::Exited(Some(0));
    let reread = evidence.end == ProcessEnd::Unknown;
    match report.transaction.map(TransactionOutcome::as_str) {
        Some("VERIFIED") if clean || reread => "saved_and_checked",
        Some("VERIFIED") => "result_unreadable",
        Some("RECONCILIATION_REQUIRED") => "save_not_confirmed",
        Some("COMPLETED_UNVERIFIED") => "not_checked",
        Some("ROLLED_BACK") => "change_reversed",
        Some(no_effect) => {
            let category = match evidence.pause {
                Pause::Rejected(_) => return "stopped_by_person",
                _ if report.approval_required => return "approval_needed",
                Pause::Open(category) => category.as_str(),
                Pause::None => match no_effect {
                    "REJECTED_POLICY" => return "policy_refused",
                    "CANCELED" => return "canceled",
                    "FAILED_PLATFORM" => return "platform_error",
                    _ => "no pause",
                },
            };
            match category {
                "identity" | "disambiguation" => "record_not_confirmed",
                "human_required" => "person_needed",
                "effect_unverifiable" | "placeholder_effect" => "record_check_not_set_up",
                "unmet_guard" | "postcondition" | "resolution" => "unexpected_screen",
                _ => "stopped_for_review",
            }
        }
        None => match (report.execution.map(ExecutionOutcome::as_str), report.success) {
            (Some("COMPLETED_UNVERIFIED"), _) => "not_checked",
            (None, Some(true)) if clean => "not_checked",
            _ => "result_unreadable",
        },
    }
}

#[test]
fn the_full_product_of_the_closed_values_agrees_with_the_designs_table() {
    let all = every_evidence();
    assert!(all.len() > 100_000, "only {} combinations", all.len());
    for evidence in all {
        assert_eq!(reason_for(&evidence).as_str(), row_of_the_design(&evidence), "{evidence:?}");
    }
}

#[test]
fn nothing_written_is_said_only_of_evidence_that_proves_it() {
    for evidence in every_evidence() {
        let row = reason_for(&evidence).row();
        let refused = evidence.end == ProcessEnd::Exited(Some(2)) && evidence.report == ReportEvidence::Missing;
        let never_started = evidence.end == ProcessEnd::NeverStarted && evidence.report == ReportEvidence::Missing;
        let proven = match &evidence.report {
            ReportEvidence::Consistent(report) => {
                report.transaction.is_some_and(TransactionOutcome::proves_no_effect)
                    && evidence.end != ProcessEnd::TimedOut
            }
            ReportEvidence::Missing | ReportEvidence::Untrusted => refused || never_started,
        };
        let claims = row.record_changed == RecordChanged::No || row.safe_to_retry;
        assert!(!claims || proven, "{evidence:?}");
        let verified = matches!(&evidence.report, ReportEvidence::Consistent(report)
            if report.transaction == Some(TransactionOutcome::Verified));
        assert!(row.outcome != Outcome::Done || verified, "{evidence:?}");
    }
}

#[test]
fn the_mapping_never_says_what_only_a_live_run_or_a_request_can_say() {
    let never = [
        Reason::Running,
        Reason::WaitingForApproval,
        Reason::Interrupted,
        Reason::InvalidInput,
        Reason::UnknownWorkflow,
        Reason::RequestIdConflict,
        Reason::RetryLimit,
    ];
    assert!(every_evidence().iter().all(|evidence| !never.contains(&reason_for(evidence))));
}
