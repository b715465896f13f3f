//! What the older tools answer: the legacy words beside the contract's, and the protected objects where the operator opened them.

use serde_json::{Map, Value, json};

use super::copy;
use super::summary::summary;
use crate::contract::reason::Reason;
use crate::contract::result::RunResult;
use crate::flow::certify::Certified;
use crate::flow::report;
use crate::service::LeftBehind;
use crate::workflows::{Omitted, Workflow};

/// The legacy word for how a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    Success,
    Halt,
    Refused,
    Timeout,
    Error,
}

/// What a policy says of a workflow.
#[derive(Debug, Clone, PartialEq)]
pub struct Certification {
    certified: Option<bool>,
    message: &'static str,
    asked: Option<Certified>,
}

/// Contract fields that stand beside the legacy ones.
const CONTRACT: [&str; 12] = [
    "outcome",
    "label",
    "safe_to_retry",
    "what_happened",
    "next_action",
    "next_step",
    "reason",
    "record_changed",
    "proof",
    "contract_version",
    "failed_checks",
    "invalid_inputs",
];
const TECHNICAL: [&str; 3] = ["execution_outcome", "transaction_outcome", "approval_mode"];
/// The last characters of what Flow printed.
const TAIL: usize = 4000;
/// A protected report larger than this stays on the computer; its path is told.
const REPORT_LIMIT: usize = 4 << 20;

impl Status {
    pub fn of(reason: Reason) -> Self {
        match reason {
            Reason::SavedAndChecked => Self::Success,
            Reason::TimedOut => Self::Timeout,
            Reason::InvalidInput
            | Reason::UnknownWorkflow
            | Reason::WorkflowUnavailable
            | Reason::RunsDisabled
            | Reason::NotReadyToRun
            | Reason::RequestIdConflict
            | Reason::RetryLimit => Self::Refused,
            Reason::ResultUnreadable | Reason::Interrupted | Reason::PlatformError | Reason::AppUnreachable => {
                Self::Error
            }
            Reason::UnexpectedScreen
            | Reason::RecordNotConfirmed
            | Reason::PersonNeeded
            | Reason::RecordCheckNotSetUp
            | Reason::StoppedForReview
            | Reason::ApprovalNeeded
            | Reason::WaitingForApproval
            | Reason::SaveNotConfirmed
            | Reason::NotChecked
            | Reason::ChangeReversed
            | Reason::PolicyRefused
            | Reason::Canceled
            | Reason::StoppedByPerson
            | Reason::Running => Self::Halt,
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Halt => "halt",
            Self::Refused => "refused",
            Self::Timeout => "timeout",
            Self::Error => "error",
        }
    }
}

impl Certification {
    /// Nobody was asked, for this reason.
    pub fn of(message: &'static str) -> Self {
        Self { certified: None, message, asked: None }
    }

    pub fn asked(asked: Certified) -> Self {
        let message = match asked.passed {
            Some(true) => copy::PASSED,
            Some(false) => copy::DID_NOT_PASS,
            None => copy::NOT_EVALUATED,
        };
        Self { certified: asked.passed, message, asked: Some(asked) }
    }

    fn into_object(self, protected: bool) -> Map<String, Value> {
        let mut object = object([("certified", json!(self.certified)), ("message", self.message.into())]);
        if let (true, Some(asked)) = (protected, self.asked) {
            object.insert("protected".to_owned(), printed(asked.exit_code, &asked.printed).into());
        }
        object
    }
}

/// The answer of get_workflow.
pub fn workflow(
    workflow: &Workflow,
    omitted: Omitted,
    certification: Certification,
    protected: bool,
) -> Map<String, Value> {
    let mut row = workflow.row(omitted);
    let kept = ["id", "available", "step_count", "parameters", "encrypted"];
    let mut answer: Map<String, Value> =
        kept.into_iter().filter_map(|key| Some((key.to_owned(), row.shift_remove(key)?))).collect();
    if protected {
        answer.insert("protected".to_owned(), workflow.protected().into());
    }
    // What Flow makes of a workflow that it loads, whichever version the file has.
    answer.insert("schema_version".to_owned(), workflow.available().then_some(2).into());
    answer.insert("certification".to_owned(), certification.into_object(protected).into());
    answer
}

