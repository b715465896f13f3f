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

/// The rows, where they are the agent's own: a scenario that changes the store, or the folder that it lies in, says itself what must come
/// of it, and of two stores only one was read.
fn rows(evidence: &Evidence) -> Option<&Tables> {
    let edited = evidence.steps.iter().any(|step| match &step.action {
        Action::Edit(edit) => touches(&edit.edit) || edit.copy_to.as_deref().is_some_and(touches),
        _ => false,
    });
    let mut stores = evidence.files.iter().filter(|file| file.path.ends_with(FILE));
    let own = stores.next().is_none_or(|file| !file.planted) && stores.next().is_none();
    if own && !edited { evidence.actions.rows() } else { None }
}

/// The store itself, or a folder above it.
fn touches(path: &str) -> bool {
    path.contains(FILE) || path.ends_with("/runs") || path.ends_with("/openadapt-agent")
}

fn text<'v>(row: &'v Value, key: &str) -> Option<&'v str> {
    row.get(key).and_then(Value::as_str)
}

fn is_imported(action: &Value) -> bool {
    text(action, "conditions_digest") == Some("imported")
}
