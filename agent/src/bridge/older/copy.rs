//! Every sentence of the older tools: fixed copy.

use crate::contract::outcome::NextStep;

pub const WORKFLOW_USAGE: &str = "get_workflow takes workflow, an id from list_workflows, and nothing else.";
pub const REPORT_USAGE: &str = "get_run_report takes run_id, as a run tool returned it, and nothing else.";
pub const RUN_USAGE: &str = "This tool takes the workflow's inputs, each as text and each once, and nothing else; a web address only where \
    its schema names one. Nothing was started and nothing was recorded.";
pub const UNKNOWN_WORKFLOW: &str = "This server has no workflow with that id. Call list_workflows for the ids.";
pub const UNKNOWN_RUN: &str = "This server has no report of a run with that run_id.";
pub const NO_REPORT_YET: &str = "The run is still going, so there is no report yet. Call get_run with this run_id.";

/// Said instead of a result where the store can't be read or written.
pub const NOT_STARTED: &str = "The records of this computer can't be read or written, so this call started nothing. The operator finds the \
    cause in the server's log.";
pub const NOT_KNOWN: &str = "The run was started, and the records of this computer can't be read now, so what became of it isn't known. The \
    change may have been saved: a person checks the record in the app before anything runs again. Don't retry.";

pub const PASSED: &str = "The policy that is configured here certifies this workflow.";
pub const DID_NOT_PASS: &str = "The policy that is configured here doesn't certify this workflow.";
pub const NO_POLICY: &str =
    "Not evaluated: no policy is configured here. The operator names one with --policy or --config.";
pub const NOT_EVALUATED: &str = "Not evaluated: the certification didn't come to an answer on this computer.";
pub const UNLOADABLE: &str = "Not evaluated: the workflow can't be loaded on this computer.";

/// What a caller does after a run that had no request_id. The contract's own sentences ask for the same request_id again, and there is
/// none.
pub fn without_request_id(step: NextStep) -> Option<&'static str> {
    match step {
        NextStep::Retry => Some("Call run_workflow with a request_id of your own."),
        NextStep::FixInputs => Some("Correct the inputs, then call run_workflow with a request_id of your own."),
        NextStep::FixSetup => Some(
            "The operator corrects the setup on the computer that runs workflows. After that, call run_workflow with a request_id of \
             your own.",
        ),
        NextStep::None | NextStep::WaitForPerson | NextStep::CheckRecord | NextStep::CallGetRun => None,
    }
}
