//! What a `run` command line asks for: the bundle, its inputs and where the run goes.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use thiserror::Error;

use crate::canonical::{canonical, sha256_hex};
use crate::report::{Profile, Subject};
use crate::{clock, report};

/// What the stand-in needs to know of a bundle.
#[derive(Debug, Clone)]
pub struct Bundle {
    pub path: PathBuf,
    pub folder: String,
    pub name: String,
    pub content_digest: String,
    pub examples: Map<String, Value>,
    pub has_templates: bool,
    pub steps: usize,
    parameters_sha256: String,
}

/// A bundle that Flow would not load.
#[derive(Debug, Error)]
#[error("bundle could not be loaded safely")]
pub struct Unloadable;

/// The encrypted form wins over a plain one beside it.
pub fn is_encrypted(bundle: &Path) -> bool {
    bundle.join(ENCRYPTED).is_file()
}

/// The workflow file. Of an encrypted bundle the member `stand_in` of the container, or the container itself: it needs its
/// passphrase in the environment, and which one is not looked at.
pub fn workflow_text(bundle: &Path) -> Result<Vec<u8>, Unloadable> {
    if !is_encrypted(bundle) {
        return fs::read(bundle.join("workflow.json")).map_err(|_| Unloadable);
    }
    let container = fs::read(bundle.join(ENCRYPTED)).map_err(|_| Unloadable)?;
    if std::env::var_os("OPENADAPT_BUNDLE_KEY").is_none_or(|key| key.is_empty()) {
        return Err(Unloadable);
    }
    let whole: Value = serde_json::from_slice(&container).unwrap_or_default();
    Ok(if whole["stand_in"].is_object() { whole["stand_in"].to_string().into_bytes() } else { container })
}

const ENCRYPTED: &str = "workflow.json.enc";

/// The text that Flow ends with, on stderr with exit 1.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("{0}")]
pub struct BadInputs(pub String);

const MOST_PARAMS: usize = 100;
const SAFE_INTEGER: i64 = (1 << 53) - 1;

impl Bundle {
    pub fn load(path: &Path) -> Result<Self, Unloadable> {
        let bytes = workflow_text(path)?;
        let Ok(workflow) = serde_json::from_slice::<Value>(&bytes) else { return Err(Unloadable) };
        if !is_encrypted(path) && !seal_holds(path, &workflow) {
            return Err(Unloadable);
        }
        let name = match workflow["name"].as_str() {
            Some(name) => name.to_owned(),
            // A container that holds nothing for a stand-in.
            None if is_encrypted(path) => folder_name(path),
            None => return Err(Unloadable),
        };
        let sealed = workflow["manifest"]["content_digest"].as_str().map(str::to_owned);
        let examples = workflow["params"].as_object().cloned().unwrap_or_default();
        let content_digest = sealed.unwrap_or_else(|| sha256_hex(&bytes));
        let mut bundle = Self::new(path, name, content_digest, examples, &workflow["param_specs"]);
        bundle.steps = workflow["steps"].as_array().map_or(0, Vec::len);
        Ok(bundle)
    }

    fn new(path: &Path, name: String, content_digest: String, examples: Map<String, Value>, specs: &Value) -> Self {
        Self {
            path: path.to_owned(),
            folder: folder_name(path),
            name,
            content_digest,
            parameters_sha256: sha256_hex(canonical(&json!([examples, specs]))),
            examples,
            has_templates: path.join("templates").is_dir(),
            steps: 0,
        }
    }

    pub fn subject(
        &self,
        profile: Option<Profile>,
        policy: &str,
        url: Option<&str>,
        params: Map<String, Value>,
    ) -> Subject {
        let mut merged = self.examples.clone();
        merged.extend(params);
        Subject {
            run_id: Subject::fresh_id(),
            workflow_name: self.name.clone(),
            started_at: clock::iso(clock::now()),
            profile,
            content_digest: self.content_digest.clone(),
            contract_sha256: report::contract_digest(&self.content_digest),
            parameters_sha256: self.parameters_sha256.clone(),
            policy: policy.into(),
            approval_source: "local-cli-explicit-flag".into(),
            url: url.map(str::to_owned),
            params: merged,
        }
    }
}

/// Whether a bundle is still what its manifest was made of; one without a manifest is as it is.
fn seal_holds(bundle: &Path, workflow: &Value) -> bool {
    let manifest = &workflow["manifest"];
    let Some(digest) = manifest["content_digest"].as_str() else { return true };
    let mut sealed = workflow.clone();
    if let Some(members) = sealed.as_object_mut() {
        members.remove("manifest");
        members.retain(|name, value| name != "interstitials" || *value != json!([]));
    }
    let files = manifest["file_hashes"].as_object().cloned().unwrap_or_default();
    let kept =
        files.iter().all(|(name, hash)| fs::read(bundle.join(name)).is_ok_and(|bytes| sha256_hex(bytes) == *hash));
    kept && sha256_hex(canonical(&json!({"workflow": sealed, "files": files}))) == digest
}

/// The last component of a path, also of one that doesn't exist.
pub fn folder_name(path: &Path) -> String {
    let resolved = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    resolved.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The inputs of a run: the file's, overridden by `--param`.
pub fn read_params(file: Option<&str>, pairs: &[String]) -> Result<Map<String, Value>, BadInputs> {
    let mut params = file.map_or_else(|| Ok(Map::new()), |path| read_params_file(Path::new(path)))?;
    for pair in pairs {
        let (name, value) =
            pair.split_once('=').ok_or_else(|| BadInputs(format!("--param needs NAME=VALUE, not {pair}")))?;
        params.insert(name.into(), value.into());
    }
    Ok(params)
}

/// Permission bits of a file, as four octal digits.
pub fn mode_of(path: &Path) -> io::Result<String> {
    Ok(format!("{:04o}", fs::metadata(path)?.permissions().mode() & 0o7777))
}

fn read_params_file(path: &Path) -> Result<Map<String, Value>, BadInputs> {
    let bad = |problem: &str| BadInputs(format!("--params-file {}: {problem}", path.display()));
    let bytes = fs::read(path).map_err(|error| bad(&error.to_string()))?;
    let value: Value = serde_json::from_slice(&bytes).map_err(|error| bad(&error.to_string()))?;
    let Value::Object(params) = value else {
        return Err(bad("it must hold one JSON object"));
    };
    if params.len() > MOST_PARAMS {
        return Err(bad("it holds more than 100 parameters"));
    }
    for (name, value) in &params {
        let usable = match value {
            Value::String(_) | Value::Bool(_) => true,
            Value::Number(number) => number.as_i64().map_or(number.is_f64(), |whole| whole.abs() <= SAFE_INTEGER),
            _ => false,
        };
        if name.is_empty() || !usable {
            return Err(bad("every parameter needs a name and a text, number or boolean value"));
        }
    }
    Ok(params)
}
