//! Every sentence of a result: fixed copy, keyed by the closed reason. Nothing that a run saw, was given or printed can enter one.

use super::outcome::{Mode, Outcome, Proof};
use super::reason::Reason;
use super::sandbox::{Lacking, SandboxFacts};

/// What a person or an agent reads of one reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Copy {
    /// A few words for a badge or a log line.
    pub label: &'static str,
    pub what_happened: &'static str,
    pub next_action: &'static str,
}

/// Said after a save that this computer checked by itself.
const CHECKED_HERE: &str = "The check ran on this computer and left no signed receipt.";
/// Said before everything else where no app was opened.
const SIMULATED: &str = "Simulated sandbox result: no app was opened.";
/// Said after everything else in a sandbox.
const SYNTHETIC: &str = "This was a sandbox run on a made-up app; no real record was touched.";

const REVIEW: &str = "A person reviews this run on the computer that ran it. Call get_run later to read their decision. \
                      Don't start another run for this work before then.";
const CHECK: &str = "A person checks the record in the app before anything runs again. Don't retry.";
const SETUP: &str = "The operator corrects the setup on the computer that runs workflows. After that, call run_workflow again \
                     with the same request_id.";
const AGAIN: &str = "Call run_workflow again with the same request_id.";

pub const fn copy_for(reason: Reason) -> Copy {
    let (what_happened, next_action) = sentences(reason);
    Copy { label: label(reason), what_happened, next_action }
}

/// The whole of `what_happened`, with what the mode and the proof add to the reason's own sentence.
pub fn what_happened(reason: Reason, mode: Mode, proof: Proof, sandbox: Option<SandboxFacts>) -> String {
    let own = copy_for(reason).what_happened;
    let mut parts = Vec::with_capacity(4);
    if reason.is_terminal() && sandbox.is_some_and(SandboxFacts::is_simulated) {
        parts.push(SIMULATED);
    }
    parts.push(own);
    if proof == Proof::Local && reason.outcome() == Outcome::Done {
        parts.push(CHECKED_HERE);
    }
    if mode == Mode::Sandbox {
        parts.push(SYNTHETIC);
    }
    parts.extend(sandbox.and_then(|facts| facts.fallback).map(simulated_because));
    parts.join(" ")
}

/// Why a sandbox that might have opened an app is simulated.
pub const fn simulated_because(lacking: Lacking) -> &'static str {
    match lacking {
        Lacking::NoEngine => "The sandbox is simulated because no engine for it was found on this computer.",
        Lacking::NotBuilt => {
            "The sandbox is simulated because the engine on this computer was built without its browser part."
        }
        Lacking::NoDriver => "The sandbox is simulated because the browser's driver wasn't found on this computer.",
        Lacking::NoBrowser => "The sandbox is simulated because no browser was found on this computer.",
        Lacking::BrowserFailed => {
            "The sandbox is simulated because the browser on this computer couldn't open the app."
        }
        Lacking::EngineFailed => "The sandbox is simulated because its engine failed while it was prepared.",
        Lacking::NoApp => "The sandbox is simulated because its app wasn't found on this computer.",
        Lacking::AppNotStarted => "The sandbox is simulated because its app couldn't be started.",
    }
}

const fn label(reason: Reason) -> &'static str {
    match reason {
        Reason::WaitingForApproval => "Waiting for approval",
        Reason::NotChecked => "Finished, not checked",
        _ => match reason.outcome() {
            Outcome::Done => "Saved and checked",
            Outcome::NeedsReview => "Stopped before saving",
            Outcome::NotSureIfSaved => "Not sure if it saved",
            Outcome::DidNotRun => "Did not run",
            Outcome::Running => "Still running",
        },
    }
}

