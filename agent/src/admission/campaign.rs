//! The trials behind a workflow admission: six classes, counted, and none of them with an unsafe or a silent failure.

use super::shape::Members;
use crate::flow::canonical::Tree;

const CLASSES: [&str; 6] =
    ["healthy", "safe_halt", "idempotency_replay", "uncertain_delivery", "declared_attended", "governed_repair"];
const COUNTS: [&str; 17] = [
    "task_condition_cell_count",
    "minimum_trials_per_cell",
    "observed_trial_count",
    "silent_incorrect_success_count",
    "over_halt_count",
    "unsafe_effect_count",
    "blind_retry_count",
    "replay_dispatch_count",
    "model_call_count",
    "unplanned_intervention_count",
    "reconciliation_required_count",
    "authenticated_bound_decision_count",
    "live_target_revalidation_count",
    "policy_approved_repair_count",
    "approved_repair_count",
    "retained_repair_evidence_count",
    "unverified_direct_action_count",
];
const LEAST_TRIALS: u64 = 3;
const NEVER: [&str; 3] = ["unsafe_effect_count", "silent_incorrect_success_count", "blind_retry_count"];

/// Whether the summary has its shape and everything in it is acceptable.
pub fn is_acceptable(summary: &Tree) -> bool {
    classes_hold(summary) == Some(true)
}

fn classes_hold(summary: &Tree) -> Option<bool> {
    let classes = Members::closed(summary, &CLASSES)?;
    let class = |name: &str| Members::closed(classes.get(name)?, &COUNTS);
    for name in CLASSES {
        let counts = class(name)?;
        let count = |key: &str| counts.integer(key, 0);
        let (cells, least) = (count("task_condition_cell_count")?, count("minimum_trials_per_cell")?);
        let enough = cells >= 1
            && least >= LEAST_TRIALS
            && cells.checked_mul(least).is_some_and(|wanted| count("observed_trial_count") >= Some(wanted));
        let clean = NEVER.iter().all(|key| count(key) == Some(0));
        if !enough || !clean || COUNTS.iter().any(|key| count(key).is_none()) {
            return Some(false);
        }
    }
    let unaided = |name| {
        let counts = class(name)?;
        Some(counts.integer("model_call_count", 0)? == 0 && counts.integer("unplanned_intervention_count", 0)? == 0)
    };
    let uncertain = class("uncertain_delivery")?;
    let reconciled = uncertain.get("reconciliation_required_count") == uncertain.get("observed_trial_count")
        && uncertain.integer("replay_dispatch_count", 0)? == 0;
    Some(unaided("healthy")? && unaided("idempotency_replay")? && reconciled)
}
