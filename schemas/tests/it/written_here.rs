//! Files and arguments that this project writes: one that is right, and what becomes of it when one thing is changed.

use schemas::Schema;
use serde_json::{Value, json};

use crate::held_against::{accepts, refuses};

const RUN: &str = "run-0123456789abcdef01234567";
const SERVER: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";
const NOW: &str = "2026-11-29T18:38:07.371259+00:00";

#[test]
fn arguments_of_run_workflow() {
    let good = json!({ "workflow": "no such name", "inputs": { "note": { "any": ["thing"] } }, "request_id": "abcd", "wait_seconds": 600 });
    let schema = Schema::RunWorkflowInput;
    accepts(schema, &good);
    accepts(schema, &without(&good, "wait_seconds"));
    for id in ["abcd\n", "abc", "-abcd", "ab cd", "abcd\u{2028}", "\nabcd", "abcé"] {
        refuses(schema, &with(&good, "/request_id", json!(id)), "/request_id");
    }
    refuses(schema, &with(&good, "/request_id", json!("x".repeat(129))), "/request_id");
    refuses(schema, &with(&good, "/wait_seconds", json!(601)), "/wait_seconds");
    refuses(schema, &with(&good, "/wait_seconds", json!("5")), "/wait_seconds");
    refuses(schema, &with(&good, "/inputs", json!([])), "/inputs");
    refuses(schema, &with(&good, "/url", json!("http://x")), "");
    for required in ["workflow", "inputs", "request_id"] {
        refuses(schema, &without(&good, required), "");
    }
}

#[test]
fn arguments_of_the_other_tools() {
    accepts(Schema::ListWorkflowsInput, &json!({}));
    refuses(Schema::ListWorkflowsInput, &json!({ "mode": "production" }), "");
    let good = json!({ "run_id": RUN });
    accepts(Schema::GetRunInput, &good);
    for id in ["run-", "run-a\n", "run-a/b", "job-a"] {
        refuses(Schema::GetRunInput, &json!({ "run_id": id }), "/run_id");
    }
    refuses(Schema::GetRunInput, &json!({}), "");
    refuses(Schema::GetRunInput, &with(&good, "/wait_seconds", json!(-1)), "/wait_seconds");
}

#[test]
fn a_list_of_workflows() {
    let good = json!({
        "mode": "production", "run_tools_enabled": true, "how_to_run": "x", "workflows": [card()], "schema_version": 1,
        "lifecycle": "admission-derived", "protected_export_enabled": false,
        "synthetic_recorded_defaults_enabled": false, "note": null,
    });
    let schema = Schema::WorkflowList;
    accepts(schema, &good);
    accepts(schema, &json!({ "mode": "sandbox", "run_tools_enabled": true, "workflows": [] }));
    refuses(schema, &without(&good, "lifecycle"), "");
    refuses(schema, &with(&good, "/lifecycle", json!("active")), "/lifecycle");
    refuses(schema, &with(&good, "/workflows/0/step_count", json!(-1)), "/workflows/0/step_count");
    refuses(schema, &with(&good, "/workflows/0/label", json!("x")), "/workflows/0");
    refuses(schema, &with(&good, "/bundles_dir", json!("/x")), "");
}

#[test]
fn a_workflow_card() {
    let schema = Schema::WorkflowCard;
    accepts(schema, &card());
    accepts(schema, &with(&card(), "/step_count", json!(null)));
    refuses(schema, &with(&card(), "/inputs/properties/note/example", json!("recorded")), "/inputs/properties/note");
    refuses(schema, &with(&card(), "/inputs/additionalProperties", json!(true)), "/inputs/additionalProperties");
    refuses(schema, &with(&card(), "/id", json!("triage")), "/id");
    for key in card().as_object().unwrap().keys() {
        refuses(schema, &without(&card(), key), "");
    }
}

#[test]
fn a_card_file_of_an_operator() {
    let good = json!({
        "name": "triage_note", "purpose": "Adds a note.", "done_means": "The note is there.",
        "inputs": { "note": { "description": "The note.", "maxLength": 500, "pattern": "^[A-Z]" } },
    });
    let schema = Schema::WorkflowCardFile;
    accepts(schema, &good);
    accepts(schema, &json!({}));
    for purpose in ["", "  ", "case 12345", "write to a@b.org", "call 555-123-4567"] {
        refuses(schema, &with(&good, "/purpose", json!(purpose)), "/purpose");
    }
    refuses(schema, &with(&good, "/name", json!("Triage")), "/name");
    refuses(schema, &with(&good, "/inputs/note/default", json!("x")), "/inputs/note");
    refuses(schema, &with(&good, "/steps", json!([])), "");
}

