//! What `list_workflows` returns. Cards, opaque ids, counts and booleans; a label, value, intent or path only in a `protected` object,
//! where the operator opened the export.

use serde_json::{Map, Value, json};

use crate::sandbox::Sandbox;
use crate::service::Service;
use crate::workflows::{Omitted, Workflow};

const HOW_TO_RUN: &str = "Call run_workflow with a workflow's name, its inputs and your own request_id. Keep the request_id for repeats of \
                          the same work.";
const RUNS_DISABLED_NOTE: &str =
    "This server only lists workflows. The operator can start it with --mode production to run them.";
const RUNS_OFF_NOTE: &str = "Runs are switched off on this computer. The operator can switch them on again.";

pub fn workflows(service: &Service) -> Map<String, Value> {
    let runs = service.runs_offered();
    if let Some(sandbox) = service.sandbox() {
        return of_the_sandbox(service, sandbox, runs);
    }
    let why_not = if service.runs_enabled() { RUNS_OFF_NOTE } else { RUNS_DISABLED_NOTE };
    let older = service.older();
    let row = |workflow: &Workflow| {
        let mut row = workflow.row(service.omitted());
        if older.protected_export {
            row.insert("protected".to_owned(), workflow.protected().into());
        }
        Value::from(row)
    };
    let rows: Vec<Value> = service.catalog().iter().map(row).collect();
    let list = [
        ("mode", service.mode().as_str().into()),
        ("run_tools_enabled", runs.into()),
        ("how_to_run", if runs { HOW_TO_RUN } else { why_not }.into()),
        ("workflows", rows.into()),
        ("schema_version", 1.into()),
        ("lifecycle", "admission-derived".into()),
        ("protected_export_enabled", older.protected_export.into()),
        ("synthetic_recorded_defaults_enabled", older.recorded_defaults.into()),
        ("note", if runs { Value::Null } else { json!(why_not) }),
    ];
    let protected = older.protected_export.then(|| ("protected", json!({ "bundles_dir": service.bundles_dir() })));
    list.into_iter().chain(protected).map(|(key, value)| (key.to_owned(), value)).collect()
}

fn of_the_sandbox(service: &Service, sandbox: &Sandbox, runs: bool) -> Map<String, Value> {
    let available = sandbox.is_available();
    let rows = service.catalog().iter().map(|workflow| {
        let mut row = workflow.row(Omitted::Refused);
        row.insert("available".to_owned(), available.into());
        Value::from(row)
    });
    let list = [
        ("mode", service.mode().as_str().into()),
        ("run_tools_enabled", runs.into()),
        ("how_to_run", if runs { HOW_TO_RUN } else { RUNS_OFF_NOTE }.into()),
        ("workflows", rows.collect()),
        ("sandbox", sandbox.block().into()),
    ];
    list.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}
