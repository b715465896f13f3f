//! Pure functions from evidence to verdicts.

pub mod after;
pub mod answers;
pub mod attended;
pub mod canary;
pub mod clinic;
pub mod crash;
pub mod ends;
pub mod expect;
pub mod frames;
pub mod launches;
pub mod lifecycle;
pub mod mailbox;
pub mod matcher;
pub mod progress;
pub mod recording;
pub mod results;
pub mod sandbox;
pub mod schema;
pub mod store;
pub mod storm;
pub mod truth;
pub mod verdict;

#[cfg(test)]
pub(crate) mod sample;

use crate::evidence::Evidence;
use verdict::{Blame, Check, Judgement, Verdict};

/// Every check, in the order in which failures are told.
pub const CHECKS: &[&Check] = &[
    &ends::STOPPED,
    &expect::EXPECTED,
    &crash::CRASH,
    &truth::TRUTH,
    &launches::AT_MOST_ONCE,
    &launches::LAUNCHES,
    &sandbox::ONE_AT_A_TIME,
    &lifecycle::events::GRAMMAR,
    &lifecycle::events::BALANCED,
    &lifecycle::rows::BINDING,
    &lifecycle::rows::TRIPLES,
    &lifecycle::starts::STARTS,
    &lifecycle::told::RECEIPTS,
    &lifecycle::told::ALIKE,
    &after::AFTER,
    &clinic::CLINIC,
    &clinic::CLINIC_TRUTH,
    &results::SHAPE,
    &results::ADVERTISED,
    &frames::FRAMES,
    &frames::MODERN,
    &answers::ANSWERED_ONCE,
    &answers::UNANSWERED,
    &progress::PROGRESS,
    &storm::STORM,
    &recording::RECORDING,
    &mailbox::MAILBOX,
    &canary::CANARY,
    &attended::decisions::DECISIONS,
    &attended::twice::ONCE,
    &attended::forms::FORMS,
    &attended::projection::PROJECTION,
    &attended::bridge::BRIDGE,
    &store::PARAMS,
    &store::MODES,
    &ends::LEFTOVERS,
    &ends::EXITS,
];

/// Judges one scenario's evidence.
pub fn judge(evidence: &Evidence) -> Judgement {
    let mut failures = Vec::new();
    let mut looked = std::collections::BTreeMap::new();
    for check in CHECKS {
        let (found, seen) = (check.judge)(evidence, Verdict::of(check.id)).finish();
        failures.extend(found);
        looked.insert(check.id.to_owned(), seen);
    }
    if let Some(at) = evidence.journal.iter().position(|line| line.event() == "bad_script") {
        // Flow's stand-in couldn't read what the scenario told it: nothing that follows says anything about the agent.
        for failure in &mut failures {
            failure.blame = Blame::Harness;
            failure.cites.push(verdict::Cite::Journal(at));
        }
    }
    Judgement {
        scenario: evidence.scenario.clone(),
        title: evidence.title.clone(),
        proves: evidence.proves.clone(),
        failures,
        looked,
        seconds: evidence.seconds,
    }
}
