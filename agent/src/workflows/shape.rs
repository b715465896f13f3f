//! What a workflow file says of itself: its name, its parameters, its steps. A file that doesn't have the shape is refused.

use std::collections::BTreeSet;

use super::anatomy::asset_paths;
use super::bundle::LoadError;
use super::files::inside;
use crate::flow::canonical::Tree;

/// Flow's type of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamType {
    Text,
    Date,
    Number,
    Boolean,
}

/// One declared parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Param {
    pub name: String,
    pub kind: ParamType,
    pub choices: Vec<String>,
    /// The value that was recorded. Never part of anything that leaves this computer.
    pub recorded: String,
}

/// The facts that the catalogue needs of a workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    pub name: String,
    pub params: Vec<Param>,
    pub step_count: usize,
    pub changes_records: bool,
}

impl Shape {
    pub fn read(workflow: &mut Tree) -> Result<Self, LoadError> {
        assets_stay_inside(workflow)?;
        version_is_known(workflow.get("schema_version"))?;
        let name = workflow.get("name").and_then(Tree::as_text).ok_or(LoadError::Name)?.to_owned();
        let params = params(workflow)?;
        let steps = list_or_empty(workflow.get("steps"), LoadError::Steps)?;
        let program = workflow.get("program").filter(|program| !program.is_null());
        steps_are_well_formed(steps, program.is_none())?;
        if let Some(program) = program {
            program_has_an_entry(program)?;
        }
        let changes_records = program.is_some() || !steps.iter().all(known_to_change_nothing);
        Ok(Self { name, params, step_count: steps.len(), changes_records })
    }
}

/// Version 1 has no fields that version 2 hasn't; an absent version is 1.
fn version_is_known(version: Option<&Tree>) -> Result<(), LoadError> {
    match version.map(Tree::as_i64) {
        None | Some(Some(1 | 2)) => Ok(()),
        _ => Err(LoadError::Version),
    }
}

fn params(workflow: &Tree) -> Result<Vec<Param>, LoadError> {
    let empty = Tree::map::<String>([]);
    let map_of = |key| workflow.get(key).unwrap_or(&empty).as_map().ok_or(LoadError::Params);
    let specs = map_of("param_specs")?;
    for spec in specs.values() {
        spec_type(spec)?;
        spec_choices(spec)?;
    }
    map_of("params")?
        .iter()
        .map(|(name, recorded)| {
            let recorded = recorded.as_text().ok_or(LoadError::Params)?.to_owned();
            let spec = specs.get(name);
            Ok(Param {
                name: name.clone(),
                kind: spec.map_or(Ok(ParamType::Text), spec_type)?,
                choices: spec.map_or(Ok(Vec::new()), spec_choices)?,
                recorded,
            })
        })
        .collect()
}

fn spec_type(spec: &Tree) -> Result<ParamType, LoadError> {
    spec.get("name").and_then(Tree::as_text).ok_or(LoadError::Params)?;
    match spec.get("type").map(Tree::as_text) {
        None | Some(Some("string" | "entity_ref" | "enum")) => Ok(ParamType::Text),
        Some(Some("date")) => Ok(ParamType::Date),
        Some(Some("number")) => Ok(ParamType::Number),
        Some(Some("boolean")) => Ok(ParamType::Boolean),
        Some(_) => Err(LoadError::Params),
    }
}

fn spec_choices(spec: &Tree) -> Result<Vec<String>, LoadError> {
    list_or_empty(spec.get("choices"), LoadError::Params)?
        .iter()
        .map(|choice| choice.as_text().map(str::to_owned).ok_or(LoadError::Params))
        .collect()
}

fn steps_are_well_formed(steps: &[Tree], linear: bool) -> Result<(), LoadError> {
    let mut seen = BTreeSet::new();
    for step in steps {
        let id = step.get("id").and_then(Tree::as_text).filter(|id| !id.is_empty()).ok_or(LoadError::Steps)?;
        step.get("intent").and_then(Tree::as_text).ok_or(LoadError::Steps)?;
        step.get("action").and_then(Tree::as_text).filter(|action| ACTIONS.contains(action)).ok_or(LoadError::Steps)?;
        if !seen.insert(id) && linear {
            return Err(LoadError::StepIds);
        }
    }
    Ok(())
}

const ACTIONS: [&str; 10] =
    ["click", "double_click", "right_click", "drag", "type", "select_option", "key", "hotkey", "wait", "scroll"];

fn program_has_an_entry(program: &Tree) -> Result<(), LoadError> {
    let entry = program.get("entry").and_then(Tree::as_text).ok_or(LoadError::Program)?;
    program.at(["states", entry]).filter(|state| state.as_map().is_some()).map(|_| ()).ok_or(LoadError::Program)
}

/// Flow alone judges which step commits a write, partly from the words on a control. Without asking it, only waiting,
/// scrolling and moving the focus are known to change nothing; whatever else stands in a step counts as a change.
fn known_to_change_nothing(step: &Tree) -> bool {
    let absent = |key: &str| {
        step.get(key).is_none_or(|value| value.is_null() || value.as_list().is_some_and(<[Tree]>::is_empty))
    };
    let harmless_action = match step.get("action").and_then(Tree::as_text) {
        Some("wait" | "scroll") => true,
        Some("key") => step.get("key").and_then(Tree::as_text).is_some_and(|key| FOCUS_KEYS.contains(&key)),
        _ => false,
    };
    harmless_action
        && step.get("risk").is_none_or(|risk| risk.as_text() == Some("reversible"))
        && step.get("risk_review_required").is_none_or(|required| *required == Tree::Bool(false))
        && ["effects", "api_binding", "modifiers", "text", "param"].into_iter().all(absent)
}

const FOCUS_KEYS: [&str; 9] =
    ["Tab", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home", "End", "PageUp", "PageDown"];

fn assets_stay_inside(workflow: &mut Tree) -> Result<(), LoadError> {
    let stray = asset_paths(workflow).iter().any(|path| inside(path).is_none());
    if stray { Err(LoadError::AssetPath) } else { Ok(()) }
}

fn list_or_empty(value: Option<&Tree>, fault: LoadError) -> Result<&[Tree], LoadError> {
    value.map_or(Ok(&[]), |value| value.as_list().ok_or(fault))
}
