//! SKILL.md: front matter that a client lists skills by, and a body that a calling agent works from.

mod body;
mod listed;

use std::fmt;

use super::name::SkillName;
use super::plain_text::{shortened, visible, yaml};
use crate::workflows::Workflow;
use listed::Inputs;

/// The longest description that the format takes, in characters.
const DESCRIPTION_LIMIT: usize = 1024;
/// How much of a description the names of inputs may take. Name, purpose and the rest fit beside it.
const NAMES_LIMIT: usize = 400;

/// By this a folder is known again as one that this program wrote.
pub const MARK: &str = "generated-by: \"openadapt-agent emit-skill\"";

/// A skill as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillDocument(String);

impl SkillDocument {
    pub fn new(name: &SkillName, workflow: &Workflow, with_bundle: bool) -> Self {
        let inputs = Inputs::of(&workflow.card.inputs);
        Self(format!(
            "---\nname: {}\ndescription: {}\ncompatibility: {}\nmetadata:\n  {MARK}\n  workflow: {}\n---\n\n{}",
            yaml(name.as_str()),
            yaml(&description(workflow, &inputs)),
            yaml("Needs the openadapt-agent MCP server with this workflow, on the user's own computer."),
            yaml(workflow.name()),
            body::write(workflow, &inputs, with_bundle),
        ))
    }

    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl fmt::Display for SkillDocument {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// What a client decides by whether this skill fits: the workflow, what it does, what it takes.
fn description(workflow: &Workflow, inputs: &Inputs<'_>) -> String {
    let text = format!(
        "{} Runs the OpenAdapt workflow {} and tells whether the change was saved. {} Use it for that piece of work only.",
        sentence(&visible(&workflow.card.purpose)),
        workflow.name(),
        inputs.in_a_sentence(NAMES_LIMIT),
    );
    shortened(&text, DESCRIPTION_LIMIT)
}

/// With a full stop, unless the text has an end of its own.
fn sentence(text: &str) -> String {
    if text.ends_with(['.', '!', '?', '…', '。']) { text.to_owned() } else { format!("{text}.") }
}

#[cfg(test)]
mod tests;
