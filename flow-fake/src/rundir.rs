//! The run directory of a durable run: claim and manifest.

use std::io;
use std::path::Path;

use serde_json::{Value, json};

use crate::canonical::canonical;
use crate::report::Subject;
use crate::{clock, files};

const CLAIM: &str = ".durable_run.claim";

/// Whether the folder already belongs to a durable run, which Flow refuses to use again.
pub fn is_claimed(run_dir: &Path) -> bool {
    run_dir.join(CLAIM).exists() || run_dir.join("checkpoints/_manifest.json").exists()
}

/// Creates the folder under the process umask, and the files of a durable run when `durable`.
pub fn create(run_dir: &Path, bundle: &Path, subject: &Subject, durable: bool) -> io::Result<()> {
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
    let manifest = manifest(bundle, subject, &canonical_dir, &namespace);
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
        "governed_authorization": {
            "authorization_id": subject.run_id,
            "created_at": subject.started_at,
            "bundle_content_digest": subject.content_digest,
            "runtime_inputs_digest": subject.inputs_sha256(),
            "admitted_policy_name": subject.policy,
            "execution_profile": subject.profile,
            "approval_source": subject.approval_source,
        },
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