#[test]
fn a_run_record() {
    let running = json!({
        "schema": "openadapt-agent.run/v1", "run_id": RUN, "request_id": "abcd", "workflow": "triage", "mode": "production",
        "state": "running", "started_at": NOW, "pid": 7, "host": "h", "attempt": 1, "ledger_key": format!("{}:1", "a".repeat(64)),
        "fingerprint": "b".repeat(64), "owner": SERVER, "mac": "c".repeat(64),
    });
    let schema = Schema::RunRecord;
    accepts(schema, &running);
    let nobodys = with(&with(&without(&running, "owner"), "/pid", json!(null)), "/host", json!(null));
    accepts(schema, &nobodys);
    accepts(schema, &with(&nobodys, "/evidence", json!({ "report_sha256": "d".repeat(64) })));
    refuses(schema, &with(&without(&nobodys, "mac"), "/evidence", json!({})), "");
    refuses(schema, &with(&running, "/state", json!("starting")), "/state");
    accepts(schema, &with(&running, "/evidence", json!({ "report_sha256": "d".repeat(64) })));
    refuses(schema, &without(&running, "mac"), "");
    refuses(schema, &without(&running, "attempt"), "");
    refuses(schema, &with(&running, "/finished_at", json!(NOW)), "/finished_at");
    refuses(schema, &with(&running, "/state", json!("finished")), "");
    refuses(schema, &with(&running, "/evidence", json!({ "report": "x" })), "/evidence");
    refuses(schema, &with(&running, "/run_id", json!("run-a\n")), "/run_id");
}

#[test]
fn a_request_entry() {
    let good = json!({ "schema": "openadapt-agent.request/v1", "fingerprint": "a".repeat(64), "workflow": "triage", "attempts": [RUN] });
    let schema = Schema::RequestEntry;
    accepts(schema, &good);
    accepts(schema, &with(&good, "/mac", json!("b".repeat(64))));
    refuses(schema, &with(&good, "/mac", json!("b")), "/mac");
    refuses(schema, &with(&good, "/attempts", json!([])), "/attempts");
    refuses(schema, &with(&good, "/attempts", json!([RUN, RUN])), "/attempts");
    refuses(schema, &with(&good, "/attempts/0", json!("x")), "/attempts/0");
    refuses(schema, &with(&good, "/fingerprint", json!("A".repeat(64))), "/fingerprint");
    refuses(schema, &with(&good, "/request_id", json!("abcd")), "");
}

#[test]
fn a_dispatch_intent() {
    let good = json!({
        "schema": "openadapt-agent.dispatch/v1", "run_id": RUN, "token": "a".repeat(32), "owner": SERVER,
        "committed_at": NOW, "argv": ["flow", "run"], "run_dir": "r", "time_limit_ms": 600_000, "request_id": null,
        "workflow": null, "mode": "production", "started_at": NOW,
    });
    let schema = Schema::DispatchIntent;
    accepts(schema, &good);
    refuses(schema, &with(&good, "/schema", json!("openadapt-agent.dispatch/v2")), "/schema");
    refuses(schema, &with(&good, "/argv", json!([])), "/argv");
    refuses(schema, &with(&good, "/time_limit_ms", json!(0)), "/time_limit_ms");
    refuses(schema, &with(&good, "/token", json!("a")), "/token");
    refuses(schema, &with(&good, "/inputs", json!({})), "");
    for key in good.as_object().unwrap().keys() {
        refuses(schema, &without(&good, key), "");
    }
    let mut attempted = good;
    for (key, value) in [
        ("attempt", json!(1)),
        ("ledger_key", json!(format!("{}:1", "a".repeat(64)))),
        ("fingerprint", json!("b".repeat(64))),
    ] {
        attempted[key] = value;
    }
    accepts(schema, &attempted);
    for key in ["attempt", "ledger_key", "fingerprint"] {
        refuses(schema, &without(&attempted, key), "");
    }
}

