//! What `list_workflows` returns. Cards, opaque ids, counts and booleans; a label, value, intent or path only in a `protected` object,
//! where the operator opened the export.

use serde_json::{Map, Value, json};

use crate::service::Service;
use crate::workflows::Workflow;

const HOW_TO_RUN: &str = "Call run_workflow with a workflow's name, its inputs and your own request_id. Keep the request_id for repeats of \
                          the same work.";
const RUNS_DISABLED_NOTE: &str =
    "This server only lists workflows. The operator can start it with --mode production to run them.";

pub fn workflows(service: &Service) -> Map<String, Value> {
    let runs = service.runs_enabled();
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
        ("how_to_run", if runs { HOW_TO_RUN } else { RUNS_DISABLED_NOTE }.into()),
        ("workflows", rows.into()),
        ("schema_version", 1.into()),
        ("lifecycle", "admission-derived".into()),
        ("protected_export_enabled", older.protected_export.into()),
        ("synthetic_recorded_defaults_enabled", older.recorded_defaults.into()),
        ("note", if runs { Value::Null } else { json!(RUNS_DISABLED_NOTE) }),
    ];
    let protected = older.protected_export.then(|| ("protected", json!({ "bundles_dir": service.bundles_dir() })));
    list.into_iter().chain(protected).map(|(key, value)| (key.to_owned(), value)).collect()
}
