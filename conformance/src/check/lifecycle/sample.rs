//! A store that agrees with the good piece of evidence, for the tests of this room's checks.

use serde_json::{Value, json};

use super::super::sample::{RUN, saved};
use crate::evidence::Evidence;
use crate::evidence::actions::{SeenActions, Tables};

const ACTION: &str = "act-1";

pub fn with_store() -> Evidence {
    change(|_| ())
}

pub fn change(with: impl FnOnce(&mut Tables)) -> Evidence {
    let mut tables = tables();
    with(&mut tables);
    Evidence { actions: SeenActions::Rows(Box::new(tables)), ..saved() }
}

fn tables() -> Tables {
    let bound = |mut row: Value| {
        let binding = json!({"action_id": ACTION, "execution_id": RUN, "call_id": "call-1", "policy_version": 1, "args_digest": "d"});
        row.as_object_mut().unwrap().extend(binding.as_object().unwrap().clone());
        row
    };
    let names = [
        "action.prepared",
        "permission.decided",
        "action.reserved",
        "action.dispatched",
        "action.claimed",
        "executor.started",
        "executor.completed",
        "receipt.recorded",
        "checkpoint.committed",
        "projection.completed",
    ];
    let events = names.iter().zip(1..).map(|(name, seq)| {
        let mut event = json!({"action_id": ACTION, "seq": seq, "event": name});
        if name.starts_with("executor") {
            event["executor"] = "flow".into();
            event["request"] = "exec-1".into();
        }
        if *name == "receipt.recorded" {
            event["execution"] = "succeeded".into();
            event["reason"] = "saved_and_checked".into();
            event["revision"] = 1.into();
        }
        event
    });
    Tables {
        actions: vec![bound(json!({
            "tool": "run_workflow", "mode": "production", "permission": "allow", "execution": "succeeded", "delivery": "projected",
            "phase": "projected", "conditions_digest": "c", "dispatched_at": "t",
        }))],
        receipts: vec![bound(json!({
            "revision": 1, "permission": "allow", "execution": "succeeded", "outcome": "done", "reason": "saved_and_checked",
            "executor_started": 1, "executor_end": "completed",
        }))],
        events: events.collect(),
        executor_requests: vec![
            json!({"request_id": "exec-1", "action_id": ACTION, "executor": "flow", "status": "completed", "completed_at": "t"}),
        ],
        waits: Vec::new(),
    }
}
