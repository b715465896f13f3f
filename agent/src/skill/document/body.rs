//! The body of a skill: what the workflow does, how it is called, and how each outcome is read.

use serde_json::{Map, Value, json};

use super::listed::Inputs;
use super::sentence;
use crate::skill::plain_text::prose;
use crate::workflows::Workflow;

pub fn write(workflow: &Workflow, inputs: &Inputs<'_>, with_bundle: bool) -> String {
    let parts = [
        Some(heading(workflow)),
        Some(BEFORE.replace("NAME", workflow.name())),
        Some(call(workflow, inputs)),
        Some(input_list(inputs)),
        Some(OUTCOMES.to_owned()),
        Some(RULES.to_owned()),
        with_bundle.then(|| PROTECTED.to_owned()),
        Some(OPERATOR.to_owned()),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

fn heading(workflow: &Workflow) -> String {
    let changes = if workflow.changes_records { "yes" } else { "no" };
    format!(
        "# Run the workflow `{}`\n\n- What it does: {}\n- Done means: {}\n- Changes records: {changes}\n",
        workflow.name(),
        sentence(&prose(&workflow.card.purpose)),
        sentence(&prose(&workflow.card.done_means)),
    )
}

/// The call with a placeholder for each value. No example is given: the values on record are somebody's.
fn call(workflow: &Workflow, inputs: &Inputs<'_>) -> String {
    let values: Map<String, Value> = inputs.names().map(|name| (name.to_owned(), format!("<{name}>").into())).collect();
    let arguments = json!({ "workflow": workflow.name(), "request_id": "<your own id>", "inputs": values });
    format!(
        "## Call\n\nCall `run_workflow` with these arguments, each placeholder replaced by a value that the user gave. A number, true and false stand without quotes:\n\n```json\n{arguments:#}\n```\n\n{REQUEST_ID}"
    )
}

fn input_list(inputs: &Inputs<'_>) -> String {
    let mut lines: Vec<String> = inputs.items().collect();
    if inputs.is_empty() {
        lines.push("This workflow takes no inputs.".to_owned());
    }
    if let Some(more) = inputs.unnamed() {
        lines.push(format!("- {more}, which can't be named here: take names and types from `list_workflows`."));
    }
    format!("## Inputs\n\n{}\n", lines.join("\n"))
}

const BEFORE: &str = "## Before the call

1. Call `list_workflows`. Go on only if it has `NAME` with `available` true and `run_tools_enabled` is true; else tell the user and stop.
2. Where this file and `list_workflows` differ, `list_workflows` is right.
3. Ask the user for every input that you don't know. Never guess one and never reuse one of an earlier request.
";

const REQUEST_ID: &str = "`request_id` is your own id for this one piece of work: 4 to 128 letters, digits, dots, underscores, colons or hyphens. Send the same one \
again whenever you repeat this piece of work, and a new one only for a new piece of work. That is what keeps anything from being saved twice.
";

const OUTCOMES: &str = "## Read the outcome

| `outcome` | What it means | What you do |
|---|---|---|
| `done` | Saved, and checked by reading the record back | Tell the user that it was saved |
| `needs_review` | Stopped before saving; a person decides. Nothing was written, unless `record_changed` is `unknown` | Tell the user; call `get_run` later; start nothing else |
| `not_sure_if_saved` | A save may have gone through | Tell the user that a person has to check the record; never retry |
| `did_not_run` | This call wrote nothing. After the reason `request_id_conflict`, an earlier request may have saved | Retry with the same `request_id` only if `safe_to_retry` is true; else follow `next_action` |
| `running` | Not over yet | Call `get_run` with the `run_id` |
";

const RULES: &str = "## Rules

- Only `done` means saved. Call nothing else a success.
- Tell the user what `what_happened` says, and do what `next_action` says.
- Never do the same work another way, such as by clicking through the app yourself, after `needs_review` or `not_sure_if_saved`.
- Decisions about a stopped run belong to a person at that computer. Don't make them, and don't ask to be given them.
";

const PROTECTED: &str = "## The folder `bundle`

The folder beside this file is the compiled workflow. It holds protected data from the recording. Don't open, quote, send or upload anything in it;
`run_workflow` needs none of it from you.
";

const OPERATOR: &str = "## If the tools aren't there

A person starts the server on the computer that runs the workflow, as an MCP server of your client, with
`openadapt-agent serve --mode production --bundles <folder of workflows>`.
";
