//! Forms as a client sees them, in both protocol eras.

use serde_json::{Value, json};

/// A form that a server shows: a request of its own in the legacy era, part of a result in the modern one.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    /// message and requestedSchema.
    pub form: Value,
    /// The id to answer in the legacy era.
    pub id: Option<Value>,
    /// The name to answer under in the modern era.
    pub key: Option<String>,
    pub state: Option<String>,
}

impl Shown {
    pub fn of(message: &Value) -> Option<Self> {
        if message.get("method").and_then(Value::as_str) == Some("elicitation/create") {
            let form = message.get("params").cloned().unwrap_or_default();
            return Some(Self { form, id: message.get("id").cloned(), key: None, state: None });
        }
        let result = message.get("result").filter(|result| asks(result))?;
        let asked = result.get("inputRequests").and_then(Value::as_object).and_then(|asked| asked.iter().next());
        let form = asked.and_then(|(_, request)| request.get("params")).cloned().unwrap_or_default();
        let state = result.get("requestState").and_then(Value::as_str).map(str::to_owned);
        Some(Self { form, id: None, key: asked.map(|(key, _)| key.clone()), state })
    }

    /// What a scenario's matcher is held against.
    pub fn object(&self) -> Value {
        let mut object = self.form.clone();
        if let Some(table) = object.as_object_mut() {
            table.extend(self.key.iter().map(|key| ("key".to_owned(), json!(key))));
            table.extend(self.state.iter().map(|state| ("state".to_owned(), json!(state))));
        }
        object
    }

    pub fn message(&self) -> &str {
        self.form.get("message").and_then(Value::as_str).unwrap_or_default()
    }
}

/// A result that asks for more, instead of answering.
pub fn asks(result: &Value) -> bool {
    result.get("resultType").and_then(Value::as_str) == Some("input_required")
}

/// An elicitation's result by which a person said yes.
pub fn confirms(reply: &Value) -> bool {
    reply.get("action").and_then(Value::as_str) == Some("accept")
        && reply.pointer("/content/confirmed") == Some(&Value::Bool(true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_seen_in_both_eras_and_nothing_else_is_one() {
        let params = json!({"message": "Reject?", "requestedSchema": {}});
        let legacy = Shown::of(&json!({"id": 3, "method": "elicitation/create", "params": params})).unwrap();
        assert_eq!((legacy.message(), &legacy.id), ("Reject?", &Some(json!(3))));
        let modern = Shown::of(&json!({"id": 9, "result": {"resultType": "input_required", "requestState": "s",
            "inputRequests": {"confirm": {"method": "elicitation/create", "params": params}}}}));
        let modern = modern.unwrap();
        assert_eq!(modern.object()["key"], "confirm");
        assert_eq!(modern.object()["state"], "s");
        assert_eq!(Shown::of(&json!({"id": 9, "result": {"resultType": "complete"}})), None);
        assert_eq!(Shown::of(&json!({"method": "notifications/message"})), None);
    }

    #[test]
    fn only_an_accept_with_a_true_boolean_is_a_yes() {
        assert!(confirms(&json!({"action": "accept", "content": {"confirmed": true}})));
        for no in [
            json!({"action": "accept", "content": {"confirmed": "true"}}),
            json!({"action": "accept", "content": {}}),
            json!({"action": "decline", "content": {"confirmed": true}}),
            json!({"confirmed": true}),
        ] {
            assert!(!confirms(&no), "{no}");
        }
    }
}
