//! Bundles for this room's tests.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::defaults::Written;
use super::integrity::{content_digest, hashes_on_disk};
use crate::flow::canonical::Tree;

/// Sealed by a program that shares no code with this one. Its one picture holds [`PICTURE`].
pub const SEALED: &str = include_str!("testing/sealed_workflow.json");
pub const SEALED_DIGEST: &str = "9318c182665846957a97b5f18b9cd87f92cb9fbe12c8941dff87dc5d3d14f179";
pub const SEALED_ID: &str = "workflow_b5c48a677b66f02c3d6ddaea";
pub const PICTURE: &str = "not really a picture";

/// A folder of bundles that goes away with the test.
pub struct Bundles(TempDir);

impl Bundles {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// A bundle with this workflow file and one picture.
    pub fn add(&self, folder: &str, workflow: &str) -> PathBuf {
        let bundle = self.path().join(folder);
        fs::create_dir_all(bundle.join("templates")).unwrap();
        fs::write(bundle.join("workflow.json"), workflow).unwrap();
        fs::write(bundle.join("templates/step_000.png"), PICTURE).unwrap();
        bundle
    }

    /// The same, sealed.
    pub fn add_sealed(&self, folder: &str, mut workflow: Value) -> PathBuf {
        let bundle = self.add(folder, &workflow.to_string());
        workflow["manifest"] = manifest(&bundle);
        fs::write(bundle.join("workflow.json"), workflow.to_string()).unwrap();
        bundle
    }

    pub fn add_card(&self, folder: &str, card: &Value) {
        fs::write(self.path().join(folder).join("openadapt-card.json"), card.to_string()).unwrap();
    }
}

/// A workflow with one input for each type and one step that only moves the focus.
pub fn workflow(name: &str) -> Value {
    let spec = |name: &str, kind: &str, choices: &[&str]| json!({ "name": name, "type": kind, "choices": choices });
    json!({
        "schema_version": 2,
        "name": name,
        "created_at": "2026-01-01T00:00:00+00:00",
        "params": { "note": "recorded note", "seen_on": "2026-01-02", "count": "3", "urgent": "true", "ward": "east", "who": "r" },
        "param_specs": {
            "note": spec("note", "string", &[]),
            "seen_on": spec("seen_on", "date", &[]),
            "count": spec("count", "number", &[]),
            "urgent": spec("urgent", "boolean", &[]),
            "ward": spec("ward", "enum", &["east", "west"]),
            "no_param": spec("no_param", "string", &[]),
        },
        "steps": [{ "id": "step_000", "intent": "press Tab", "action": "key", "key": "Tab" }],
    })
}

/// What a seal of this bundle would be now.
pub fn manifest(bundle: &Path) -> Value {
    let bytes = fs::read(bundle.join("workflow.json")).unwrap();
    let mut workflow = Tree::parse(&bytes, bytes.len()).unwrap();
    let hashes = hashes_on_disk(&mut workflow, bundle).unwrap();
    let listed: Value = hashes.iter().map(|(path, hash)| (path.clone(), json!(hash.as_text().unwrap()))).collect();
    json!({ "schema_version": 2, "content_digest": content_digest(workflow, Written::InFull, hashes), "file_hashes": listed })
}
