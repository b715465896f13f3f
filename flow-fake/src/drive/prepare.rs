//! `sandbox.prepare`: the bundle of the one workflow that is driven, with the script that drives it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::tutorial::{self, Action, Identity, PARAMETER, Recorded, STEPS, WORKFLOW};
use super::{Missing, Trouble, contracts, find, open};
use crate::canonical::{canonical, sha256_hex};
use crate::files;
use crate::script::SCRIPT;

/// A bundle that can be run, and the words that run it.
#[derive(Debug)]
pub struct Prepared {
    pub bundle: PathBuf,
    pub command: Vec<String>,
}

/// Why nothing was prepared.
#[derive(Debug, thiserror::Error)]
pub enum NotPrepared {
    #[error("{0}")]
    Missing(#[from] Missing),
    #[error("{0}")]
    Trouble(#[from] Trouble),
    #[error("{0}")]
    Io(#[from] io::Error),
}

impl NotPrepared {
    /// The closed word that the bridge answers with.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Missing(missing) => missing.word(),
            Self::Trouble(_) => "browser_failed",
            Self::Io(_) => "folder_failed",
        }
    }
}

/// Part of the sealed content, so that the digest is the same wherever the bundle is made.
const RECORDED_AT: &str = "2026-01-01T00:00:00+00:00";

/// Makes the bundle below `folder`, or keeps the one that is there; then opens the app once, so that a browser that can't is known now.
pub fn prepare(folder: &Path, url: &str, headed: bool) -> Result<Prepared, NotPrepared> {
    let found = find()?;
    let bundle = folder.join("bundle");
    write_bundle(&bundle)?;
    files::replace_json(&bundle.join(SCRIPT), &script(), files::PRIVATE)?;
    let mut screen = open(&found, headed)?;
    let opened = screen.go_to(&format!("{}/{}", url.trim_end_matches('/'), tutorial::ENTRY));
    screen.close();
    opened?;
    let program = std::env::current_exe()?;
    Ok(Prepared { bundle, command: vec![program.display().to_string()] })
}

/// The recorded workflow, or the one that is there already.
pub fn write_bundle(bundle: &Path) -> io::Result<()> {
    let workflow = workflow();
    if files::read_json(&bundle.join("workflow.json")).ok().as_ref() != Some(&workflow) {
        files::remove(bundle)?;
        fs::create_dir_all(bundle)?;
        files::replace_json(&bundle.join("manifest.json"), &workflow["manifest"], files::PRIVATE)?;
        files::replace_json(&bundle.join("workflow.json"), &workflow, files::PRIVATE)?;
    }
    Ok(())
}

fn script() -> Value {
    json!({"steps": [{"gate": "admit"}, "drive"]})
}

/// The sealed workflow, every member written out.
fn workflow() -> Value {
    let example = "Made-up note";
    let mut workflow = json!({
        "schema_version": 2,
        "name": WORKFLOW,
        "recording_id": null,
        "contains_phi": false,
        "phi_scrubbed": false,
        "encrypted": false,
        "created_at": RECORDED_AT,
        "viewport": [1280, 800],
        "params": {PARAMETER: example},
        "param_specs": {
            PARAMETER: {"name": PARAMETER, "type": "string", "example": example, "required": true, "choices": []}
        },
        "secret_params": [],
        "steps": STEPS.iter().map(step).collect::<Vec<_>>(),
        "program": null,
        "subflows": {},
        "data_sources": {},
    });
    let digest = sha256_hex(canonical(&json!({"workflow": &workflow, "files": {}})));
    workflow["interstitials"] = json!([]);
    workflow["manifest"] = json!({
        "schema_version": 2,
        "content_digest": digest,
        "file_hashes": {},
        "provenance": {
            "compiler_version": null,
            "source_recording_sha256": null,
            "compiler_config_sha256": null,
            "created_at": RECORDED_AT,
            "policy_name": null,
            "certified": null,
            "certification_status": "unknown",
            "certified_at": null,
            "expires_at": null,
            "certification_invalidated_at": null,
            "certification_invalidation_reason": null,
            "governed_authorization_template": null,
        },
        "encrypted": false,
    });
    workflow
}

fn step(recorded: &Recorded) -> Value {
    let typing = recorded.action == Action::Type;
    let saving = recorded.action == Action::Save;
    json!({
        "id": recorded.id,
        "intent": recorded.intent,
        "action": recorded.action.word(),
        "anchor": if typing { Value::Null } else { anchor(recorded) },
        "text": null,
        "param": typing.then_some(PARAMETER),
        "secret": null,
        "key": null,
        "scroll_dx": 0,
        "scroll_dy": 0,
        "expect": recorded.checks.iter().map(|check| check.postcondition(recorded.id)).collect::<Vec<_>>(),
        "effects": if saving { effects() } else { Vec::new() },
        "api_binding": null,
        "risk": if saving { "irreversible" } else { "reversible" },
        "wait_until": null,
        "guard": null,
        "timeout_s": 10.0,
        "identity_armed": recorded.identity.map(|_| true),
        "identity_unarmed_reason": null,
        "identifier_crop_missing_reason": null,
    })
}

fn anchor(recorded: &Recorded) -> Value {
    json!({
        "template": null,
        "structural": {
            "selector": recorded.selector,
            "role": if recorded.selector == "#note" { "textbox" } else { "button" },
            "name": null,
            "automation_id": null,
            "window_name": null,
        },
        "region": [0, 0, 0, 0],
        "click_point": [0, 0],
        "ocr_text": null,
        "context_text": null,
        "structured_identity": match recorded.identity {
            Some(Identity::Row) => Some(tutorial::ROW),
            Some(Identity::Banner) => Some(tutorial::BANNER),
            None => None,
        },
        "identity_template": null,
        "identifier_crop": null,
        "identifier_region": null,
        "landmarks": [],
        "search_pad": 80,
    })
}

/// The effects as a workflow declares them: values are literals, or the input.
fn effects() -> Vec<Value> {
    let literal = |value: &Value| if value.is_null() { Value::Null } else { json!({"literal": value, "param": null}) };
    contracts::effects("")
        .iter()
        .map(|effect| {
            let selector = effect["match"].as_object().cloned().unwrap_or_default();
            let matched: serde_json::Map<String, Value> =
                selector.iter().map(|(field, value)| (field.clone(), literal(value))).collect();
            let typed = effect["field"] == PARAMETER;
            json!({
                "kind": effect["kind"],
                "match": matched,
                "field": effect["field"],
                "value": if typed { json!({"literal": null, "param": PARAMETER}) } else { Value::Null },
                "expected_count": 1,
                "idempotency_key": literal(&effect["idempotency_key"]),
                "key_field": "key",
                "count_new_only": false,
                "forbid_collateral_loss": true,
                "risk": "irreversible",
                "probe": null,
                "timeout_s": 5.0,
                "needs_operator_confirmation": false,
                "readback": null,
            })
        })
        .collect()
}
