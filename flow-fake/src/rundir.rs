//! The run directory of a durable run: claim and manifest.

use std::io;
use std::path::Path;

use serde_json::{Value, json};

use crate::canonical::canonical;
use crate::report::{Profile, Subject};
use crate::{clock, files};

const CLAIM: &str = ".durable_run.claim";

/// Whether the folder already belongs to a durable run, which Flow refuses to use again.
pub fn is_claimed(run_dir: &Path) -> bool {
    run_dir.join(CLAIM).exists() || run_dir.join("checkpoints/_manifest.json").exists()
}

/// Creates the folder under the process umask, and the files of a durable run when `durable`.
pub fn create(
    run_dir: &Path,
    bundle: &Path,
    subject: &Subject,
    identity_steps: Value,
    durable: bool,
) -> io::Result<()> {
    std::fs::create_dir_all(run_dir)?;
    if !durable {
        return Ok(());
    }
    let canonical_dir = run_dir.canonicalize()?.to_string_lossy().into_owned();
    let namespace = Subject::fresh_id();
    let claim = json!({
        "canonical_run_dir": canonical_dir,
        "namespace_id": namespace,
        "run_id": subject.run_id,
        "schema_version": 2,
    });
    files::create(&run_dir.join(CLAIM), canonical(&claim).as_bytes(), files::PRIVATE)?;
    files::create(&run_dir.join(".durable_state.lock"), b"", files::PRIVATE)?;
    std::fs::create_dir_all(run_dir.join("checkpoints"))?;
    std::fs::create_dir_all(run_dir.join("steps"))?;
    let mut manifest = manifest(bundle, subject, &canonical_dir, &namespace);
    manifest["governed_authorization"]["required_identity_step_ids"] = identity_steps;
    files::replace_json(&run_dir.join("checkpoints/_manifest.json"), &manifest, files::PRIVATE)
}

fn manifest(bundle: &Path, subject: &Subject, canonical_dir: &str, namespace: &str) -> Value {
    let bundle = bundle.canonicalize().unwrap_or_else(|_| bundle.to_owned());
    json!({
        "schema_version": 2,
        "run_id": subject.run_id,
        "namespace_id": namespace,
        "canonical_run_dir": canonical_dir,
        "workflow_name": subject.workflow_name,
        "bundle_dir": bundle.to_string_lossy(),
        "params": subject.params,
        "idempotency_key": null,
        "worklists": {},
        "governed_authorization": authorization(subject),
        "delivery_authority_kind": "customer_local",
        "remote_delivery_run_id": null,
        "managed_dispatch_binding_sha256": null,
        "screenshots_may_leave_box": false,
        "model_calls": 0,
        "external_network_calls": "observed",
        "save_healed_to": null,
        "created_at": clock::iso(clock::now()),
    })
}

/// The authorization of a run without any qualification.
fn authorization(subject: &Subject) -> Value {
    json!({
        "authorization_id": subject.run_id,
        "created_at": subject.started_at,
        "bundle_content_digest": subject.content_digest,
        "runtime_inputs_digest": subject.inputs_sha256(),
        "admitted_policy_name": subject.policy,
        "admitted_policy_contract_sha256": subject.policy_sha256(),
        "execution_profile": subject.profile,
        "minimum_effect_tier": subject.profile.and_then(Profile::minimum_tier),
        "qualified_effect_requirements": [],
        "required_identity_step_ids": null,
        "unverified_write_approvals": [],
        "approval_source": subject.approval_source,
        "qualification_admission": null,
        "qualification_admission_sha256": null,
        "production_qualification_admission_id": null,
        "production_qualification_admission_sha256": null,
        "production_qualification_evidence_identity_sha256": null,
        "production_qualification_runtime_validation_id": null,
        "production_qualification_signer_registry_sha256": null,
        "production_qualification_signer_registry_revision": null,
        "production_qualification_signer_registry_expires_at": null,
        "production_qualification_authority_sha256": null,
        "qualification_project_id": null,
        "qualification_project_revision": null,
        "qualification_project_contract_sha256": null,
        "qualification_case_id": null,
        "qualification_campaign_id_sha256": null,
        "qualification_case_input_sha256": null,
        "qualification_run_id_sha256": null,
        "qualification_campaign_permit_id": null,
        "qualification_campaign_permit_sha256": null,
        "qualification_campaign_signer_registry_sha256": null,
        "qualification_campaign_signer_registry_revision": null,
        "qualification_campaign_signer_registry_expires_at": null,
        "qualification_campaign_authority_sha256": null,
        "qualification_case_kind": null,
        "qualification_case_action_paths": {},
        "qualification_fault_driver_id": null,
        "qualification_fault_driver_contract_sha256": null,
        "qualification_fault_driver_key_id": null,
        "qualification_fault_step_id_sha256": null,
    })
}
