//! The five cases: how the app is opened for each, and what each one is there to show.

use crate::contract::outcome::Outcome;
use crate::contract::sandbox::SandboxCase;

/// What stands behind the app's address. Nothing: the app isn't there in this case.
pub const fn query(case: SandboxCase) -> Option<&'static str> {
    match case {
        SandboxCase::Normal => Some("?fault=ok&idempotency=demo#tasks"),
        SandboxCase::DuplicateRecord => Some("?fault=ok&idempotency=demo&drift=ambiguous#tasks"),
        SandboxCase::FalseSavedBanner => Some("?fault=optimistic&idempotency=demo#tasks"),
        SandboxCase::TimeoutAfterSave => Some("?fault=timeout&idempotency=demo#tasks"),
        SandboxCase::AppOffline => None,
    }
}

pub const fn outcome(case: SandboxCase) -> Outcome {
    match case {
        SandboxCase::Normal => Outcome::Done,
        SandboxCase::DuplicateRecord => Outcome::NeedsReview,
        SandboxCase::FalseSavedBanner | SandboxCase::TimeoutAfterSave => Outcome::NotSureIfSaved,
        SandboxCase::AppOffline => Outcome::DidNotRun,
    }
}

pub const fn what_it_shows(case: SandboxCase) -> &'static str {
    match case {
        SandboxCase::Normal => "The note is saved, and reading the record back confirms it.",
        SandboxCase::DuplicateRecord => "Two referrals match, so the run stops before it saves anything.",
        SandboxCase::FalseSavedBanner => "The app says that it saved, but its record store doesn't have the note.",
        SandboxCase::TimeoutAfterSave => {
            "The app stores the note but answers too late, so its screen says it timed out."
        }
        SandboxCase::AppOffline => "The app can't be reached, which is found out before anything is sent.",
    }
}
