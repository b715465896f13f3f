//! What a client asks to be written, parsed once, and the row that it becomes.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

macro_rules! short_text {
    ($(#[$doc:meta])* $name:ident, $field:literal, $max:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            pub fn parse(text: &str) -> Result<Self, BadEncounter> {
                let characters = text.chars().count();
                if characters == 0 || characters > $max || text.chars().any(char::is_control) {
                    return Err(BadEncounter::Length { field: $field, max: $max });
                }
                Ok(Self(text.to_owned()))
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
    };
}

short_text!(
    /// Whose record it is: `p1`.
    PatientId,
    "patient_id",
    64
);
short_text!(
    /// `Triage` or `Consult` on the page; the API takes any short word.
    EncounterType,
    "type",
    64
);
short_text!(
    /// Two writes with one key make one row.
    WriteKey,
    "key",
    200
);

/// One encounter as a client asks for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Encounter {
    pub patient_id: PatientId,
    #[serde(rename = "type")]
    pub kind: EncounterType,
    pub note: String,
    pub key: Option<WriteKey>,
}

/// A row of the store, in the shape of `/api/db`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    pub id: i64,
    pub patient_id: PatientId,
    #[serde(rename = "type")]
    pub kind: EncounterType,
    pub note: String,
    pub source: Source,
    pub key: Option<WriteKey>,
}

/// Who wrote a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// This app's page, or whoever posted to the API.
    Replay,
    /// Somebody else, before: the row that `seed_concurrent` leaves.
    Other,
}

/// Why a body is no encounter. The sentences never repeat what was sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadEncounter {
    #[error("the body is not JSON: {0}")]
    NotJson(String),
    #[error("the body must be a JSON object")]
    NotAnObject,
    #[error("the field {field} is missing")]
    Missing { field: &'static str },
    #[error("the field {field} must be text")]
    NotText { field: &'static str },
    #[error("the field {field} must have 1 to {max} characters and no control characters")]
    Length { field: &'static str, max: usize },
}

impl Encounter {
    /// Unknown fields are ignored; `type` is Triage when it is absent, and `key` may be null.
    pub fn parse(body: &[u8]) -> Result<Self, BadEncounter> {
        let value: Value = serde_json::from_slice(body).map_err(|error| BadEncounter::NotJson(error.to_string()))?;
        let Value::Object(fields) = value else { return Err(BadEncounter::NotAnObject) };
        let required = |field| text(&fields, field)?.ok_or(BadEncounter::Missing { field });
        Ok(Self {
            patient_id: PatientId::parse(required("patient_id")?)?,
            kind: EncounterType::parse(text(&fields, "type")?.unwrap_or("Triage"))?,
            note: required("note")?.to_owned(),
            key: text(&fields, "key")?.map(WriteKey::parse).transpose()?,
        })
    }
}

fn text<'a>(fields: &'a Map<String, Value>, field: &'static str) -> Result<Option<&'a str>, BadEncounter> {
    match fields.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(BadEncounter::NotText { field }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(body: &str) -> String {
        Encounter::parse(body.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn an_encounter_needs_a_patient_and_a_note_and_nothing_else() {
        let encounter = Encounter::parse(br#"{"patient_id":"p1","note":"","more":[1]}"#).unwrap();
        assert_eq!(encounter.kind.as_str(), "Triage");
        assert_eq!((encounter.note.as_str(), encounter.key), ("", None));
        assert_eq!(refusal(r#"{"patient_id":"p1"}"#), "the field note is missing");
        assert_eq!(refusal(r#"{"note":"x"}"#), "the field patient_id is missing");
    }

    #[test]
    fn a_refusal_names_the_field_and_never_the_value() {
        assert_eq!(refusal(r#"{"patient_id":7,"note":"x"}"#), "the field patient_id must be text");
        assert_eq!(refusal("[]"), "the body must be a JSON object");
        assert!(refusal(r#"{"patient_id":"p1","note":"unended"#).starts_with("the body is not JSON: "));
        let long = format!(r#"{{"patient_id":"p1","note":"x","key":"{}"}}"#, "k".repeat(201));
        assert_eq!(refusal(&long), "the field key must have 1 to 200 characters and no control characters");
        assert!(refusal(r#"{"patient_id":"a\nb","note":"x"}"#).starts_with("the field patient_id must have"));
    }

    #[test]
    fn a_note_keeps_every_character() {
        let note = "שלום \"quoted\" <b>not bold</b>\n\u{1F469}\u{200D}\u{2695}\u{FE0F} \u{0000}".to_owned();
        let body = serde_json::json!({ "patient_id": "p1", "note": note }).to_string();
        assert_eq!(Encounter::parse(body.as_bytes()).unwrap().note, note);
    }
}
