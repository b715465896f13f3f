//! Every sentence about an attention item and a decision: fixed copy, keyed by closed words.

use super::action::Action;
use super::category::{Category, Status};
use super::decision::DecisionStatus;

/// What a person reads of one item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sentences {
    pub headline: &'static str,
    pub next_action: &'static str,
}

const DECIDE: &str = "A person looks at the app on that computer and decides with one of the allowed actions.";
const CHECK_RECORD: &str =
    "A person checks the record in the app first, and then decides with one of the allowed actions.";
const SIGN_IN: &str = "A person does in the app what it asks for, and then decides with one of the allowed actions.";
const ENDED: &str = "Nothing continues this run. A person checks in the app what it had done before it ended.";
const LOOK_AT_REPORT: &str = "A person reads this run's report on that computer and checks the record in the app.";
const UNLOCK: &str = "A person opens this run in Flow on that computer, where its key is.";

pub const fn sentences(category: Category, status: Status) -> Sentences {
    let (headline, next_action) = match status {
        Status::Rejected => ("A person ended this run.", ENDED),
        Status::Encrypted => ("This run is paused, and its pause is encrypted.", UNLOCK),
        Status::Verified => ("This run ended as checked, and still waits for a person.", LOOK_AT_REPORT),
        Status::CompletedUnverified => {
            ("This run finished, but nothing checked whether the change was saved.", LOOK_AT_REPORT)
        }
        Status::RolledBack => ("This run made a change that it didn't mean to, and reversed it.", LOOK_AT_REPORT),
        Status::Failed => ("This run failed and can't be continued.", LOOK_AT_REPORT),
        Status::Halted => ("This run stopped and can't be continued.", LOOK_AT_REPORT),
        Status::Pending | Status::Approved => paused(category),
    };
    Sentences { headline, next_action }
}

const fn paused(category: Category) -> (&'static str, &'static str) {
    match category {
        Category::HumanRequired => ("Paused: the app asks for a person, for a sign-in for example.", SIGN_IN),
        Category::Identity => ("Paused: it couldn't confirm that the right record was open.", DECIDE),
        Category::Disambiguation => ("Paused: more than one place on the screen fitted the step.", DECIDE),
        Category::Resolution => ("Paused: what the step needs wasn't found on the screen.", DECIDE),
        Category::UnmetGuard => ("Paused: the app wasn't in the state that the step needs.", DECIDE),
        Category::Postcondition => ("Paused: the app didn't show what the step should lead to.", CHECK_RECORD),
        Category::EffectRefuted => ("Paused: reading the record back contradicts the change.", CHECK_RECORD),
        Category::EffectIndeterminate => ("Paused: the record couldn't be read back.", CHECK_RECORD),
        Category::EffectEscalated => ("Paused: the record and the change couldn't be brought together.", CHECK_RECORD),
        Category::EffectUnverifiable => ("Paused: nothing is set up that reads the record back.", CHECK_RECORD),
        Category::PlaceholderEffect => ("Paused: the set-up that reads the record back is unfinished.", CHECK_RECORD),
        Category::Halt => ("Paused: the run stopped before it could go on safely.", DECIDE),
        Category::OperatorReview => ("Paused: an operator has to look at this run.", CHECK_RECORD),
    }
}

/// What a decision's status means.
pub const fn message(status: DecisionStatus) -> &'static str {
    match status {
        DecisionStatus::Completed => "The run went on from the pause and ended. Call get_run for what it came to.",
        DecisionStatus::Refused => "Flow refused the decision. Look at the item again before anything else is decided.",
        DecisionStatus::Halted => {
            "The run went on from the pause and stopped again later. Look at the item again; call get_run for what is known."
        }
        DecisionStatus::NeedsDemonstration => "The request for a demonstration is recorded. The run stays paused.",
        DecisionStatus::Escalated => "The request for help is recorded. The run stays paused.",
        DecisionStatus::Rejected => {
            "The run has ended and can't be resumed. What it did before stands: call get_run for what is known."
        }
        DecisionStatus::Prepared | DecisionStatus::DeliveryStarted | DecisionStatus::DeliveryUncertain => {
            "It isn't known whether the decision was carried out. Don't repeat it; a person checks the record in the app."
        }
    }
}

/// The question of an action, without what it is about.
pub const fn question(action: Action) -> &'static str {
    match action {
        Action::Continue => {
            "Continue this run? Say yes only if you have done the paused step in the app yourself. Flow checks that and goes on \
             with the next step."
        }
        Action::Skip => {
            "Skip the paused step of this run? Say yes only if the step doesn't apply. Flow checks that and goes on with the \
             next step."
        }
        Action::Reject => {
            "End this run? It can never be resumed. What it did before the pause stays as it is, so look at the record as well."
        }
        Action::Teach => {
            "Ask for a demonstration of the paused step? The run stays paused, and nothing is done in the app."
        }
        Action::Escalate => {
            "Ask for qualified help with this run? The run stays paused, and nothing is done in the app."
        }
    }
}

/// What stands at the box that a person ticks.
pub const fn tick(action: Action) -> &'static str {
    match action {
        Action::Continue => "I have done the paused step; continue",
        Action::Skip => "The paused step doesn't apply; skip it",
        Action::Reject => "This run must not go on; end it",
        Action::Teach => "Ask for a demonstration",
        Action::Escalate => "Ask for help",
    }
}