#[test]
fn a_dispatch_claim_is_a_keepers_with_the_token_or_a_servers_revocation() {
    let keeper = json!({
        "schema": "openadapt-agent.claim/v1", "run_id": RUN, "by": "keeper", "token": "a".repeat(32), "pid": 7, "at": NOW,
    });
    let revoked =
        json!({ "schema": "openadapt-agent.claim/v1", "run_id": RUN, "by": "revoked", "server": SERVER, "at": NOW });
    let schema = Schema::DispatchClaim;
    for good in [&keeper, &revoked] {
        accepts(schema, good);
        for key in good.as_object().unwrap().keys() {
            refuses(schema, &without(good, key), "");
        }
    }
    refuses(schema, &with(&keeper, "/by", json!("server")), "/by");
    refuses(schema, &with(&keeper, "/server", json!(SERVER)), "/server");
    refuses(schema, &with(&revoked, "/token", json!("a".repeat(32))), "/token");
}

#[test]
fn an_admission_status_admits_on_the_whole_evidence_only_and_gives_a_reason_otherwise() {
    let schema = Schema::AdmissionStatus;
    let targets: Vec<Value> = ["agent", "capture", "cloud", "desktop", "docs", "flow", "openadapt"]
        .iter()
        .map(|id| json!({ "id": id, "state": "not_actively_admitted", "reason": "no_admission" }))
        .collect();
    let refused = json!({
        "schema_version": "openadapt-agent.admission-status/v1", "checked_at": "2026-10-20T12:00:00Z",
        "ledger": { "source": "ledger.json", "sha256": null, "source_commit": null, "age_basis": "file_of_unknown_age" },
        "state": "not_actively_admitted", "reason": "signature_unavailable", "verification": "projection_only",
        "release": null, "target": "agent", "targets": targets, "product_wide": false, "workflows": [],
        "workflow_list": null, "installed": { "version": "0.1.0", "artifact_sha256": null },
    });
    accepts(schema, &refused);
    for key in refused.as_object().unwrap().keys() {
        refuses(schema, &without(&refused, key), "");
    }
    refuses(schema, &with(&refused, "/reason", json!("admitted")), "/reason");
    refuses(schema, &with(&refused, "/reason", json!("because")), "/reason");
    refuses(schema, &with(&refused, "/targets/3/reason", json!("admitted")), "/targets/3/reason");
    refuses(schema, &with(&refused, "/checked_at", json!("2026-10-20T12:00:00+00:00")), "/checked_at");
    let release = json!({
        "version": "9.1.0", "tag": "v9.1.0", "sequence": 1, "admission_id_sha256": format!("sha256:{}", "a".repeat(64)),
        "evidence_class": "remote-safe-synthetic", "expires_at": "2026-11-20T12:00:00Z",
    });
    let admitted =
        with(&with(&with(&refused, "/state", json!("admitted")), "/reason", json!("admitted")), "/release", release);
    refuses(schema, &admitted, "/verification");
    accepts(schema, &with(&admitted, "/verification", json!("full")));
    refuses(schema, &with(&with(&admitted, "/verification", json!("full")), "/release", json!(null)), "/release");
}

#[test]
fn an_admission_watermark_names_known_targets_and_counts_from_one() {
    let schema = Schema::AdmissionWatermark;
    let digest = format!("sha256:{}", "c".repeat(64));
    let kept = json!({
        "schema_version": "openadapt-agent.admission-watermark/v1", "seen_at": "2026-10-20T12:00:00Z",
        "targets": { "agent": { "sequence": 3, "admission_id_sha256": digest } },
        "revocation": { "revision": 1, "revocation_state_sha256": digest, "revoked": [["qualification-release", digest]] },
    });
    accepts(schema, &kept);
    accepts(schema, &with(&kept, "/revocation", json!(null)));
    for key in kept.as_object().unwrap().keys() {
        refuses(schema, &without(&kept, key), "");
    }
    refuses(schema, &with(&kept, "/targets/agent/sequence", json!(0)), "/targets/agent/sequence");
    refuses(
        schema,
        &with(&kept, "/targets/agent/admission_id_sha256", json!("c")),
        "/targets/agent/admission_id_sha256",
    );
    refuses(schema, &with(&kept, "/targets/unheard", kept["targets"]["agent"].clone()), "/targets");
    refuses(schema, &with(&kept, "/revocation/revoked/0", json!(["one"])), "/revocation/revoked/0");
}

