//! The older tools as an MCP client sees them. Their schemas are what they always were; no recorded value is ever in one.

use schemas::Schema;
use serde_json::{Map, Value, json};

use crate::bridge::host::{Annotations, ToolSpec};
use crate::bridge::tools::{READ_ONLY, RUN_WORKFLOW};
use crate::cli::OlderOptions;
use crate::workflows::{Omitted, Workflow, first_free};

pub const GET_WORKFLOW: &str = "get_workflow";
pub const GET_RUN_REPORT: &str = "get_run_report";
const RUN_PREFIX: &str = "run_";

/// A repeat is new work.
const RUNS_AGAIN: Annotations =
    Annotations { read_only: false, destructive: true, idempotent: false, open_world: true };

pub fn get_workflow() -> ToolSpec {
    spec(
        (GET_WORKFLOW, "Look up a workflow (older)"),
        "An older tool. Tells of one workflow by its opaque id: whether it can be loaded, how many steps and which parameters it has, and \
         whether the policy of this server certifies it. list_workflows says what a workflow is for.",
        Schema::GetWorkflowInput,
    )
}

pub fn get_run_report() -> ToolSpec {
    spec(
        (GET_RUN_REPORT, "Look up a run's counts (older)"),
        "An older tool; get_run is the one to use. Tells the status of a run that has ended, with counts of its steps.",
        Schema::GetRunReportInput,
    )
}

/// The deprecated tool that runs one workflow.
pub fn run(workflow: &Workflow, omitted: Omitted, options: OlderOptions) -> ToolSpec {
    let steps = workflow.step_count.unwrap_or_default();
    let description = format!(
        "Deprecated: call run_workflow with a request_id. Runs the workflow {} ({steps} steps) and waits for its end. It takes no \
         request_id, so a retry can write twice. status is success, halt, refused, timeout or error; outcome, safe_to_retry and \
         what_happened are what run_workflow tells. Only outcome done means saved; not_sure_if_saved is never retried.",
        workflow.name()
    );
    let meta = [("deprecated", json!(true)), ("use_instead", json!(RUN_WORKFLOW))];
    ToolSpec {
        name: format!("{RUN_PREFIX}{}", workflow.public_id),
        title: "Run one workflow (deprecated)",
        description,
        input_schema: run_schema(workflow, omitted, options),
        output_schema: None,
        annotations: RUNS_AGAIN,
        meta: Some(meta.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
    }
}

/// The opaque id in the name of an older run tool.
pub fn workflow_of(tool: &str) -> Option<&str> {
    tool.strip_prefix(RUN_PREFIX)
}

/// `url`, unless the workflow has an input of that name.
pub fn url_argument(workflow: &Workflow) -> String {
    let taken = |name: &str| workflow.card.inputs.iter().any(|(input, _)| input == name);
    if taken("url") { first_free("target_url_override", taken) } else { "url".to_owned() }
}

fn run_schema(workflow: &Workflow, omitted: Omitted, options: OlderOptions) -> Value {
    let text = |description: &str| json!({ "type": "string", "description": description });
    let inputs = || workflow.card.inputs.iter();
    let mut properties: Map<String, Value> =
        inputs().map(|(name, spec)| (name.to_owned(), text(&spec.description))).collect();
    if options.url_override {
        properties.insert(url_argument(workflow), text("The app's web address, for this call only."));
    }
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties.into());
    let required: Vec<&str> = inputs().map(|(name, _)| name).collect();
    if omitted == Omitted::Refused && !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema.insert("additionalProperties".to_owned(), false.into());
    schema.into()
}

fn spec((name, title): (&str, &'static str), description: &str, input: Schema) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        title,
        description: description.to_owned(),
        input_schema: input.for_tool_list(),
        output_schema: None,
        annotations: READ_ONLY,
        meta: None,
    }
}
