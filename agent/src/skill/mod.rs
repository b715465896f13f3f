//! Agent Skills: a workflow's card written out for a calling agent that reads skills. Source: *Why the package keeps both*.
//!
//! A skill is loaded into a model's context. Only what `list_workflows` already shows gets into one: never a recorded
//! value, a step's intent, a path or a secret.

mod bundle_copy;
mod document;
mod folder;
mod name;
mod plain_text;

use std::path::{Path, PathBuf};

use crate::refusal::Refusal;
use crate::workflows::{Catalog, Workflow};

pub use document::SkillDocument;
pub use name::SkillName;

/// A skill that was written.
#[derive(Debug)]
pub struct Emitted {
    pub folder: PathBuf,
    /// The compiled bundle stands beside SKILL.md: protected workflow data.
    pub with_bundle: bool,
    /// The operator's card was ignored, and the skill has the plain words.
    pub card_ignored: bool,
}

/// Writes the skill of one bundle into a folder of its own below `out`.
pub fn emit(bundle: &Path, out: &Path, include_bundle: bool) -> Result<Emitted, Refusal> {
    let catalog = Catalog::discover(bundle, &|_| None).map_err(|error| {
        Refusal::new(error.to_string(), "name the folder of one compiled workflow, the one with workflow.json in it")
    })?;
    let workflow = only_one(&catalog)?;
    if let Some(error) = workflow.load_error {
        return Err(Refusal::new(
            format!("the workflow can't be loaded: {error}"),
            "compile it again with Flow, or name another bundle",
        ));
    }
    let name = SkillName::of(workflow);
    let document = SkillDocument::new(&name, workflow, include_bundle);
    let copied = include_bundle.then_some(bundle);
    let folder = folder::write(out, &name, &document, copied)?;
    Ok(Emitted { folder, with_bundle: include_bundle, card_ignored: workflow.card_problem.is_some() })
}

fn only_one(catalog: &Catalog) -> Result<&Workflow, Refusal> {
    let mut workflows = catalog.iter();
    match (workflows.next(), workflows.next()) {
        (Some(workflow), None) => Ok(workflow),
        (None, _) => Err(Refusal::new(
            "there is no workflow in that folder",
            "name the folder of one compiled workflow, the one with workflow.json in it",
        )),
        (Some(_), Some(_)) => Err(Refusal::new(
            "that folder holds more than one workflow",
            "a skill is about one of them: name its own folder, once for each",
        )),
    }
}
