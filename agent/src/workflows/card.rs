//! What a calling agent is told about a workflow: words from the operator's card file, or plain default ones.

use std::collections::BTreeMap;
use std::path::Path;

use regex::RegexBuilder;
use serde_json::Number;

use super::files::{self, FileFault};
use super::inputs::{Format, InputKind, InputSet, InputSpec};
use super::shape::Param;
use super::wording::{WordingFault, looks_like_identifier, one_line};
use crate::flow::canonical::Tree;

/// The operator's file, beside workflow.json.
pub const CARD_FILE: &str = "openadapt-card.json";

/// The agent-facing description of one workflow.
#[derive(Debug, Clone)]
pub struct Card {
    pub name: String,
    pub purpose: String,
    pub done_means: String,
    pub inputs: InputSet,
}

/// Why a card file is ignored. A warning for the operator, which never repeats what the file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CardProblem {
    #[error("it isn't a regular file of at most 256 KiB")]
    File,
    #[error("it isn't well-formed JSON in UTF-8, or names a key twice")]
    Json,
    #[error("it isn't a JSON object")]
    NotAnObject,
    #[error("it has a key other than name, purpose, done_means and inputs")]
    UnknownKey,
    #[error("name must be 3 to 64 lower-case letters, digits or underscores, a letter first")]
    Name,
    #[error("purpose, done_means and descriptions must be text that isn't empty")]
    NotText,
    #[error("a text is too long: purpose and done_means take 300 characters, a description 200")]
    TooLong,
    #[error("a text looks like it carries an identifier")]
    LooksLikeIdentifier,
    #[error("inputs must be an object of objects")]
    Inputs,
    #[error("it describes an input that the workflow doesn't have")]
    UnknownInput,
    #[error("an input has a key that isn't supported")]
    UnknownInputKey,
    #[error("format must be date or date-time, on a text input")]
    Format,
    #[error("pattern must be a regular expression of at most 200 characters, without look-around and back-references")]
    Pattern,
    #[error("enum must be a list of texts that aren't empty, and can only narrow the workflow's own choices")]
    Enum,
    #[error("minLength and maxLength must be whole numbers from 0")]
    Length,
    #[error("minimum and maximum must be numbers")]
    Bound,
}

impl Card {
    /// The card of a workflow that nobody described.
    pub fn plain(name: &str, params: &[Param]) -> Self {
        Self {
            name: name.to_owned(),
            purpose: "A workflow that was recorded on this computer and that nobody has described yet. \
                      Ask a person what it does before running it."
                .to_owned(),
            done_means: "The change was saved, and the workflow's record check read it back from the app.".to_owned(),
            inputs: InputSet::of(params),
        }
    }

    /// This card with the words of the operator's file, where there is one and every rule for it holds.
    pub fn described_in(self, folder: &Path) -> (Self, Option<CardProblem>) {
        match read(&folder.join(CARD_FILE)).and_then(|file| file.map(|file| self.authored(&file)).transpose()) {
            Ok(Some(authored)) => (authored, None),
            Ok(None) => (self, None),
            Err(problem) => (self, Some(problem)),
        }
    }

    fn authored(&self, file: &Tree) -> Result<Self, CardProblem> {
        let entries = file.as_map().ok_or(CardProblem::NotAnObject)?;
        let mut card = self.clone();
        for (key, value) in entries {
            match key.as_str() {
                "name" => card.name = name(value)?,
                "purpose" => card.purpose = text(value, 300)?,
                "done_means" => card.done_means = text(value, 300)?,
                "inputs" => narrow_inputs(&mut card.inputs, value.as_map().ok_or(CardProblem::Inputs)?)?,
                _ => return Err(CardProblem::UnknownKey),
            }
        }
        Ok(card)
    }
}

fn read(path: &Path) -> Result<Option<Tree>, CardProblem> {
    const LIMIT: usize = 256 << 10;
    match files::read(path, LIMIT) {
        Ok(bytes) => Tree::parse(&bytes, LIMIT).map(Some).map_err(|_| CardProblem::Json),
        Err(FileFault::Missing) => Ok(None),
        Err(_) => Err(CardProblem::File),
    }
}

fn name(value: &Tree) -> Result<String, CardProblem> {
    let name = value.as_text().ok_or(CardProblem::Name)?;
    let well_formed = (3..=64).contains(&name.len())
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    match well_formed {
        true if looks_like_identifier(name) => Err(CardProblem::LooksLikeIdentifier),
        true => Ok(name.to_owned()),
        false => Err(CardProblem::Name),
    }
}

fn text(value: &Tree, limit: usize) -> Result<String, CardProblem> {
    one_line(value.as_text().ok_or(CardProblem::NotText)?, limit).map_err(|fault| match fault {
        WordingFault::Empty => CardProblem::NotText,
        WordingFault::TooLong => CardProblem::TooLong,
        WordingFault::LooksLikeIdentifier => CardProblem::LooksLikeIdentifier,
    })
}

fn narrow_inputs(inputs: &mut InputSet, authored: &BTreeMap<String, Tree>) -> Result<(), CardProblem> {
    for (name, rules) in authored {
        let spec = inputs.get_mut(name).ok_or(CardProblem::UnknownInput)?;
        for (key, value) in rules.as_map().ok_or(CardProblem::Inputs)? {
            narrow(spec, key, value)?;
        }
    }
    Ok(())
}

fn narrow(spec: &mut InputSpec, key: &str, value: &Tree) -> Result<(), CardProblem> {
    match key {
        "description" => spec.description = text(value, 200)?,
        "format" => {
            let format = value.as_text().and_then(Format::named).filter(|_| spec.kind == InputKind::Text);
            spec.format = Some(format.ok_or(CardProblem::Format)?);
        }
        "pattern" => {
            let source = value.as_text().filter(|source| source.chars().count() <= 200).ok_or(CardProblem::Pattern)?;
            if looks_like_identifier(source) {
                return Err(CardProblem::LooksLikeIdentifier);
            }
            let pattern = RegexBuilder::new(source).size_limit(1 << 20).build();
            spec.pattern = Some(pattern.map_err(|_| CardProblem::Pattern)?);
        }
        "enum" => spec.choices = Some(choices(spec.choices.as_deref(), value).ok_or(CardProblem::Enum)?),
        "minLength" => spec.min_length = Some(length(value)?),
        "maxLength" => spec.max_length = Some(length(value)?),
        "minimum" => spec.minimum = Some(bound(value)?),
        "maximum" => spec.maximum = Some(bound(value)?),
        _ => return Err(CardProblem::UnknownInputKey),
    }
    Ok(())
}

fn choices(own: Option<&[String]>, value: &Tree) -> Option<Vec<String>> {
    let texts = value.as_list()?.iter().map(|choice| choice.as_text().filter(|text| !text.is_empty()));
    let texts: Vec<String> = texts.map(|text| text.map(str::to_owned)).collect::<Option<_>>()?;
    let narrows = own.is_none_or(|own| texts.iter().all(|text| own.contains(text)));
    (narrows && !texts.is_empty()).then_some(texts)
}

fn length(value: &Tree) -> Result<u64, CardProblem> {
    value.as_i64().and_then(|length| u64::try_from(length).ok()).ok_or(CardProblem::Length)
}

fn bound(value: &Tree) -> Result<Number, CardProblem> {
    let Tree::Number(literal) = value else { return Err(CardProblem::Bound) };
    serde_json::from_str(literal).map_err(|_| CardProblem::Bound)
}

#[cfg(test)]
mod tests;
