//! What a report is about: the run's identity and inputs, from a launch or from a run folder that is there already.

use std::io;
use std::path::Path;

use jiff::Timestamp;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::Profile;
use crate::canonical::{digest, sha256_hex};
use crate::{clock, files};

#[derive(Debug, Clone)]
pub struct Subject {
    /// 32 hex; also the id of the authorization, as in a governed run.
    pub run_id: String,
    pub workflow_name: String,
    pub started_at: String,
    pub profile: Option<Profile>,
    pub content_digest: String,
    pub contract_sha256: String,
    pub parameters_sha256: String,
    pub policy: String,
    pub approval_source: String,
    pub url: Option<String>,
    pub params: Map<String, Value>,
}

impl Subject {
    pub fn fresh_id() -> String {
        Uuid::new_v4().simple().to_string()
    }

    /// The same workflow and inputs in a run of its own that began an hour earlier.
    pub fn of_another_run(&self, now: Timestamp) -> Self {
        Self { run_id: Self::fresh_id(), started_at: clock::iso(clock::shifted(now, -3600)), ..self.clone() }
    }

    pub fn run_id_sha256(&self) -> String {
        sha256_hex(&self.run_id)
    }

    pub fn policy_sha256(&self) -> String {
        sha256_hex(&self.policy)
    }

    pub fn inputs_sha256(&self) -> String {
        sha256_hex(crate::canonical::canonical(&Value::Object(self.params.clone())))
    }

    /// Reads back who a run folder is about, from its report.
    pub fn of_run_dir(run_dir: &Path) -> io::Result<Self> {
        let report = files::read_json(&run_dir.join("report.json"))?;
        let text = |key: &str| report[key].as_str().unwrap_or_default().to_owned();
        let run_id = files::read_json(&run_dir.join(".durable_run.claim"))
            .ok()
            .and_then(|claim| claim["run_id"].as_str().map(str::to_owned))
            .unwrap_or_else(|| text("governed_authorization_id"));
        Ok(Self {
            run_id,
            workflow_name: text("workflow_name"),
            started_at: text("started_at"),
            profile: report["execution_profile"].as_str().and_then(Profile::named),
            content_digest: text("bundle_content_digest"),
            contract_sha256: text("workflow_contract_sha256"),
            parameters_sha256: text("parameter_schema_sha256"),
            policy: text("governed_policy_name"),
            approval_source: text("governed_approval_source"),
            url: report["execution_entry_url"].as_str().map(str::to_owned),
            params: report["params"].as_object().cloned().unwrap_or_default(),
        })
    }
}

/// The digests of a bundle that is identified by its content digest alone.
pub fn contract_digest(content_digest: &str) -> String {
    digest(&Value::from(format!("flow-fake contract of {content_digest}"))).trim_start_matches("sha256:").to_owned()
}