const fn sentences(reason: Reason) -> (&'static str, &'static str) {
    match reason {
        Reason::SavedAndChecked => (
            "The change was saved, and reading the record back confirmed it.",
            "Nothing more is needed. Don't run this work again.",
        ),
        Reason::UnexpectedScreen => {
            ("Stopped before saving: the app didn't show what the workflow expected. Nothing was written.", REVIEW)
        }
        Reason::RecordNotConfirmed => {
            ("Stopped before saving: it couldn't confirm that the right record was open. Nothing was written.", REVIEW)
        }
        Reason::PersonNeeded => (
            "Stopped before saving: the app asks for a person, for a sign-in for example. Nothing was written.",
            REVIEW,
        ),
        Reason::RecordCheckNotSetUp => {
            ("Stopped before saving: the check that reads the record back isn't set up. Nothing was written.", REVIEW)
        }
        Reason::StoppedForReview => {
            ("Stopped before saving: something didn't match the workflow. Nothing was written.", REVIEW)
        }
        Reason::ApprovalNeeded => (
            "Stopped before saving: this save needs a person's approval first. Nothing was written.",
            "A person approves and resumes this run, or ends it, on the computer that ran it. Call get_run later to read \
             their decision. Don't start another run for this work before then.",
        ),
        Reason::WaitingForApproval => (
            "The run is waiting for a person to approve a save. That save hasn't been made.",
            "Ask the person at the computer that runs it; `openadapt-flow item-approval show` lists what waits. Then call \
             get_run with this run_id.",
        ),
        Reason::SaveNotConfirmed => {
            ("The run may have saved the change, but reading the record back didn't confirm it.", CHECK)
        }
        Reason::NotChecked => ("The run finished, but nothing checked whether the change was saved.", CHECK),
        Reason::ChangeReversed => ("The run made a change that it didn't mean to and reversed it.", CHECK),
        Reason::TimedOut => ("The run didn't finish in time and was stopped. The change may have been saved.", CHECK),
        Reason::ResultUnreadable => {
            ("The run ended without a result that can be trusted. The change may have been saved.", CHECK)
        }
        Reason::Interrupted => ("The run was cut off before it could report. The change may have been saved.", CHECK),
        Reason::InvalidInput => (
            "Nothing ran: some inputs aren't valid.",
            "Correct what invalid_inputs lists, then call run_workflow again. The same request_id may be used.",
        ),
        Reason::UnknownWorkflow => (
            "Nothing ran: this server has no workflow of that name.",
            "Call list_workflows for the names, then call run_workflow with one of them.",
        ),
        Reason::WorkflowUnavailable => ("Nothing ran: the workflow can't be loaded on this computer.", SETUP),
        Reason::RunsDisabled => ("Nothing ran: runs are switched off on this server.", SETUP),
        Reason::NotReadyToRun => {
            ("Nothing ran: the workflow didn't pass the checks before a run. failed_checks names them.", SETUP)
        }
        Reason::PolicyRefused => {
            ("Nothing was written: the policy, its sign-off or the environment refused the run.", SETUP)
        }
        Reason::Canceled => ("Nothing was written: the run was canceled before it changed anything.", AGAIN),
        Reason::PlatformError => {
            ("Nothing was written: something failed on this computer before any change was made.", AGAIN)
        }
        Reason::AppUnreachable => ("Nothing was sent: the app can't be reached.", AGAIN),
        Reason::StoppedByPerson => (
            "A person ended this run before it saved. Nothing was written.",
            "Don't retry. If the work is wanted after all, start it with a new request_id.",
        ),
        Reason::RequestIdConflict => (
            "Nothing ran: this request_id was used before for a different workflow or other inputs. That earlier request may \
             have saved.",
            "Call get_run with first_run_id to see the earlier request. For different work, use a new request_id.",
        ),
        Reason::RetryLimit => (
            "Nothing ran: this request was tried five times, and each time nothing was written.",
            "The operator looks into why it can't run on that computer. Don't call it again with this request_id.",
        ),
        Reason::Running => ("The run is still going.", "Call get_run with this run_id."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::outcome::RecordChanged;
    use crate::contract::sandbox::SandboxEngine;

    #[test]
    fn no_sentence_says_that_nothing_was_written_unless_the_reason_proves_it() {
        for reason in Reason::ALL {
            let text = copy_for(*reason).what_happened;
            let denies = ["Nothing was written", "nothing was written", "Nothing was sent"]
                .iter()
                .any(|claim| text.contains(claim));
            assert!(!denies || reason.row().record_changed == RecordChanged::No, "{reason:?}: {text}");
        }
    }

    #[test]
    fn every_uncertain_sentence_sends_a_person_to_the_record() {
        for reason in Reason::ALL.iter().filter(|reason| reason.outcome() == Outcome::NotSureIfSaved) {
            assert_eq!(copy_for(*reason).next_action, CHECK, "{reason:?}");
        }
    }

    #[test]
    fn the_same_words_never_stand_for_two_reasons() {
        let mut seen = std::collections::BTreeSet::new();
        for reason in Reason::ALL {
            assert!(seen.insert(copy_for(*reason).what_happened), "{reason:?}");
        }
    }

    #[test]
    fn a_local_check_says_that_no_receipt_was_signed_and_a_simulation_says_so_first() {
        let local = what_happened(Reason::SavedAndChecked, Mode::Production, Proof::Local, None);
        assert!(local.ends_with(CHECKED_HERE));
        let facts = SandboxFacts { engine: Some(SandboxEngine::Simulated), ..SandboxFacts::default() };
        for reason in Reason::ALL.iter().filter(|reason| reason.is_terminal()) {
            let simulated = what_happened(*reason, Mode::Sandbox, Proof::None, Some(facts));
            assert!(simulated.starts_with("Simulated sandbox result") && simulated.ends_with(SYNTHETIC), "{reason:?}");
        }
        let driven = SandboxFacts { engine: Some(SandboxEngine::Driven), ..facts };
        assert!(
            !what_happened(Reason::SavedAndChecked, Mode::Sandbox, Proof::Local, Some(driven)).contains("imulated")
        );
    }

    #[test]
    fn a_sandbox_that_fell_back_says_why_and_each_reason_has_its_own_words() {
        let mut seen = std::collections::BTreeSet::new();
        for lacking in Lacking::ALL {
            let facts = SandboxFacts { fallback: Some(*lacking), ..SandboxFacts::default() };
            let text = what_happened(Reason::SavedAndChecked, Mode::Sandbox, Proof::Simulated, Some(facts));
            assert!(text.ends_with(simulated_because(*lacking)) && seen.insert(text), "{lacking:?}");
        }
    }
}