/// The answer of get_run_report, and the part of a run tool's answer that is the same.
pub fn run(result: &RunResult, left: &LeftBehind, protected: bool) -> Map<String, Value> {
    let mut told = result.to_object();
    if let (None, Some(sentence)) = (&result.request_id, copy::without_request_id(result.reason.row().next_step)) {
        told.insert("next_action".to_owned(), sentence.into());
    }
    let status = Status::of(result.reason);
    let mut answer = object([
        ("schema_version", 1.into()),
        ("status", status.as_str().into()),
        ("success", (status == Status::Success).into()),
        ("sealed", false.into()),
        ("requires_seal", false.into()),
        ("frames_included", false.into()),
        ("run_id", told.get("run_id").cloned().unwrap_or_default()),
        ("message", told.get("what_happened").cloned().unwrap_or_default()),
        ("summary", summary(left.report.as_deref()).into()),
    ]);
    answer.extend(CONTRACT.into_iter().filter_map(|key| Some((key.to_owned(), told.shift_remove(key)?))));
    if let Some(Value::Object(mut technical)) = told.shift_remove("technical") {
        answer.extend(TECHNICAL.into_iter().filter_map(|key| Some((key.to_owned(), technical.shift_remove(key)?))));
    }
    if protected {
        answer.insert("protected".to_owned(), left_behind(left).into());
    }
    answer
}

fn left_behind(left: &LeftBehind) -> Map<String, Value> {
    let text = |path: &std::path::Path| path.to_string_lossy().into_owned();
    let small = left.report.as_ref().filter(|report| report.len() <= REPORT_LIMIT);
    let report: Option<Value> = small.and_then(|report| serde_json::from_slice(report).ok());
    let mut protected = object([
        ("run_dir", text(&left.run_dir).into()),
        ("report_path", left.report.as_ref().map(|_| text(&left.run_dir.join(report::NAME))).into()),
        ("report", report.unwrap_or_default()),
    ]);
    protected.extend(printed(left.exit_code, &left.printed));
    protected
}

fn printed(exit_code: Option<i32>, [stdout, stderr]: &[String; 2]) -> Map<String, Value> {
    object([
        ("exit_code", exit_code.into()),
        ("stdout_tail", tail(stdout).into()),
        ("stderr_tail", tail(stderr).into()),
    ])
}

fn tail(text: &str) -> &str {
    let begin = text.char_indices().rev().nth(TAIL - 1).map_or(0, |(at, _)| at);
    &text[begin..]
}

fn object<const N: usize>(members: [(&str, Value); N]) -> Map<String, Value> {
    members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::outcome::{Mode, Outcome};

    fn result(reason: Reason) -> RunResult {
        let facts = crate::contract::result::ResultFacts::default();
        RunResult {
            reason,
            run_id: None,
            request_id: None,
            workflow: None,
            mode: Mode::Production,
            replayed: false,
            facts,
        }
    }

    #[test]
    fn success_is_said_of_done_and_of_nothing_else() {
        for reason in Reason::ALL {
            let done = reason.outcome() == Outcome::Done;
            assert_eq!(Status::of(*reason) == Status::Success, done, "{reason:?}");
        }
    }

    #[test]
    fn a_run_without_a_request_id_is_never_told_to_use_the_same_one_again() {
        for reason in Reason::ALL {
            let answer = run(&result(*reason), &LeftBehind::default(), false);
            let said = answer["next_action"].as_str().unwrap();
            assert!(!said.contains("same request_id"), "{reason:?}: {said}");
            assert!(!answer.contains_key("protected") && !answer.contains_key("request_id"));
        }
    }

    #[test]
    fn a_tail_is_the_end_of_a_text_and_cuts_no_character() {
        assert_eq!(tail("short"), "short");
        let long = "é".repeat(TAIL + 5);
        assert_eq!(tail(&long).chars().count(), TAIL);
    }

    #[test]
    fn each_answer_of_flow_has_its_sentence_and_what_it_printed_is_protected() {
        let asked = |passed| Certified { passed, exit_code: Some(0), printed: ["label".to_owned(), String::new()] };
        let mut seen = std::collections::BTreeSet::new();
        for passed in [Some(true), Some(false), None] {
            let open = Certification::asked(asked(passed)).into_object(true);
            let closed = Certification::asked(asked(passed)).into_object(false);
            assert_eq!(open["protected"]["stdout_tail"], "label");
            assert_eq!(closed.len(), 2);
            assert!(seen.insert(closed["message"].to_string()));
        }
    }
}
