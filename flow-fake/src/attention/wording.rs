//! The fixed sentences of the queue: the stand-in's own, one pair for each category.

pub const OTHER: &str = "operator_review";

/// Categories that keep their name in the queue.
pub const CATEGORIES: [&str; 12] = [
    "human_required",
    "identity",
    "disambiguation",
    "resolution",
    "unmet_guard",
    "postcondition",
    "effect_refuted",
    "effect_indeterminate",
    "effect_escalated",
    "effect_unverifiable",
    "placeholder_effect",
    "halt",
];

/// Headline and next action.
pub fn of(category: &str) -> (&'static str, &'static str) {
    match category {
        "human_required" => ("The app asks for a person", "Sign in or answer the app, then decide"),
        "identity" => ("The record could not be confirmed", "Compare the record on the screen with the expected one"),
        "disambiguation" => ("More than one place fits", "Look which one is meant"),
        "resolution" => ("A control was not found", "Look whether the app has changed"),
        "unmet_guard" => ("The app was not ready", "Look what the app waits for"),
        "postcondition" => ("The expected screen did not come", "Look whether the step was done"),
        "effect_refuted" => ("The record contradicts the run", "Check the record"),
        "effect_indeterminate" => ("The record could not be read", "Check the record"),
        "effect_escalated" => ("The record could not be set right", "Check the record and set it right"),
        "effect_unverifiable" => ("Nothing can check the record", "Check the record"),
        "placeholder_effect" => ("The check of the record is unfinished", "Finish the check of the record"),
        "halt" => ("The run stopped", "Look at the app and decide"),
        _ => ("The run needs a look", "Read the run and decide"),
    }
}
