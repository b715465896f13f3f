//! The form that a person sees, and what an answer to it says.

use serde_json::{Value, json};

use crate::bridge::host::{Form, FormOutcome};

/// The one field of every form.
const FIELD: &str = "confirmed";

/// The params of `elicitation/create`. Without `mode`, which versions before 2025-11-25 don't know.
pub fn params(form: &Form) -> Value {
    json!({
        "message": form.message,
        "requestedSchema": {
            "type": "object",
            "properties": { FIELD: { "type": "boolean", "title": form.field_title } },
            "required": [FIELD],
        },
    })
}

/// Reads the result of `elicitation/create`. Whatever can't be read is no answer.
pub fn outcome(result: &Value) -> FormOutcome {
    match result.get("action").and_then(Value::as_str) {
        Some("accept") => match result.get("content").and_then(|content| content.get(FIELD)) {
            Some(Value::Bool(true)) => FormOutcome::Confirmed,
            _ => FormOutcome::NotConfirmed,
        },
        Some("decline") => FormOutcome::Declined,
        Some("cancel") => FormOutcome::Cancelled,
        _ => FormOutcome::Unanswered,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_yes_is_an_accepted_form_whose_box_is_true_and_nothing_else() {
        assert_eq!(outcome(&json!({ "action": "accept", "content": { "confirmed": true } })), FormOutcome::Confirmed);
        for (result, expected) in [
            (json!({ "action": "accept", "content": { "confirmed": false } }), FormOutcome::NotConfirmed),
            (json!({ "action": "accept", "content": { "confirmed": "true" } }), FormOutcome::NotConfirmed),
            (json!({ "action": "accept", "content": { "confirmed": 1 } }), FormOutcome::NotConfirmed),
            (json!({ "action": "accept", "content": { "confirmed": null } }), FormOutcome::NotConfirmed),
            (json!({ "action": "accept", "content": { "Confirmed": true } }), FormOutcome::NotConfirmed),
            (json!({ "action": "accept", "content": {} }), FormOutcome::NotConfirmed),
            (json!({ "action": "accept", "content": true }), FormOutcome::NotConfirmed),
            (json!({ "action": "accept", "content": [true] }), FormOutcome::NotConfirmed),
            (json!({ "action": "accept", "confirmed": true }), FormOutcome::NotConfirmed),
            (json!({ "action": "accept" }), FormOutcome::NotConfirmed),
            (json!({ "action": "decline", "content": { "confirmed": true } }), FormOutcome::Declined),
            (json!({ "action": "cancel", "content": { "confirmed": true } }), FormOutcome::Cancelled),
            (json!({ "action": "ACCEPT", "content": { "confirmed": true } }), FormOutcome::Unanswered),
            (json!({ "action": true, "content": { "confirmed": true } }), FormOutcome::Unanswered),
            (json!({ "content": { "confirmed": true } }), FormOutcome::Unanswered),
            (json!({}), FormOutcome::Unanswered),
            (json!("accept"), FormOutcome::Unanswered),
            (json!(null), FormOutcome::Unanswered),
        ] {
            assert_eq!(outcome(&result), expected, "{result}");
        }
    }
}
