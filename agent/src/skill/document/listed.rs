//! The inputs of a workflow as far as a skill can name them: those whose names can be shown exactly, and not too many.

use crate::skill::plain_text::{code, prose};
use crate::workflows::{InputSet, InputSpec};

/// More inputs than this, or longer names, are left to `list_workflows`.
const MOST: usize = 40;
const LONGEST_NAME: usize = 64;
const MOST_CHOICES: usize = 20;
const LONGEST_CHOICE: usize = 80;
const LONGEST_PATTERN: usize = 200;

/// Inputs that are named, by name, and how many aren't.
pub struct Inputs<'a> {
    named: Vec<(&'a str, &'a InputSpec)>,
    unnamed: usize,
}

impl<'a> Inputs<'a> {
    pub fn of(inputs: &'a InputSet) -> Self {
        let (mut named, odd): (Vec<_>, Vec<_>) =
            inputs.iter().partition(|(name, _)| code(name, LONGEST_NAME).is_some());
        let unnamed = odd.len() + named.len().saturating_sub(MOST);
        named.truncate(MOST);
        Self { named, unnamed }
    }

    pub fn names(&self) -> impl Iterator<Item = &'a str> {
        self.named.iter().map(|(name, _)| *name)
    }

    pub fn is_empty(&self) -> bool {
        self.named.is_empty() && self.unnamed == 0
    }

    /// How many inputs there are besides the named ones, in words; nothing if there are none.
    pub fn unnamed(&self) -> Option<String> {
        match self.unnamed {
            0 => None,
            1 => Some("1 more input".to_owned()),
            more => Some(format!("{more} more inputs")),
        }
    }

    /// "Inputs: a, b." in at most `limit` characters.
    pub fn in_a_sentence(&self, limit: usize) -> String {
        if self.is_empty() {
            return "It takes no inputs.".to_owned();
        }
        let (mut shown, mut length) = (Vec::new(), 0);
        for name in self.names() {
            length += name.chars().count() + 2;
            if length > limit {
                break;
            }
            shown.push(name.to_owned());
        }
        let left_out = self.unnamed + self.named.len() - shown.len();
        if left_out > 0 {
            shown.push(format!("{left_out} more"));
        }
        format!("Inputs: {}.", shown.join(", "))
    }

    /// One item of a Markdown list for each named input.
    pub fn items(&self) -> impl Iterator<Item = String> {
        self.named.iter().map(|(name, spec)| {
            let rules: String = rules(spec).iter().map(|rule| format!(" {rule}")).collect();
            let name = code(name, LONGEST_NAME).unwrap_or_default();
            format!("- {name} ({}, required): {}{rules}", kind(spec), super::sentence(&prose(&spec.description)))
        })
    }
}

fn kind(spec: &InputSpec) -> &'static str {
    match spec.format {
        Some(format) => match format.name() {
            "date" => "date as text, YYYY-MM-DD",
            _ => "date and time as text, ISO 8601",
        },
        None => match spec.kind.name() {
            "number" => "number",
            "boolean" => "true or false",
            _ => "text",
        },
    }
}

/// The limits of an input, a sentence for each. What can't be shown exactly is left to `list_workflows`.
fn rules(spec: &InputSpec) -> Vec<String> {
    let elsewhere = |what: &str| format!("{what}: see `list_workflows`.");
    let mut rules = Vec::new();
    if let Some(choices) = &spec.choices {
        let shown: Option<Vec<_>> = choices.iter().map(|choice| code(choice, LONGEST_CHOICE)).collect();
        rules.push(match shown.filter(|shown| shown.len() <= MOST_CHOICES) {
            Some(shown) => format!("One of {}.", shown.join(", ")),
            None => elsewhere("Only listed values are taken"),
        });
    }
    if let Some(pattern) = &spec.pattern {
        rules.push(match code(pattern.as_str(), LONGEST_PATTERN) {
            Some(shown) => format!("Must match {shown}."),
            None => elsewhere("It has a format of its own"),
        });
    }
    let bounded = |what: &str, least: Option<String>, most: Option<String>| {
        let least = least.map(|least| format!("at least {least}"));
        let most = most.map(|most| format!("at most {most}"));
        let both: Vec<_> = least.into_iter().chain(most).collect();
        (!both.is_empty()).then(|| format!("{what}: {}.", both.join(", ")))
    };
    let text = |length: Option<u64>| length.map(|length| length.to_string());
    let number = |bound: &Option<serde_json::Number>| bound.as_ref().map(ToString::to_string);
    rules.extend(bounded("Characters", text(spec.min_length), text(spec.max_length)));
    rules.extend(bounded("Value", number(&spec.minimum), number(&spec.maximum)));
    rules
}
