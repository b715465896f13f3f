//! The shape of a JSON document: which keys there are, of which types, and which closed words. Never a value.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// By JSON pointer; every element of a list stands under `*`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Outline(pub BTreeMap<String, Seen>);

/// What stands at one pointer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seen {
    pub types: BTreeSet<String>,
    /// Of a key whose values are closed words.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub words: BTreeSet<String>,
}

/// The keys whose values are words of a closed set, or numbers of a format.
const CLOSED: &[&str] = &[
    "action",
    "action_kind",
    "actuation",
    "actuation_path",
    "allowed_actions",
    "attempt_state",
    "category",
    "cause_type",
    "code",
    "contract_kind",
    "decided_by",
    "delivery_authority_kind",
    "delivery_state",
    "disposition",
    "evidence_classes",
    "execution_outcome",
    "execution_profile",
    "execution_target_kind",
    "expected_next_transition",
    "external_network_calls",
    "failure_category",
    "final_verdict",
    "initial_verdict",
    "kind",
    "mode",
    "observed_effect",
    "operation",
    "outcome",
    "profile",
    "recorded_surface",
    "risk",
    "rung",
    "schema_version",
    "source_identity_status",
    "stage",
    "status",
    "step_id",
    "substrate",
    "terminal_outcome",
    "transaction_outcome",
    "verdict",
    "version",
];

impl Outline {
    pub fn of(document: &Value) -> Self {
        let mut outline = Self::default();
        outline.look(document, "", false);
        outline
    }

    fn look(&mut self, value: &Value, at: &str, closed: bool) {
        let seen = self.0.entry(at.to_owned()).or_default();
        seen.types.insert(type_of(value).to_owned());
        match value {
            Value::String(text) if closed => drop(seen.words.insert(text.clone())),
            Value::Number(number) if closed => drop(seen.words.insert(number.to_string())),
            Value::Array(items) => items.iter().for_each(|item| self.look(item, &format!("{at}/*"), closed)),
            Value::Object(table) => {
                for (key, inner) in table {
                    let pointer = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
                    self.look(inner, &pointer, CLOSED.contains(&key.as_str()));
                }
            }
            _ => {}
        }
    }
}

impl Seen {
    /// For a person: types, and words in brackets.
    pub fn text(&self) -> String {
        let types: Vec<&str> = self.types.iter().map(String::as_str).collect();
        let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        if words.is_empty() { types.join("|") } else { format!("{} ({})", types.join("|"), words.join(", ")) }
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_outline_has_keys_types_and_closed_words_and_no_value() {
        let outline = Outline::of(&json!({
            "status": "pending", "note": "secret", "results": [{"risk": "reversible", "ms": 1}, {"risk": null}], "a/b": true,
        }));
        let text = serde_json::to_string(&outline).unwrap();
        assert!(!text.contains("secret"), "{text}");
        assert_eq!(outline.0["/status"].text(), "string (pending)");
        assert_eq!(outline.0["/results/*/risk"].text(), "null|string (reversible)");
        assert_eq!(outline.0["/results/*/ms"].text(), "number");
        assert_eq!(outline.0["/a~1b"].text(), "boolean");
    }
}
