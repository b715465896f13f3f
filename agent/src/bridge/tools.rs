//! The contract's three tools as an MCP client sees them.

use schemas::Schema;

use super::host::{Annotations, ToolSpec};

pub const LIST_WORKFLOWS: &str = "list_workflows";
pub const RUN_WORKFLOW: &str = "run_workflow";
pub const GET_RUN: &str = "get_run";

pub const LIST_WORKFLOWS_USAGE: &str = "list_workflows takes no arguments.";
pub const RUN_WORKFLOW_USAGE: &str = "run_workflow takes workflow (a name from list_workflows), inputs (an object), request_id (your own id \
    for this piece of work: 4 to 128 letters, digits, dots, underscores, colons or hyphens, starting with a letter or digit) and, if \
    you like, wait_seconds (0 to 600). Nothing was started and nothing was recorded.";
pub const GET_RUN_USAGE: &str =
    "get_run takes run_id (as run_workflow returned it) and, if you like, wait_seconds (0 to 600).";
/// Said instead of a result where the store can't be read or written.
pub const RUN_NOT_STARTED: &str = "The records of this computer can't be read or written, so this call started nothing. Whether an earlier \
    call with this request_id saved isn't known now. The operator finds the cause in the server's log; then call again with the same request_id.";
pub const RUN_NOT_KNOWN: &str = "The records of this computer can't be read, so what became of this request isn't known now. The change may \
    have been saved. The operator finds the cause in the server's log; then call again with the same request_id.";
pub const RUN_NOT_READ: &str = "The records of this computer can't be read, so nothing is known of that run now. The operator finds the cause \
    in the server's log; then call again.";
pub const UNKNOWN_RUN: &str = "This server has no run with that run_id.";

pub(super) const READ_ONLY: Annotations =
    Annotations { read_only: true, destructive: false, idempotent: true, open_world: false };
const RUNS: Annotations = Annotations { read_only: false, destructive: true, idempotent: true, open_world: true };

pub fn list_workflows() -> ToolSpec {
    spec(
        (LIST_WORKFLOWS, "List workflows"),
        "Lists the workflows of this computer: what each does, what done means for it, and which inputs it needs. Call it first.",
        (Schema::ListWorkflowsInput, Schema::WorkflowList),
        READ_ONLY,
    )
}

pub fn run_workflow() -> ToolSpec {
    spec(
        (RUN_WORKFLOW, "Run a workflow"),
        "Runs one workflow, which enters your inputs in an app and checks that they were saved. Send your own request_id and use the \
         same one again whenever you repeat this piece of work: it never runs twice unless the earlier try proved that nothing was \
         written. Only outcome done means saved. needs_review and not_sure_if_saved wait for a person. running: call get_run.",
        (Schema::RunWorkflowInput, Schema::RunResult),
        RUNS,
    )
}

pub fn get_run() -> ToolSpec {
    spec(
        (GET_RUN, "Look up a run"),
        "Tells what became of a run: its outcome, or running while it goes on. Waits up to wait_seconds for an answer. Call it again \
         later for a run that a person has to decide on.",
        (Schema::GetRunInput, Schema::RunResult),
        READ_ONLY,
    )
}

fn spec(
    (name, title): (&str, &'static str),
    description: &str,
    (input, output): (Schema, Schema),
    annotations: Annotations,
) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        title,
        description: description.to_owned(),
        input_schema: input.for_tool_list(),
        output_schema: Some(output.for_tool_list()),
        annotations,
        meta: None,
    }
}
