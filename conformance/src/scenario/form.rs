//! How the client's person answers a form, and the actions that look at a form and answer it later.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::check::matcher::Matcher;

/// A word, or a table where a word doesn't say enough.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum FormReply {
    Word(FormWord),
    Table(FormTable),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FormWord {
    #[default]
    Accept,
    AcceptFalse,
    /// Accepted, with content that lacks the boolean.
    AcceptMissing,
    AcceptText,
    AcceptNumber,
    /// Accepted without content.
    AcceptNothing,
    Decline,
    Cancel,
    /// A protocol error; in the modern era a reply that is none.
    Error,
    Never,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FormTable {
    pub reply: FormWord,
    /// The whole result of the elicitation instead of a word's.
    pub result: Option<Value>,
    pub state: StateSent,
}

/// What becomes of the modern era's requestState on its way back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StateSent {
    #[default]
    AsGiven,
    /// One character in its middle is another.
    Forged,
    /// Cut in half.
    Cut,
    /// Made up from nothing.
    Invented,
    Missing,
}

/// Waits until the person was asked about a call that has a name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    pub asked: String,
    /// Matched against the form: message, requestedSchema, and in the modern era key and state.
    pub expect: Option<Matcher>,
    #[serde(default)]
    pub capture: BTreeMap<String, String>,
    pub note: Option<String>,
}

/// Answers the forms of a call that has a name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    pub answer: String,
    pub form: FormReply,
    pub note: Option<String>,
}

impl FormReply {
    pub fn is_never(&self) -> bool {
        *self == Self::Word(FormWord::Never)
    }

    pub fn state(&self) -> StateSent {
        match self {
            Self::Word(_) => StateSent::AsGiven,
            Self::Table(table) => table.state,
        }
    }

    /// The elicitation's result; none where the client answers with an error.
    pub fn result(&self) -> Option<Value> {
        let word = match self {
            Self::Word(word) => *word,
            Self::Table(FormTable { result: Some(result), .. }) => return Some(result.clone()),
            Self::Table(table) => table.reply,
        };
        Some(match word {
            FormWord::Accept => json!({"action": "accept", "content": {"confirmed": true}}),
            FormWord::AcceptFalse => json!({"action": "accept", "content": {"confirmed": false}}),
            FormWord::AcceptMissing => json!({"action": "accept", "content": {}}),
            FormWord::AcceptText => json!({"action": "accept", "content": {"confirmed": "true"}}),
            FormWord::AcceptNumber => json!({"action": "accept", "content": {"confirmed": 1}}),
            FormWord::AcceptNothing => json!({"action": "accept"}),
            FormWord::Decline => json!({"action": "decline"}),
            FormWord::Cancel => json!({"action": "cancel"}),
            FormWord::Error | FormWord::Never => return None,
        })
    }
}

impl StateSent {
    /// The state that goes back for the one that came.
    pub fn of(self, given: &str) -> Option<String> {
        let middle = given.len() / 2;
        match self {
            Self::AsGiven => Some(given.to_owned()),
            Self::Cut => Some(given.chars().take(middle).collect()),
            Self::Invented => Some("eyJjb25maXJtZWQiOnRydWV9.c2lnbmVk".into()),
            Self::Missing => None,
            Self::Forged => {
                let other = |character: char| if character == 'A' { 'B' } else { 'A' };
                let changed = |(at, character)| if at == middle { other(character) } else { character };
                Some(given.chars().enumerate().map(changed).collect())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_and_a_table_are_read_and_an_unknown_word_is_refused() {
        let read = |value: Value| serde_json::from_value::<FormReply>(value);
        assert_eq!(read(json!("accept-false")).unwrap(), FormReply::Word(FormWord::AcceptFalse));
        let table = read(json!({"reply": "accept", "state": "forged"})).unwrap();
        assert_eq!(table.state(), StateSent::Forged);
        assert!(read(json!("perhaps")).is_err());
        assert!(read(json!({"colour": 1})).is_err());
    }

    #[test]
    fn only_accept_confirms() {
        let confirmed = json!({"action": "accept", "content": {"confirmed": true}});
        for word in
            ["accept-false", "accept-missing", "accept-text", "accept-number", "accept-nothing", "decline", "cancel"]
        {
            let reply: FormReply = serde_json::from_value(word.into()).unwrap();
            assert_ne!(reply.result().unwrap(), confirmed, "{word}");
        }
        assert_eq!(FormReply::Word(FormWord::Accept).result().unwrap(), confirmed);
        assert_eq!(FormReply::Word(FormWord::Never).result(), None);
    }

    #[test]
    fn a_state_that_is_tampered_with_is_never_the_one_that_was_given() {
        let given = "AAAABBBB.CCCC";
        for state in [StateSent::Forged, StateSent::Cut, StateSent::Invented, StateSent::Missing] {
            assert_ne!(state.of(given).as_deref(), Some(given), "{state:?}");
        }
        assert_eq!(StateSent::AsGiven.of(given).as_deref(), Some(given));
    }
}
