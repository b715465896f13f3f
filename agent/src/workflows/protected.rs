//! What only a trusted client inside the protected boundary may see of a workflow. Nothing here is read unless the operator opened
//! the export.

use serde_json::{Map, Value};

use super::bundle::{self, WORKFLOW_LIMIT};
use super::catalog::Workflow;
use super::files;
use crate::flow::canonical::Tree;

impl Workflow {
    /// The `protected` object of a workflow: label, recorded values, intents and path.
    pub fn protected(&self) -> Map<String, Value> {
        let shape = self.bundle().map(|bundle| &bundle.shape);
        let recorded: Map<String, Value> = shape
            .map(|shape| shape.params.iter().map(|param| (param.name.clone(), param.recorded.clone().into())).collect())
            .unwrap_or_default();
        let intents = if shape.is_some() { self.step_intents() } else { Vec::new() };
        let object = [
            ("slug", self.slug.clone().into()),
            ("name", shape.map(|shape| shape.name.clone()).into()),
            ("bundle_dir", self.bundle_dir.to_string_lossy().into_owned().into()),
            ("recorded_params", recorded.into()),
            ("step_intents", intents.into()),
            ("load_error", self.load_error.map(|error| error.to_string()).into()),
        ];
        object.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }

    /// Read when asked for: the catalogue keeps no intent.
    fn step_intents(&self) -> Vec<String> {
        let text = files::read(&self.bundle_dir.join(bundle::MARKERS[0]), WORKFLOW_LIMIT).unwrap_or_default();
        let Ok(workflow) = Tree::parse(&text, WORKFLOW_LIMIT) else { return Vec::new() };
        let steps = workflow.get("steps").and_then(Tree::as_list).unwrap_or_default();
        steps.iter().filter_map(|step| step.get("intent").and_then(Tree::as_text).map(str::to_owned)).collect()
    }
}