#[test]
fn exit_facts_say_one_way_to_end() {
    let exited = json!({
        "schema": "openadapt-agent.exit/v1", "run_id": RUN, "token": "a".repeat(32), "end": "exited", "code": 0,
        "signal": null, "timed_out": false, "started_at": NOW, "ended_at": NOW, "seconds": 1.25,
        "report_sha256": "b".repeat(64),
    });
    let schema = Schema::DispatchExit;
    accepts(schema, &exited);
    refuses(schema, &with(&exited, "/signal", json!(9)), "/signal");
    refuses(schema, &with(&exited, "/code", json!(null)), "/code");
    refuses(schema, &with(&exited, "/started_at", json!(null)), "/started_at");
    refuses(schema, &with(&exited, "/seconds", json!(-1)), "/seconds");
    let signaled = with(&with(&with(&exited, "/end", json!("signaled")), "/code", json!(null)), "/signal", json!(9));
    accepts(schema, &with(&signaled, "/timed_out", json!(true)));
    refuses(schema, &with(&signaled, "/signal", json!(null)), "/signal");
    refuses(schema, &with(&signaled, "/signal", json!(0)), "/signal");
    refuses(schema, &with(&signaled, "/code", json!(0)), "/code");
    let never = json!({
        "schema": "openadapt-agent.exit/v1", "run_id": RUN, "token": "a".repeat(32), "end": "never_started", "code": null,
        "signal": null, "timed_out": false, "started_at": null, "ended_at": NOW, "seconds": 0.0, "report_sha256": null,
    });
    accepts(schema, &never);
    for (pointer, value) in [
        ("/code", json!(0)),
        ("/signal", json!(9)),
        ("/timed_out", json!(true)),
        ("/started_at", json!(NOW)),
        ("/report_sha256", json!("b".repeat(64))),
    ] {
        refuses(schema, &with(&never, pointer, value), pointer);
    }
    for key in never.as_object().unwrap().keys() {
        refuses(schema, &without(&never, key), "");
    }
}

#[test]
fn an_item_approval_request_and_its_answer() {
    let id = "0123456789abcdef0123456789abcdef";
    let request = json!({
        "schema_version": "openadapt.item-approval-request/v1", "request_id": id, "run_id": id, "workflow_name": "w",
        "step_id": "step_005", "step_index": 5, "step_intent": "x", "mode": "each_item",
        "screenshot": format!("item-approval/{id}.png"), "screenshot_sha256": "a".repeat(64), "form_state_kind": "dom",
        "form_state_sha256": format!("sha256:{}", "b".repeat(64)), "created_at": NOW, "expires_at": NOW,
    });
    accepts(Schema::ItemApprovalRequest, &request);
    refuses(Schema::ItemApprovalRequest, &with(&request, "/screenshot", json!("../x.png")), "/screenshot");
    refuses(Schema::ItemApprovalRequest, &without(&request, "expires_at"), "");
    let answer = json!({
        "schema_version": "openadapt.item-approval-answer/v1", "request_id": id, "request_sha256": "c".repeat(64),
        "decision": "approve", "decline_reason": null, "decided_by": "human", "route": "local_cli",
        "approver_kind": "unauthenticated", "auth_method": "none", "answered_at": NOW,
    });
    let schema = Schema::ItemApprovalAnswer;
    accepts(schema, &answer);
    let declined = with(&with(&answer, "/decision", json!("decline")), "/decline_reason", json!("wrong_record"));
    accepts(schema, &declined);
    refuses(schema, &with(&declined, "/decision", json!("approve")), "/decline_reason");
    refuses(schema, &with(&answer, "/route", json!("mail")), "/route");
}

fn card() -> Value {
    json!({
        "name": "triage", "purpose": "x", "done_means": "x",
        "inputs": {
            "type": "object", "properties": { "note": { "type": "string", "description": "The note to enter." } },
            "required": ["note"], "additionalProperties": false,
        },
        "changes_records": true, "available": true, "id": "workflow_0123456789abcdef01234567", "step_count": 1,
        "parameters": [{ "name": "note", "type": "string", "required": true }], "encrypted": false,
    })
}

fn with(value: &Value, pointer: &str, new: Value) -> Value {
    let mut changed = value.clone();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    match changed.pointer_mut(parent).unwrap() {
        Value::Array(items) => items[key.parse::<usize>().unwrap()] = new,
        object => object[key] = new,
    }
    changed
}

fn without(value: &Value, key: &str) -> Value {
    let mut changed = value.clone();
    assert!(changed.as_object_mut().unwrap().remove(key).is_some(), "{key} isn't there");
    changed
}
