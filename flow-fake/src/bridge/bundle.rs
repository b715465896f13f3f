//! `bundle.describe`: what a caller may know of a bundle.

use std::path::Path;

use serde_json::{Value, json};

use crate::launch::{Bundle, is_encrypted, workflow_text};

/// `None` when Flow wouldn't load it.
pub fn describe(folder: &Path) -> Option<Value> {
    let bundle = Bundle::load(folder).ok()?;
    let workflow: Value = serde_json::from_slice(&workflow_text(folder).ok()?).unwrap_or_default();
    let or_empty = |value: &Value| if value.is_object() { value.clone() } else { json!({}) };
    Some(json!({
        "name": bundle.name,
        "params": bundle.examples,
        "param_specs": or_empty(&workflow["param_specs"]),
        "step_count": bundle.steps,
        "schema_version": workflow["schema_version"].as_u64().unwrap_or(2),
        "encrypted": is_encrypted(folder),
        "content_digest": bundle.content_digest,
        "changes_records": workflow["steps"].as_array().is_none_or(|steps| steps.iter().any(changes_records)),
    }))
}

fn changes_records(step: &Value) -> bool {
    let has_effects = |part: &Value| part["effects"].as_array().is_some_and(|effects| !effects.is_empty());
    step["risk"] == "irreversible" || has_effects(step) || has_effects(&step["api_binding"])
}
