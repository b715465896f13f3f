//! From what a run left behind to its result: gathers the evidence, asks the mapping, and keeps what a later reading is
//! compared with.

use std::path::Path;

use crate::attended::id::AttentionId;
use crate::contract::evidence::{Evidence, ExecutionOutcome, Pause, ProcessEnd, ReportEvidence, ReportFacts};
use crate::contract::failed_check::FailedCheck;
use crate::contract::ids::RunId;
use crate::contract::mapping::reason_for;
use crate::contract::outcome::Outcome;
use crate::contract::reason::Reason;
use crate::contract::result::{ResultFacts, Technical};
use crate::flow::pause;
use crate::flow::report::{self, Binding};
use crate::flow::run_dir::RunDir;
use crate::lifecycle::executor::ExecutorStatus;
use crate::runs::dispatch::{ExitFacts, FlowEnd};
use crate::seal;

/// What a run came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Classified {
    pub reason: Reason,
    pub facts: ResultFacts,
    pub binding: Binding,
    /// How the executor's request ended.
    pub status: ExecutorStatus,
}

/// The first reading, right after the keeper wrote Flow's exit facts.
pub fn first(run_id: &RunId, run_dir: &Path, exit: &ExitFacts, printed: impl FnOnce() -> [String; 2]) -> Classified {
    let folder = RunDir::open(run_dir);
    let launched_at = exit.started_at.as_deref().and_then(|stamp| stamp.parse().ok());
    let found = report::read(&folder, launched_at);
    let seen_at_exit = exit.report_sha256 == found.binding.file_sha256;
    let (end, report) = match process_end(exit) {
        // A person may have decided the pause before anybody read this run's end; a report that came from nowhere is nobody's.
        ProcessEnd::Exited(_) if !seen_at_exit && exit.report_sha256.is_some() => (ProcessEnd::Unknown, found.evidence),
        ProcessEnd::Exited(code) if !seen_at_exit => (ProcessEnd::Exited(code), ReportEvidence::Untrusted),
        end => (end, found.evidence),
    };
    let refused = end == ProcessEnd::Exited(Some(2)) && report == ReportEvidence::Missing;
    let evidence = Evidence {
        pause: pause_beside(&report, &folder),
        end,
        report,
        run_dir_left: folder.exists(),
        refused_checks: if refused { checks(printed()) } else { Vec::new() },
    };
    let reason = match reason_for(&evidence) {
        retryable if !seen_at_exit && retryable.row().safe_to_retry => Reason::ResultUnreadable,
        reason => reason,
    };
    let status = status_of(&evidence);
    let sealed = is_sealed(reason, &folder, &found.binding, run_id);
    let facts = ResultFacts { sealed, ..facts_of(run_id, reason, &evidence, exit) };
    Classified { facts, reason, binding: found.binding, status }
}

/// Source: lifecycle, H02.
fn status_of(evidence: &Evidence) -> ExecutorStatus {
    match (&evidence.end, &evidence.report) {
        (ProcessEnd::NeverStarted | ProcessEnd::TimedOut | ProcessEnd::Exited(None), _) => ExecutorStatus::Failed,
        // A report that says only that it went well says nothing of what was done. Source: lifecycle, H04.
        (_, ReportEvidence::Consistent(report)) if is_partial(report) => ExecutorStatus::Incomplete,
        (ProcessEnd::Exited(Some(_)) | ProcessEnd::Unknown, ReportEvidence::Consistent(_)) => ExecutorStatus::Completed,
        (ProcessEnd::Exited(Some(_)) | ProcessEnd::Unknown, _) => ExecutorStatus::Incomplete,
    }
}

fn is_partial(report: &ReportFacts) -> bool {
    report.success == Some(true) && report.execution.is_none() && report.transaction.is_none()
}

