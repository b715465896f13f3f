//! Encrypted bundles: what Flow says of one, and whether its files are still those that it spoke of.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::bundle::{Bundle, ENCRYPTED, LoadError, SIDECAR, Seal};
use super::integrity::{hash_folder, hash_of};
use super::shape::Shape;
use crate::flow::canonical::Tree;
use crate::flow::hex_text::is_hex;

/// Asks Flow what the bundle in a folder is. Nothing where Flow doesn't load it, or can't be asked.
pub type AskFlow<'a> = &'a dyn Fn(&Path) -> Option<Map<String, Value>>;

/// Describes a bundle in Flow's words. Its files are noted before Flow is asked: a change in between is seen afterwards.
pub fn load(folder: &Path, ask: AskFlow<'_>) -> Result<Bundle, LoadError> {
    let ciphertext = fingerprint(folder)?;
    let told = ask(folder).ok_or(LoadError::Encrypted)?;
    let digest = told.get("content_digest").and_then(Value::as_str).filter(|digest| is_hex(digest, 64));
    let seal = Seal::Sealed(digest.ok_or(LoadError::Manifest)?.to_owned());
    Ok(Bundle { shape: shape(&told)?, seal, ciphertext: Some(ciphertext) })
}

/// One digest of every file that Flow decrypts.
pub fn fingerprint(folder: &Path) -> Result<String, LoadError> {
    let mut hashes = BTreeMap::new();
    hash_folder(folder, "templates", &mut hashes)?;
    for name in [ENCRYPTED, SIDECAR] {
        match hash_of(folder, name) {
            Ok(hash) => hashes.insert(name.to_owned(), Tree::Text(hash)),
            Err(LoadError::AssetMissing) if name == SIDECAR => None,
            Err(fault) => return Err(fault),
        };
    }
    Ok(Tree::Map(hashes).sha256_hex())
}

/// Inputs are read by the same rules as those of a workflow file.
fn shape(told: &Map<String, Value>) -> Result<Shape, LoadError> {
    let member = |key: &str| told.get(key).filter(|value| !value.is_null());
    let sparse = json!({
        "schema_version": member("schema_version"),
        "name": member("name"),
        "params": member("params"),
        "param_specs": member("param_specs").cloned().unwrap_or_else(|| json!({})),
    });
    let text = sparse.to_string();
    let shape = Shape::read(&mut Tree::parse(text.as_bytes(), text.len())?)?;
    let step_count = member("step_count").and_then(Value::as_u64).and_then(|count| usize::try_from(count).ok());
    let changes_records = member("changes_records").and_then(Value::as_bool).unwrap_or(true);
    Ok(Shape { step_count: step_count.ok_or(LoadError::Steps)?, changes_records, ..shape })
}

#[cfg(test)]
mod tests;
