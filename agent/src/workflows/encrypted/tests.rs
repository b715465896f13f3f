use std::fs;
use std::path::PathBuf;

use super::*;
use crate::workflows::catalog::Catalog;
use crate::workflows::testing::Bundles;

const DIGEST: &str = "9318c182665846957a97b5f18b9cd87f92cb9fbe12c8941dff87dc5d3d14f179";

fn told() -> Map<String, Value> {
    let told = json!({
        "name": "add_note", "params": {"note": "x", "when": "2026-01-01"},
        "param_specs": {"when": {"name": "when", "type": "date"}},
        "step_count": 6, "schema_version": 2, "encrypted": true, "content_digest": DIGEST, "changes_records": false,
    });
    if let Value::Object(told) = told { told } else { Map::new() }
}

fn encrypted(bundles: &Bundles) -> PathBuf {
    let folder = bundles.path().join("sealed");
    fs::create_dir_all(folder.join("templates")).unwrap();
    fs::write(folder.join("workflow.json.enc"), "ciphertext").unwrap();
    fs::write(folder.join("manifest.json"), "{}").unwrap();
    fs::write(folder.join("templates/step_000.png.enc"), "picture").unwrap();
    folder
}

#[test]
fn what_flow_says_is_listed_and_nothing_of_it_is_believed_without_its_shape() {
    let bundles = Bundles::new();
    let folder = encrypted(&bundles);
    let bundle = load(&folder, &|_| Some(told())).unwrap();
    let names: Vec<_> = bundle.shape.params.iter().map(|param| param.name.as_str()).collect();
    assert_eq!((names, bundle.shape.step_count, bundle.shape.changes_records), (vec!["note", "when"], 6, false));
    assert_eq!(bundle.seal.sealed(), Some(DIGEST));
    let with = |key: &str, value: Value| {
        load(&folder, &|_| Some(told().into_iter().chain([(key.to_owned(), value.clone())]).collect()))
    };
    assert_eq!(with("content_digest", json!("Ada")), Err(LoadError::Manifest));
    assert_eq!(with("params", json!({"note": 1})), Err(LoadError::Params));
    assert_eq!(with("param_specs", json!({"when": {"name": "when", "type": "secret"}})), Err(LoadError::Params));
    assert_eq!(with("schema_version", json!(9)), Err(LoadError::Version));
    assert_eq!(with("step_count", Value::Null), Err(LoadError::Steps));
    assert_eq!(with("changes_records", Value::Null).map(|bundle| bundle.shape.changes_records), Ok(true));
    assert_eq!(load(&folder, &|_| None), Err(LoadError::Encrypted));
}

#[test]
fn an_encrypted_bundle_is_run_only_as_it_was_when_flow_described_it() {
    for changed in ["workflow.json.enc", "manifest.json", "templates/step_000.png.enc", "templates/new.png.enc"] {
        let bundles = Bundles::new();
        let folder = encrypted(&bundles);
        let catalog = Catalog::discover(bundles.path(), &|_| Some(told())).unwrap();
        let workflow = catalog.iter().next().unwrap();
        assert!(workflow.available() && workflow.encrypted);
        assert_eq!(workflow.recheck(), Ok(()));
        fs::write(folder.join(changed), "another").unwrap();
        assert_eq!(workflow.recheck(), Err(LoadError::Replaced), "{changed}");
    }
}

#[test]
fn flow_is_asked_about_encrypted_bundles_only() {
    let bundles = Bundles::new();
    bundles.add("plain", &crate::workflows::testing::workflow("plain").to_string());
    let asked = std::cell::Cell::new(0);
    let ask = |_: &Path| {
        asked.set(asked.get() + 1);
        None
    };
    Catalog::discover(bundles.path(), &ask).unwrap();
    assert_eq!(asked.get(), 0);
    encrypted(&bundles);
    Catalog::discover(bundles.path(), &ask).unwrap();
    assert_eq!(asked.get(), 1);
}
