//! The inputs of a workflow: what the card says they are, what a caller may send, and the strings that Flow gets.

mod check;
mod render;

use std::collections::BTreeMap;

use regex::Regex;
use serde_json::{Map, Number, Value, json};

use super::shape::{Param, ParamType};
use crate::contract::invalid_input::InvalidInput;

pub use check::CheckedInputs;

/// What happens to an input that a caller leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Omitted {
    Refused,
    /// The value that was recorded is used; synthetic demonstrations only.
    FilledFromRecording,
}

/// The inputs of one workflow, by name.
#[derive(Debug, Clone, Default)]
pub struct InputSet(BTreeMap<String, InputSpec>);

/// One input.
#[derive(Debug, Clone)]
pub struct InputSpec {
    pub kind: InputKind,
    pub description: String,
    pub choices: Option<Vec<String>>,
    pub format: Option<Format>,
    pub pattern: Option<Regex>,
    pub min_length: Option<u64>,
    pub max_length: Option<u64>,
    pub minimum: Option<Number>,
    pub maximum: Option<Number>,
    /// What stands for it when it is left out. It isn't a recorded value, and everybody may see it.
    pub default: Option<String>,
    recorded: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputKind {
    Text,
    Number,
    Boolean,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Date,
    DateTime,
}

impl InputSet {
    /// What a workflow's own declarations make of its inputs, before any card.
    pub fn of(params: &[Param]) -> Self {
        Self(params.iter().map(|param| (param.name.clone(), InputSpec::of(param))).collect())
    }

    /// Inputs that no bundle declares.
    pub fn built_in(inputs: impl IntoIterator<Item = (&'static str, InputSpec)>) -> Self {
        Self(inputs.into_iter().map(|(name, spec)| (name.to_owned(), spec)).collect())
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &InputSpec)> {
        self.0.iter().map(|(name, spec)| (name.as_str(), spec))
    }

    pub fn get_mut(&mut self, name: &str) -> Option<&mut InputSpec> {
        self.0.get_mut(name)
    }

    /// JSON Schema of the `inputs` object. No recorded value is in it.
    pub fn schema(&self, omitted: Omitted) -> Value {
        let properties: Map<_, _> = self.0.iter().map(|(name, spec)| (name.clone(), spec.schema().into())).collect();
        let required: Vec<_> = match omitted {
            Omitted::Refused => {
                self.0.iter().filter(|(_, spec)| spec.default.is_none()).map(|(name, _)| name).collect()
            }
            Omitted::FilledFromRecording => Vec::new(),
        };
        json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
    }

    /// The rows of the older listing: name, type, whether it has to be sent.
    pub fn parameters(&self, omitted: Omitted) -> Vec<Value> {
        let required = omitted == Omitted::Refused;
        let row = |(name, spec): (&String, &InputSpec)| json!({ "name": name, "type": spec.kind.name(), "required": required });
        self.0.iter().map(row).collect()
    }

    /// Parses what a caller sent, once: afterwards every value is of its type and within its limits.
    pub fn check(&self, given: &Value, omitted: Omitted) -> Result<CheckedInputs, Vec<InvalidInput>> {
        check::check(&self.0, given, omitted)
    }
}

impl InputSpec {
    /// A text without any limit.
    pub fn text(description: &str) -> Self {
        Self {
            kind: InputKind::Text,
            description: description.to_owned(),
            choices: None,
            format: None,
            pattern: None,
            min_length: None,
            max_length: None,
            minimum: None,
            maximum: None,
            default: None,
            recorded: None,
        }
    }

    fn of(param: &Param) -> Self {
        let kind = match param.kind {
            ParamType::Text | ParamType::Date => InputKind::Text,
            ParamType::Number => InputKind::Number,
            ParamType::Boolean => InputKind::Boolean,
        };
        Self {
            kind,
            choices: (!param.choices.is_empty()).then(|| param.choices.clone()),
            format: (param.kind == ParamType::Date).then_some(Format::Date),
            recorded: Some(param.recorded.clone()),
            ..Self::text(&format!("What to enter for {}.", param.name.replace('_', " ")))
        }
    }

    fn schema(&self) -> Map<String, Value> {
        let optional = [
            ("format", self.format.map(|format| format.name().into())),
            ("pattern", self.pattern.as_ref().map(|pattern| pattern.as_str().into())),
            ("enum", self.choices.clone().map(Value::from)),
            ("minLength", self.min_length.map(Value::from)),
            ("maxLength", self.max_length.map(Value::from)),
            ("minimum", self.minimum.clone().map(Value::from)),
            ("maximum", self.maximum.clone().map(Value::from)),
            ("default", self.default.clone().map(Value::from)),
        ];
        let fixed = [("type", self.kind.name().into()), ("description", self.description.clone().into())];
        let present = optional.into_iter().filter_map(|(key, value)| Some((key, value?)));
        fixed.into_iter().chain(present).map(|(key, value)| (key.to_owned(), value)).collect()
    }
}

impl InputKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "string",
            Self::Number => "number",
            Self::Boolean => "boolean",
        }
    }
}

impl Format {
    pub fn named(name: &str) -> Option<Self> {
        [Self::Date, Self::DateTime].into_iter().find(|format| format.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Date => "date",
            Self::DateTime => "date-time",
        }
    }
}

#[cfg(test)]
mod tests;
