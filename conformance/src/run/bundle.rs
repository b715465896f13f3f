//! Writes workflow bundles as Flow's compiler leaves them: every default spelled out, sealed by a manifest.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::variables::hex;
use crate::scenario::model::{Bundle, BundleFault, Card, Manifest};

/// What the judge knows of a bundle that it wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    pub dir: String,
    /// The public id, where it can be derived: the bundle can be loaded, or has marker files that can be read.
    pub public_id: Option<String>,
}

/// Writes `bundle` below `root` and breaks it as it asks to be broken.
pub fn write(root: &Path, bundle: &Bundle) -> io::Result<Written> {
    let folder = if bundle.dir == "." { root.to_owned() } else { root.join(&bundle.dir) };
    fs::create_dir_all(&folder)?;
    for (name, text) in &bundle.templates {
        write_below(&folder.join("templates"), name, text)?;
    }
    for (name, text) in &bundle.extra {
        write_below(&folder, name, text)?;
    }
    let workflow = workflow_of(bundle);
    let manifest = manifest_of(&workflow, bundle);
    let digest = manifest["content_digest"].as_str().unwrap_or_default().to_owned();
    let mut whole = workflow;
    if bundle.manifest == Manifest::Sound {
        whole["manifest"] = manifest.clone();
    }
    fs::write(folder.join("workflow.json"), pretty(&whole))?;
    if bundle.manifest != Manifest::None {
        fs::write(folder.join("manifest.json"), pretty(&manifest))?;
    }
    if let Some(card) = card_of(bundle) {
        fs::write(folder.join("openadapt-card.json"), card)?;
    }
    match bundle.fault {
        Some(fault) => break_it(root, &folder, bundle, fault)?,
        None if bundle.manifest == Manifest::None => return Ok(Written { dir: bundle.dir.clone(), public_id: None }),
        None => return Ok(Written { dir: bundle.dir.clone(), public_id: Some(public_id(digest.as_bytes())) }),
    }
    Ok(Written { dir: bundle.dir.clone(), public_id: public_id_of_markers(&folder) })
}

/// A bundle that was recorded elsewhere.
pub fn copy(root: &Path, bundle: &Bundle, recorded: Option<&Path>) -> io::Result<Written> {
    let recorded = recorded.ok_or_else(|| io::Error::other("the real Flow has recorded no bundle here"))?;
    copy_folder(recorded, &root.join(&bundle.dir))?;
    Ok(Written { dir: bundle.dir.clone(), public_id: None })
}

/// The bundle of the recorded workflow, as the stand-in itself writes it.
pub fn ask_for(stand_in: &[String], folder: &Path) -> io::Result<()> {
    let (program, words) = stand_in.split_first().ok_or_else(|| io::Error::other("no command for Flow"))?;
    let mut command = Command::new(program);
    let status = command.args(words).arg("bundle").arg(folder).stdin(Stdio::null()).stdout(Stdio::null()).status()?;
    if status.success() {
        Ok(())
    } else {
        Err(io::Error::other(format!("`bundle` of the stand-in ended with {status}")))
    }
}

/// What the judge adds to a recorded bundle: its card and its fault.
pub fn furnish_recorded(root: &Path, bundle: &Bundle) -> io::Result<()> {
    let folder = root.join(&bundle.dir);
    if let Some(card) = card_of(bundle) {
        fs::write(folder.join("openadapt-card.json"), card)?;
    }
    bundle.fault.map_or(Ok(()), |fault| break_it(root, &folder, bundle, fault))
}

fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => copy_folder(&entry.path(), &to.join(entry.file_name()))?,
            false => fs::copy(entry.path(), to.join(entry.file_name())).map(|_| ())?,
        }
    }
    Ok(())
}

/// Keys sorted, no spaces, non-ASCII kept.
pub fn canonical(value: &Value) -> String {
    sorted(value).to_string()
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        Value::Object(table) => {
            let mut keys: Vec<&String> = table.keys().collect();
            keys.sort();
            Value::Object(keys.into_iter().map(|key| (key.clone(), sorted(&table[key]))).collect())
        }
        other => other.clone(),
    }
}