/// Said where the arguments of an action don't fit.
pub const fn usage(action: Action) -> &'static str {
    match action {
        Action::Continue => {
            "continue_attention takes attention_id, capability_digest (from get_attention_item), idempotency_key (your own, 16 to 200 \
             letters, digits, dots, underscores, colons or hyphens) and human_completed: true. Nothing was submitted."
        }
        Action::Skip => {
            "skip_attention takes attention_id, capability_digest (from get_attention_item), idempotency_key (your own, 16 to 200 \
             letters, digits, dots, underscores, colons or hyphens) and confirmed_not_applicable: true. Nothing was submitted."
        }
        Action::Reject => {
            "reject_attention takes attention_id, capability_digest (from get_attention_item), idempotency_key (your own, 16 to 200 \
             letters, digits, dots, underscores, colons or hyphens) and confirm_run_must_not_proceed: true. Nothing was submitted."
        }
        Action::Teach => {
            "teach_attention takes attention_id, capability_digest (from get_attention_item), idempotency_key (your own, 16 to 200 \
             letters, digits, dots, underscores, colons or hyphens) and request_demonstration: true. Nothing was submitted."
        }
        Action::Escalate => {
            "escalate_attention takes attention_id, capability_digest (from get_attention_item), idempotency_key (your own, 16 to 200 \
             letters, digits, dots, underscores, colons or hyphens) and request_assistance: true. Nothing was submitted."
        }
    }
}

pub const LIST_USAGE: &str =
    "list_needs_attention takes nothing but, if you like, cursor (next_cursor of the answer before).";
pub const ITEM_USAGE: &str =
    "get_attention_item takes attention_id (24 hex digits, from list_needs_attention or a run's needs_attention_id).";
pub const QUEUE_UNREADABLE: &str = "The run folders of this computer can't be read, so nothing is known of what waits for a person. The operator finds the \
     cause in the server's log.";
pub const NO_ITEM: &str = "Nothing waits for a person under that attention_id.";
pub const UNKNOWN_ITEM: &str = "Nothing waits for a person under that attention_id. Nothing was submitted.";
pub const STALE: &str = "The item has changed since that capability_digest was read, or it has none now. Nothing was submitted. Call \
    get_attention_item to see where it stands.";
pub const NOT_ALLOWED: &str =
    "The item doesn't allow this action; allowed_actions lists what it allows. Nothing was submitted.";
pub const NO_FORM: &str = "This client can't put a question to a person, so the decision can't be taken here. Nothing was submitted. The \
    person decides in Flow on that computer.";
pub const NOT_CONFIRMED: &str = "The person sent the form without confirming. Nothing was submitted.";
pub const DECLINED: &str = "The person declined. Nothing was submitted.";
pub const CANCELLED: &str = "The question was closed without an answer. Nothing was submitted.";
pub const UNANSWERED: &str = "Nobody answered the question in time. That is no decision, and nothing was submitted.";
pub const CHANGED_MEANWHILE: &str = "The item changed while the person was asked, so the answer doesn't count. Nothing was submitted. Call get_attention_item \
     to see where it stands.";
pub const NOT_SUBMITTED: &str = "Flow's bridge can't be reached, so nothing was submitted. The operator looks at the server's log and at \
    --flow-bridge.";
pub const SUPPRESSED: &str = "Flow has refused this decision twice, and nothing about the item has changed since. Nothing was submitted. A person looks \
    at the run in Flow on that computer.";
pub const NOT_RECORDED: &str = "The records of this computer can't be read or written, so nothing was submitted. The operator finds the cause in the \
    server's log.";
pub const FAILED: &str = "The decision ended without a safe terminal answer from Flow. It may or may not have been carried out. Don't repeat \
    it by yourself: a person checks the record in the app, and get_attention_item and get_run tell what is known.";

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_category_has_a_headline_of_its_own_while_it_is_paused() {
        let headlines: BTreeSet<_> =
            Category::ALL.iter().map(|category| sentences(*category, Status::Pending).headline).collect();
        assert_eq!(headlines.len(), Category::ALL.len());
    }

    #[test]
    fn every_state_that_is_no_open_pause_says_so_whatever_the_category() {
        for status in Status::ALL.iter().filter(|status| !matches!(status, Status::Pending | Status::Approved)) {
            let words: BTreeSet<_> =
                Category::ALL.iter().map(|category| sentences(*category, *status).headline).collect();
            assert_eq!(words.len(), 1, "{status:?}");
        }
    }

    #[test]
    fn what_submits_nothing_says_so_and_what_may_have_been_done_never_does() {
        for sentence in [
            UNKNOWN_ITEM,
            STALE,
            NOT_ALLOWED,
            NO_FORM,
            NOT_CONFIRMED,
            DECLINED,
            CANCELLED,
            UNANSWERED,
            CHANGED_MEANWHILE,
            NOT_SUBMITTED,
            SUPPRESSED,
            NOT_RECORDED,
        ] {
            assert!(sentence.contains("othing was submitted"), "{sentence}");
        }
        assert!(!FAILED.contains("submitted") && FAILED.contains("may or may not"));
        for status in DecisionStatus::ALL {
            assert!(!message(*status).contains("othing was"), "{status:?}");
        }
    }
}
