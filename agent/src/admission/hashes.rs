//! The digests of the admission world, each spelled `sha256:` and hex.

use crate::flow::canonical::{Tree, sha256_hex};

use super::reading::with_line_feed;

/// Over some text, a NUL and the canonical form.
pub fn in_domain(domain: &str, value: &Tree) -> String {
    let mut bytes = domain.as_bytes().to_vec();
    bytes.push(0);
    bytes.extend(value.canonical_bytes());
    of_bytes(&bytes)
}

/// Over the bytes under which an object is registered.
pub fn of_object(object: &Tree) -> String {
    of_bytes(&with_line_feed(object))
}

pub fn of_bytes(bytes: &[u8]) -> String {
    format!("sha256:{}", sha256_hex(bytes))
}

/// What an object means, whatever its place.
pub fn semantic_identity(kind: &str, schema_version: &str, object: &Tree) -> String {
    let value = Tree::map([
        ("kind", Tree::text(kind)),
        ("object_schema_version", Tree::text(schema_version)),
        ("object", object.clone()),
    ]);
    in_domain("OpenAdapt production evidence semantic identity v1", &value)
}

/// The object without some of its members.
pub fn without(object: &Tree, keys: &[&str]) -> Tree {
    let mut rest = object.clone();
    if let Some(entries) = rest.as_map_mut() {
        entries.retain(|key, _| !keys.contains(&key.as_str()));
    }
    rest
}
