//! Compiled validators, one for each schema, made when first asked for.

use std::error::Error;
use std::fmt;
use std::sync::OnceLock;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, Retrieve, Uri, ValidationError, Validator};
use serde_json::Value;

use crate::Schema;

/// Where a value breaks a schema, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// JSON pointer into the value; empty for the value itself.
    pub instance_path: String,
    /// The `$id` of the file and, after `#`, the JSON pointer to the keyword in it.
    pub schema_path: String,
    /// A sentence. It quotes a scalar value or the start of it: never return it from the product.
    pub sentence: String,
}

/// At least one violation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violations(Vec<Violation>);

impl Schema {
    /// Holds the value against this schema and says every place where it breaks it.
    ///
    /// References are answered from the embedded set. A schema that doesn't compile accepts nothing.
    pub fn check(self, value: &Value) -> Result<(), Violations> {
        let found: Vec<Violation> = match self.validator() {
            Ok(validator) => {
                let errors: Vec<_> = validator.iter_errors(value).collect();
                errors.iter().flat_map(innermost).map(|error| self.violation(error)).collect()
            }
            Err(sentence) => vec![Violation {
                instance_path: String::new(),
                schema_path: self.id().to_owned(),
                sentence: sentence.clone(),
            }],
        };
        if found.is_empty() { Ok(()) } else { Err(Violations(found)) }
    }

    fn validator(self) -> &'static Result<Validator, String> {
        static COMPILED: [OnceLock<Result<Validator, String>>; Schema::ALL.len()] =
            [const { OnceLock::new() }; Schema::ALL.len()];
        COMPILED[self as usize].get_or_init(|| {
            jsonschema::options()
                .with_draft(Draft::Draft202012)
                .with_retriever(EmbeddedSet)
                .build(self.value())
                .map_err(|error| error.to_string())
        })
    }

    fn violation(self, error: &ValidationError<'_>) -> Violation {
        Violation {
            instance_path: error.instance_path().to_string(),
            schema_path: error
                .absolute_keyword_location()
                .map_or_else(|| format!("{}#{}", self.id(), error.schema_path()), ToString::to_string),
            sentence: match error.instance() {
                large if large.is_object() || large.is_array() => error.masked().to_string(),
                small => error.masked_with(shortened(small)).to_string(),
            },
        }
    }
}

/// A value as a sentence may quote it: its JSON, at most 80 characters of it.
fn shortened(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// What is wrong inside the one alternative that the value was meant for: the only one of its type.
fn innermost<'e, 'v>(error: &'e ValidationError<'v>) -> Vec<&'e ValidationError<'v>> {
    let (ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context }) = error.kind() else {
        return vec![error];
    };
    let is_another_value = |inner: &ValidationError<'_>| {
        use ValidationErrorKind::{Constant, Enum, Type};
        inner.instance_path() == error.instance_path()
            && matches!(inner.kind(), Type { .. } | Enum { .. } | Constant { .. })
    };
    let mut meant = context.iter().filter(|branch| !branch.iter().any(is_another_value));
    match (meant.next(), meant.next()) {
        (Some(branch), None) => branch.iter().flat_map(innermost).collect(),
        _ => vec![error],
    }
}

impl Violations {
    pub fn iter(&self) -> std::slice::Iter<'_, Violation> {
        self.0.iter()
    }
}

impl<'a> IntoIterator for &'a Violations {
    type Item = &'a Violation;
    type IntoIter = std::slice::Iter<'a, Violation>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl IntoIterator for Violations {
    type Item = Violation;
    type IntoIter = std::vec::IntoIter<Violation>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = if self.instance_path.is_empty() { "/" } else { &self.instance_path };
        write!(f, "{at}: {} ({})", self.sentence, self.schema_path)
    }
}

impl fmt::Display for Violations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, violation) in self.iter().enumerate() {
            write!(f, "{}{violation}", if index == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}

impl Error for Violations {}

/// Answers references between the files. Whatever isn't in the set doesn't exist.
struct EmbeddedSet;

impl Retrieve for EmbeddedSet {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Value, Box<dyn Error + Send + Sync>> {
        let known = Schema::by_id(uri.as_str()).ok_or("not one of the embedded schemas")?;
        Ok(known.value().clone())
    }
}
