//! Checking what a caller sent. Every finding is a closed text; no value and no name that a caller made up is repeated.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde_json::{Map, Number, Value};

use super::render::render;
use super::{Format, InputKind, InputSpec, Omitted};
use crate::contract::invalid_input::{InputProblem, InvalidInput};
use crate::workflows::moment::{is_date, is_date_time};

/// Inputs that may be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedInputs {
    values: Map<String, Value>,
    rendered: BTreeMap<String, String>,
}

impl CheckedInputs {
    /// What was asked for, typed, with what was left out filled in: the part of a request that its fingerprint covers.
    pub fn values(&self) -> &Map<String, Value> {
        &self.values
    }

    /// What Flow's parameter file holds.
    pub fn rendered(&self) -> &BTreeMap<String, String> {
        &self.rendered
    }
}

pub fn check(
    specs: &BTreeMap<String, InputSpec>,
    given: &Value,
    omitted: Omitted,
) -> Result<CheckedInputs, Vec<InvalidInput>> {
    let row = |input: &str, problem| InvalidInput { input: input.to_owned(), problem };
    let given = given.as_object().ok_or_else(|| vec![row("inputs", InputProblem::NotAnObject)])?;
    let mut checked = CheckedInputs { values: Map::new(), rendered: BTreeMap::new() };
    let mut problems = Vec::new();
    if given.keys().any(|name| !specs.contains_key(name)) {
        problems.push(row("(unknown)", InputProblem::Unknown));
    }
    for (name, spec) in specs {
        let outcome = match (given.get(name), spec.filler(omitted)) {
            (Some(value), _) => spec.accept(value).map(|text| (value.clone(), text)),
            (None, Some(filler)) => spec.accept(&filler).map(|text| (filler, text)),
            (None, None) => Err(InputProblem::Missing),
        };
        match outcome {
            Ok((value, text)) => {
                checked.values.insert(name.clone(), value);
                checked.rendered.insert(name.clone(), text);
            }
            Err(problem) => problems.push(row(name, problem)),
        }
    }
    if problems.is_empty() { Ok(checked) } else { Err(problems) }
}

impl InputSpec {
    /// The string that Flow gets for this value, if the value is one that this input takes.
    fn accept(&self, value: &Value) -> Result<String, InputProblem> {
        match (self.kind, value) {
            (InputKind::Text, Value::String(text)) => self.accept_text(text).map(|()| text.clone()),
            (InputKind::Text, _) => Err(InputProblem::NotText),
            (InputKind::Number, Value::Number(number)) => {
                let text = render(value).ok_or(InputProblem::NotANumber)?;
                self.accept_number(number).map(|()| text)
            }
            (InputKind::Number, _) => Err(InputProblem::NotANumber),
            (InputKind::Boolean, Value::Bool(flag)) => {
                let text = flag.to_string();
                if self.lists(|choice| choice == text) { Ok(text) } else { Err(InputProblem::NotListed) }
            }
            (InputKind::Boolean, _) => Err(InputProblem::NotABoolean),
        }
    }

    fn accept_text(&self, text: &str) -> Result<(), InputProblem> {
        let length = text.chars().count() as u64;
        let rules = [
            (self.lists(|choice| choice == text), InputProblem::NotListed),
            (self.min_length.is_none_or(|least| length >= least), InputProblem::TooShort),
            (self.max_length.is_none_or(|most| length <= most), InputProblem::TooLong),
            (self.format != Some(Format::Date) || is_date(text), InputProblem::NotADate),
            (self.format != Some(Format::DateTime) || is_date_time(text), InputProblem::NotADateTime),
            (self.pattern.as_ref().is_none_or(|pattern| pattern.is_match(text)), InputProblem::Mismatch),
        ];
        first_broken(&rules)
    }

    fn accept_number(&self, number: &Number) -> Result<(), InputProblem> {
        let equals = |choice: &str| {
            serde_json::from_str(choice).is_ok_and(|choice: Number| compare(number, &choice) == Some(Ordering::Equal))
        };
        let allows = |bound: &Option<Number>, forbidden| {
            bound.as_ref().is_none_or(|bound| compare(number, bound).is_some_and(|order| order != forbidden))
        };
        first_broken(&[
            (self.lists(equals), InputProblem::NotListed),
            (allows(&self.minimum, Ordering::Less), InputProblem::TooSmall),
            (allows(&self.maximum, Ordering::Greater), InputProblem::TooLarge),
        ])
    }

    fn lists(&self, matches: impl Fn(&str) -> bool) -> bool {
        self.choices.as_ref().is_none_or(|choices| choices.iter().any(|choice| matches(choice)))
    }

    /// What stands in for an input that was left out, as the caller would have sent it: its default, or the recorded value.
    fn filler(&self, omitted: Omitted) -> Option<Value> {
        if let Some(default) = &self.default {
            return Some(default.clone().into());
        }
        let recorded = self.recorded.as_deref().filter(|_| omitted == Omitted::FilledFromRecording)?;
        let typed = match self.kind {
            InputKind::Text => None,
            InputKind::Number => serde_json::from_str(recorded).ok().map(Value::Number),
            InputKind::Boolean => recorded.parse().ok().map(Value::Bool),
        };
        Some(typed.unwrap_or_else(|| recorded.into()))
    }
}

fn first_broken(rules: &[(bool, InputProblem)]) -> Result<(), InputProblem> {
    rules.iter().find(|(kept, _)| !kept).map_or(Ok(()), |(_, problem)| Err(*problem))
}

fn compare(left: &Number, right: &Number) -> Option<Ordering> {
    match (left.as_i128(), right.as_i128()) {
        (Some(left), Some(right)) => Some(left.cmp(&right)),
        _ => left.as_f64()?.partial_cmp(&right.as_f64()?),
    }
}