/// What a person's decision made of a run that waited for one; `None` where nothing can be said beyond what is known.
/// Never retryable, and never believed of another run's report or while a pause is open.
/// Source: *Requests, retries, and records*, "A re-read never turns a reviewed run into a retryable result".
pub fn again(run_id: &RunId, run_dir: &Path, known: &Classified) -> Option<Classified> {
    let folder = RunDir::open(run_dir);
    let found = report::read(&folder, None);
    let pause = pause_beside(&found.evidence, &folder);
    let reason = match (&found.evidence, pause) {
        (ReportEvidence::Consistent(_), _) if !known.binding.is_of_the_same_run(&found.binding) => return None,
        (ReportEvidence::Consistent(report), Pause::None) if proves_no_effect(report) => return None,
        (ReportEvidence::Consistent(_), _) => reason_for(&Evidence {
            end: ProcessEnd::Unknown,
            report: found.evidence.clone(),
            pause,
            run_dir_left: true,
            refused_checks: Vec::new(),
        }),
        (ReportEvidence::Untrusted, _) if no_pause_file(&folder) && replaced(&found.binding, &known.binding) => {
            Reason::ResultUnreadable
        }
        (ReportEvidence::Missing | ReportEvidence::Untrusted, _) => return None,
    };
    let under_pause = matches!(pause, Pause::Open(_)) && reason.outcome() != Outcome::NeedsReview;
    if reason.row().safe_to_retry || under_pause {
        return None;
    }
    let mut facts = known.facts.clone();
    facts.sealed = is_sealed(reason, &folder, &found.binding, run_id);
    if let ReportEvidence::Consistent(report) = &found.evidence {
        facts.technical = technical(report);
        facts.model_calls = report.model_calls;
    }
    facts.needs_attention_id = listed_for_attention(reason, &found.evidence)
        .then(|| AttentionId::of_place(run_id.as_str()).as_str().to_owned());
    Some(Classified {
        reason,
        facts,
        binding: Binding { file_sha256: found.binding.file_sha256, ..known.binding.clone() },
        status: known.status,
    })
}

fn is_sealed(reason: Reason, folder: &RunDir, binding: &Binding, run_id: &RunId) -> bool {
    reason.outcome() == Outcome::Done && seal::run::is_sealed(folder, binding.file_sha256.as_deref(), run_id)
}

fn process_end(exit: &ExitFacts) -> ProcessEnd {
    match exit.end {
        FlowEnd::NeverStarted => ProcessEnd::NeverStarted,
        _ if exit.timed_out => ProcessEnd::TimedOut,
        FlowEnd::Exited(code) => ProcessEnd::Exited(Some(code)),
        FlowEnd::Signaled(_) => ProcessEnd::Exited(None),
    }
}

/// The pause counts beside a report that is believed; without one there is no item that a person could decide.
fn pause_beside(report: &ReportEvidence, folder: &RunDir) -> Pause {
    if matches!(report, ReportEvidence::Consistent(_)) { pause::read(folder) } else { Pause::None }
}

fn proves_no_effect(report: &ReportFacts) -> bool {
    report.transaction.is_some_and(crate::contract::evidence::TransactionOutcome::proves_no_effect)
}

fn no_pause_file(folder: &RunDir) -> bool {
    !folder.has("pending_escalation.json") && !folder.has("pending_escalation.json.enc")
}

fn replaced(now: &Binding, before: &Binding) -> bool {
    now.file_sha256.is_some() && now.file_sha256 != before.file_sha256
}

fn checks([stdout, stderr]: [String; 2]) -> Vec<FailedCheck> {
    FailedCheck::from_refusal(&stdout, &stderr)
}

fn facts_of(run_id: &RunId, reason: Reason, evidence: &Evidence, exit: &ExitFacts) -> ResultFacts {
    let report = if let ReportEvidence::Consistent(report) = &evidence.report { Some(report) } else { None };
    let ran = exit.end != FlowEnd::NeverStarted;
    ResultFacts {
        failed_checks: evidence.refused_checks.clone(),
        needs_attention_id: listed_for_attention(reason, &evidence.report)
            .then(|| AttentionId::of_place(run_id.as_str()).as_str().to_owned()),
        seconds: ran.then_some(exit.seconds),
        model_calls: report.and_then(|report| report.model_calls),
        technical: report.map(technical).unwrap_or_default(),
        ..ResultFacts::default()
    }
}

fn technical(report: &ReportFacts) -> Technical {
    Technical { execution: report.execution, transaction: report.transaction, approval_mode: report.approval_mode }
}

/// Flow's queue lists a run whose report it can read, unless that report is a success with nothing left to decide.
fn listed_for_attention(reason: Reason, report: &ReportEvidence) -> bool {
    let ReportEvidence::Consistent(report) = report else { return false };
    let settled = report.success == Some(true) && matches!(report.execution, None | Some(ExecutionOutcome::Verified));
    let decidable = matches!(reason.outcome(), Outcome::NeedsReview | Outcome::NotSureIfSaved);
    decidable && !settled && !matches!(reason, Reason::TimedOut | Reason::ResultUnreadable)
}
