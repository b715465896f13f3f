//! Arguments of the attention tools, parsed once. What doesn't fit is answered by the tool's usage and never repeated.

use serde_json::{Map, Value};

use super::action::Action;
use super::id::AttentionId;
use super::page::Cursor;
use crate::flow::canonical::sha256_hex;
use crate::flow::hex_text::is_sha256;

/// The arguments don't have the shape of the tool's input schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Misshapen;

/// What an agent asks a person to decide: four fields, and no more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionRequest {
    pub action: Action,
    pub attention_id: AttentionId,
    pub capability_digest: String,
    pub idempotency_key: String,
}

impl DecisionRequest {
    pub fn parse(action: Action, mut arguments: Map<String, Value>) -> Result<Self, Misshapen> {
        let attention_id = AttentionId::parse(&text(arguments.remove("attention_id"))?).ok_or(Misshapen)?;
        let capability_digest = text(arguments.remove("capability_digest")).and_then(kept_if(is_sha256))?;
        let idempotency_key = text(arguments.remove("idempotency_key")).and_then(kept_if(is_key))?;
        let confirmed = arguments.remove(action.confirmation()) == Some(Value::Bool(true));
        let exact = confirmed && arguments.is_empty();
        if exact { Ok(Self { action, attention_id, capability_digest, idempotency_key }) } else { Err(Misshapen) }
    }

    /// What a person's yes is good for. Hashed, because it travels through the client, and nothing of a caller's does.
    pub fn binding(&self) -> String {
        let Self { action, attention_id, capability_digest, idempotency_key } = self;
        let bound = format!("{}\n{attention_id}\n{capability_digest}\n{idempotency_key}", action.tool());
        sha256_hex(bound.as_bytes())
    }
}

/// The arguments of `get_attention_item`.
pub fn item(mut arguments: Map<String, Value>) -> Result<AttentionId, Misshapen> {
    let id = AttentionId::parse(&text(arguments.remove("attention_id"))?).ok_or(Misshapen)?;
    if arguments.is_empty() { Ok(id) } else { Err(Misshapen) }
}

/// The arguments of `list_needs_attention`.
pub fn list(mut arguments: Map<String, Value>) -> Result<Option<Cursor>, Misshapen> {
    let cursor = match arguments.remove("cursor") {
        None => None,
        Some(cursor) => Some(Cursor::parse(&text(Some(cursor))?).ok_or(Misshapen)?),
    };
    if arguments.is_empty() { Ok(cursor) } else { Err(Misshapen) }
}

fn is_key(text: &str) -> bool {
    (16..=200).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._:-".contains(&byte))
}

fn text(value: Option<Value>) -> Result<String, Misshapen> {
    if let Some(Value::String(text)) = value { Ok(text) } else { Err(Misshapen) }
}

fn kept_if(holds: fn(&str) -> bool) -> impl Fn(String) -> Result<String, Misshapen> {
    move |text| if holds(&text) { Ok(text) } else { Err(Misshapen) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn arguments(action: Action) -> Map<String, Value> {
        let exact = json!({
            "attention_id": "3a27e8688e9c58686643ac38",
            "capability_digest": format!("sha256:{}", "a".repeat(64)),
            "idempotency_key": "key-0123456789abcdef",
            action.confirmation(): true,
        });
        exact.as_object().cloned().unwrap()
    }

    #[test]
    fn the_four_fields_of_an_action_are_taken() {
        for action in Action::ALL {
            assert!(DecisionRequest::parse(action, arguments(action)).is_ok(), "{action:?}");
        }
    }

    #[test]
    fn a_field_that_is_missing_unknown_extra_or_of_another_shape_is_misshapen() {
        let changes: [(&str, Option<Value>); 12] = [
            ("attention_id", None),
            ("capability_digest", None),
            ("idempotency_key", None),
            ("confirm_run_must_not_proceed", None),
            ("confirm_run_must_not_proceed", Some(json!(false))),
            ("confirm_run_must_not_proceed", Some(json!("true"))),
            ("human_completed", Some(json!(true))),
            ("note", Some(json!("free text"))),
            ("attention_id", Some(json!("../../etc"))),
            ("capability_digest", Some(json!("sha256:AB"))),
            ("idempotency_key", Some(json!("short"))),
            ("idempotency_key", Some(json!("key-0123456789abcdef\n"))),
        ];
        for (field, value) in changes {
            let mut bad = arguments(Action::Reject);
            match &value {
                Some(value) => bad.insert(field.to_owned(), value.clone()),
                None => bad.remove(field),
            };
            assert_eq!(DecisionRequest::parse(Action::Reject, bad), Err(Misshapen), "{field}: {value:?}");
        }
    }

    #[test]
    fn the_confirmation_of_one_action_is_none_of_another() {
        assert_eq!(DecisionRequest::parse(Action::Teach, arguments(Action::Reject)), Err(Misshapen));
    }

    #[test]
    fn a_list_takes_a_cursor_and_nothing_else() {
        assert_eq!(list(Map::new()), Ok(None));
        for bad in [json!({"cursor": "x"}), json!({"cursor": 1}), json!({"cursor": null}), json!({"limit": 5})] {
            assert_eq!(list(bad.as_object().cloned().unwrap()), Err(Misshapen), "{bad}");
        }
    }
}
