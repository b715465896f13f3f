//! The agent's store of actions, held against its own grammar, against Flow's journal and against what the wire was told.

pub mod events;
pub mod rows;
pub mod starts;
pub mod told;

#[cfg(test)]
mod sample;

use serde_json::Value;

use crate::evidence::Evidence;
use crate::evidence::actions::Tables;
use crate::scenario::Action;

const FILE: &str = "lifecycle.sqlite";

/// The rows, where they are the agent's own: a scenario that changes the store says itself what must come of it.
fn rows(evidence: &Evidence) -> Option<&Tables> {
    let edited = evidence.steps.iter().any(|step| match &step.action {
        Action::Edit(edit) => edit.edit.contains(FILE) || edit.copy_to.as_deref().is_some_and(|to| to.contains(FILE)),
        _ => false,
    });
    let planted = evidence.files.iter().any(|file| file.planted && file.path.to_string_lossy().ends_with(FILE));
    if edited || planted { None } else { evidence.actions.rows() }
}

fn text<'v>(row: &'v Value, key: &str) -> Option<&'v str> {
    row.get(key).and_then(Value::as_str)
}

fn is_imported(action: &Value) -> bool {
    text(action, "conditions_digest") == Some("imported")
}