/// RFC 7396.
pub fn merge_patch(target: &mut Value, patch: &Value) {
    let Some(patch) = patch.as_object() else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    if let Some(object) = target.as_object_mut() {
        for (key, value) in patch {
            if value.is_null() {
                object.remove(key);
            } else {
                merge_patch(object.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
    }
}

fn public_id(material: &[u8]) -> String {
    let mut hash = Sha256::new();
    hash.update(b"openadapt-agent-workflow-id-v1\0");
    hash.update(material);
    format!("workflow_{}", &hex(&hash.finalize())[..24])
}

fn public_id_of_markers(folder: &Path) -> Option<String> {
    let mut hash = Sha256::new();
    let mut any = false;
    for marker in ["workflow.json", "workflow.json.enc"] {
        let path = folder.join(marker);
        if fs::symlink_metadata(&path).is_ok_and(|facts| facts.is_file()) {
            hash.update(marker.as_bytes());
            hash.update(fs::read(&path).ok()?);
            any = true;
        }
    }
    any.then(|| public_id(&hash.finalize()))
}

fn workflow_of(bundle: &Bundle) -> Value {
    let name =
        bundle.name.clone().unwrap_or_else(|| if bundle.dir == "." { "workflow".into() } else { bundle.dir.clone() });
    let params = bundle.params.clone().unwrap_or_else(|| Map::from_iter([("note".to_owned(), json!("example"))]));
    let mut specs = Map::new();
    for (name, example) in &params {
        specs.insert(name.clone(), spec_of(name, example, bundle.param_specs.get(name)));
    }
    for (name, spec) in &bundle.param_specs {
        specs.entry(name.clone()).or_insert_with(|| spec_of(name, &Value::Null, Some(spec)));
    }
    let steps = bundle.steps.clone().unwrap_or_else(|| vec![json!({"id": "step_000", "action": "key", "key": "Tab"})]);
    let mut workflow = json!({
        "schema_version": 2, "name": name, "recording_id": "recording-1", "contains_phi": false, "phi_scrubbed": false,
        "encrypted": false, "created_at": "2026-01-01T00:00:00+00:00", "viewport": [1280, 800], "params": params,
        "param_specs": specs, "secret_params": [], "steps": steps.iter().map(step_of).collect::<Vec<_>>(),
        "program": null, "subflows": {}, "data_sources": {},
    });
    merge_patch(&mut workflow, &Value::Object(bundle.workflow.clone()));
    workflow
}

fn spec_of(name: &str, example: &Value, written: Option<&Value>) -> Value {
    let mut spec = json!({"name": name, "type": "string", "example": example, "required": true, "choices": []});
    if let Some(written) = written {
        merge_patch(&mut spec, written);
    }
    spec
}

fn step_of(written: &Value) -> Value {
    let mut step = json!({
        "id": "step", "intent": "press a key", "action": "key", "anchor": null, "text": null, "param": null, "secret": false,
        "key": null, "scroll_dx": 0, "scroll_dy": 0, "expect": [], "effects": [],
        "api_binding": null, "risk": "reversible", "wait_until": null, "guard": null, "timeout_s": 10.0,
        "identity_armed": null, "identity_unarmed_reason": null, "identifier_crop_missing_reason": null,
    });
    if let (Some(object), Some(written)) = (step.as_object_mut(), written.as_object()) {
        object.extend(written.clone());
    }
    step
}

fn manifest_of(workflow: &Value, bundle: &Bundle) -> Value {
    let hashes: Map<String, Value> = bundle
        .templates
        .iter()
        .map(|(name, text)| (format!("templates/{name}"), hex(&Sha256::digest(text.as_bytes())).into()))
        .collect();
    let hashes = sorted(&Value::Object(hashes));
    let sealed = canonical(&json!({"workflow": workflow, "files": hashes}));
    json!({
        "schema_version": 2, "content_digest": hex(&Sha256::digest(sealed.as_bytes())), "file_hashes": hashes,
        "provenance": {"compiler_version": "1.35.1", "source_recording_sha256": null, "compiler_config_sha256": null,
            "created_at": "2026-01-01T00:00:00+00:00", "policy_name": null, "certified": false,
            "certification_status": null, "certified_at": null, "expires_at": null,
            "certification_invalidated_at": null, "certification_invalidation_reason": null,
            "governed_authorization_template": null},
        "encrypted": false,
    })
}

fn card_of(bundle: &Bundle) -> Option<String> {
    if let Some(text) = &bundle.card_text {
        return Some(text.clone());
    }
    match &bundle.card {
        Some(Card::Wanted(false)) => None,
        Some(Card::Keys(keys)) => {
            let mut card = keys.clone();
            card.entry("name").or_insert_with(|| default_card_name(bundle).into());
            if card["name"].is_null() {
                card.remove("name");
            }
            Some(pretty(&Value::Object(card)))
        }
        Some(Card::Wanted(true)) | None => Some(pretty(&json!({"name": default_card_name(bundle)}))),
    }
}

fn default_card_name(bundle: &Bundle) -> String {
    let base = if bundle.dir == "." { bundle.name.as_deref().unwrap_or("workflow") } else { &bundle.dir };
    base.replace('-', "_")
}

fn break_it(root: &Path, folder: &Path, bundle: &Bundle, fault: BundleFault) -> io::Result<()> {
    let workflow = folder.join("workflow.json");
    let template = bundle.templates.keys().next().map(|name| folder.join("templates").join(name));
    let template = || template.clone().ok_or_else(|| io::Error::other("this fault needs a template in the bundle"));
    match fault {
        BundleFault::TamperedWorkflow => {
            edit(&workflow, |whole| whole["created_at"] = "2026-01-01T00:00:01+00:00".into())
        }
        BundleFault::TamperedTemplate => fs::write(template()?, "changed after sealing"),
        BundleFault::MissingTemplate => fs::remove_file(template()?),
        BundleFault::TamperedDigest => edit(&workflow, |whole| {
            whole["manifest"]["content_digest"] = "0".repeat(64).into();
        }),
        BundleFault::SymlinkedWorkflow => through_a_link(&workflow, &root.with_file_name("elsewhere.json")),
        BundleFault::SymlinkedTemplate => through_a_link(&template()?, &root.with_file_name("elsewhere.png")),
        BundleFault::SymlinkedCard => {
            through_a_link(&folder.join("openadapt-card.json"), &root.with_file_name("elsewhere-card.json"))
        }
        BundleFault::SymlinkedDir => through_a_link(folder, &root.with_file_name("elsewhere")),
        BundleFault::NotJson => fs::write(workflow, "{\"name\": "),
        BundleFault::NotUtf8 => fs::write(workflow, b"{\"name\": \"\xff\xfe\"}"),
        BundleFault::NoName => edit(&workflow, |whole| {
            if let Some(whole) = whole.as_object_mut() {
                whole.remove("name");
                whole.remove("manifest");
            }
        })
        .and_then(|()| fs::remove_file(folder.join("manifest.json"))),
        BundleFault::EmptyFile => fs::write(workflow, ""),
        BundleFault::Encrypted => fs::write(folder.join("workflow.json.enc"), encrypted_container(None)),
        BundleFault::EncryptedOnly => {
            let inside: Value = serde_json::from_slice(&fs::read(&workflow)?)?;
            fs::remove_file(workflow)?;
            edit(&folder.join("manifest.json"), |manifest| manifest["encrypted"] = true.into())?;
            fs::write(folder.join("workflow.json.enc"), encrypted_container(Some(inside)))
        }
    }
}

fn edit(path: &Path, change: impl FnOnce(&mut Value)) -> io::Result<()> {
    let mut whole: Value = serde_json::from_slice(&fs::read(path)?)?;
    change(&mut whole);
    fs::write(path, pretty(&whole))
}

fn through_a_link(path: &Path, elsewhere: &Path) -> io::Result<()> {
    fs::rename(path, elsewhere)?;
    symlink(elsewhere, path)
}

/// Nobody has the key of it; a stand-in for Flow finds the workflow beside the ciphertext.
fn encrypted_container(inside: Option<Value>) -> String {
    pretty(&json!({
        "stand_in": inside,
        "format": "openadapt-flow-enc", "version": 1, "cipher": "AES-256-GCM", "kdf": "scrypt", "kdf_n": 32768, "kdf_r": 8,
        "kdf_p": 1, "salt": "c2FsdHNhbHRzYWx0c2FsdA==", "nonce": "bm9uY2Vub25jZTEy", "ciphertext": "Y2lwaGVydGV4dA==",
    }))
}

fn write_below(folder: &Path, name: &str, text: &str) -> io::Result<()> {
    let path = folder.join(name);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(path, text)
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &Path) -> Value {
        serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
    }

    #[test]
    fn a_sound_bundle_carries_the_digest_of_its_own_file() {
        let root = tempfile::tempdir().unwrap();
        let mut bundle = Bundle::triage();
        bundle.templates.insert("a.png".into(), "picture".into());
        let written = write(root.path(), &bundle).unwrap();

        let mut workflow = read(&root.path().join("triage/workflow.json"));
        let manifest = workflow.as_object_mut().unwrap().remove("manifest").unwrap();
        let sealed = canonical(&json!({"workflow": workflow, "files": manifest["file_hashes"]}));
        assert_eq!(manifest["content_digest"], hex(&Sha256::digest(sealed.as_bytes())));
        assert_eq!(manifest["file_hashes"]["templates/a.png"], hex(&Sha256::digest(b"picture")));
        assert!(written.public_id.unwrap().starts_with("workflow_"));
        assert_eq!(read(&root.path().join("triage/openadapt-card.json")), json!({"name": "triage"}));
    }

    #[test]
    fn every_fault_changes_what_lies_there() {
        use BundleFault::*;
        let all = [
            TamperedWorkflow,
            TamperedTemplate,
            MissingTemplate,
            TamperedDigest,
            SymlinkedWorkflow,
            SymlinkedTemplate,
            SymlinkedCard,
            SymlinkedDir,
            NotJson,
            NotUtf8,
            NoName,
            EmptyFile,
            Encrypted,
            EncryptedOnly,
        ];
        let listing = |fault| {
            let world = tempfile::tempdir().unwrap();
            let mut bundle = Bundle { fault, ..Bundle::triage() };
            bundle.templates.insert("a.png".into(), "picture".into());
            write(&world.path().join("bundles"), &bundle).unwrap();
            let seen = crate::evidence::files::walk(&world.path().join("bundles"));
            seen.into_iter().map(|file| (file.kind, file.text)).collect::<Vec<_>>()
        };
        let sound = listing(None);
        for fault in all {
            assert_ne!(listing(Some(fault)), sound, "{fault:?}");
        }
    }

    #[test]
    fn a_merge_patch_removes_with_null() {
        let mut value = json!({"a": {"b": 1, "c": 2}});
        merge_patch(&mut value, &json!({"a": {"b": null, "d": [3]}}));
        assert_eq!(value, json!({"a": {"c": 2, "d": [3]}}));
    }
}
