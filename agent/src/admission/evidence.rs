//! Evidence packs: the registered bytes that a verdict is verified with, from one file or from a folder. Read whole, believed
//! not at all: that is for those who verify it.

use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::reading::{registered, strict};
use super::shape::Members;
use super::signature::object_sha256_in;
use super::trust::TrustRoot;
use crate::admission::hashes::of_bytes;
use crate::flow::canonical::Tree;
use crate::workflows::files;

const PACK_LIMIT: usize = 1 << 20;
pub(super) const OBJECT_LIMIT: usize = 64 << 10;
const REGISTRY_LIMIT: usize = 1 << 20;
const MOST_OBJECTS: usize = 64;
const SCHEMA: &str = "openadapt-agent.admission-evidence-pack/v1";
const KEYS: [&str; 6] = [
    "schema_version",
    "signer_registry_base64",
    "authority_state_base64",
    "revocation_state_base64",
    "objects",
    "receipts_base64",
];
const RECEIPT: &str = "openadapt.qualification-evidence-decision-receipt/v2";

/// The exact bytes of everything that was registered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pack {
    pub registry: Vec<u8>,
    pub authority_state: Vec<u8>,
    pub revocation_state: Vec<u8>,
    pub objects: Vec<SignedObject>,
    pub receipts: Vec<Vec<u8>>,
}

/// A registered object and the bundle that signs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedObject {
    pub object: Vec<u8>,
    pub bundle: Vec<u8>,
}

impl Pack {
    /// Nothing for a place that holds no pack.
    pub fn read(place: &Path, root: &TrustRoot) -> Option<Self> {
        let place = place.canonicalize().ok()?;
        if place.is_dir() {
            Self::of_folder(&place, root)
        } else {
            Self::of_file(&files::read(&place, PACK_LIMIT).ok()?)
        }
    }

    /// A container, which has few spellings: each byte of it counts.
    pub fn of_file(bytes: &[u8]) -> Option<Self> {
        let tree = strict(bytes, PACK_LIMIT).ok()?;
        let members = Members::closed(&tree, &KEYS)?;
        let carried = |key: &str| STANDARD.decode(members.text(key)?).ok();
        let objects = members.list("objects")?.iter().map(signed_object).collect::<Option<Vec<_>>>()?;
        let receipts = members.texts("receipts_base64")?.into_iter().map(|text| STANDARD.decode(text).ok());
        let pack = Self {
            registry: carried("signer_registry_base64")?,
            authority_state: carried("authority_state_base64")?,
            revocation_state: carried("revocation_state_base64")?,
            objects,
            receipts: receipts.collect::<Option<Vec<_>>>()?,
        };
        let plain = members.is("schema_version", SCHEMA) && is_plainly_written(bytes, &tree);
        (plain && pack.objects.len() <= MOST_OBJECTS && pack.receipts.len() <= MOST_OBJECTS).then_some(pack)
    }

    /// A folder with `signer-registry.json`, `authority-state.json`, `revocation-state.json` and, in `objects`, the registered
    /// objects, their bundles and receipts under any name that ends with `.json`.
    fn of_folder(folder: &Path, root: &TrustRoot) -> Option<Self> {
        let part = |name: &str, limit| files::read(&folder.join(name), limit).ok();
        let mut pack = Self {
            registry: part("signer-registry.json", REGISTRY_LIMIT)?,
            authority_state: part("authority-state.json", OBJECT_LIMIT)?,
            revocation_state: part("revocation-state.json", OBJECT_LIMIT)?,
            ..Self::default()
        };
        let mut bundles = Vec::new();
        for path in names_in(&folder.join("objects"))? {
            let bytes = files::read(&path, OBJECT_LIMIT).ok()?;
            let tree = registered(&bytes, OBJECT_LIMIT)?;
            if tree.get("mediaType").is_some() {
                bundles.push(bytes);
            } else if tree.get("schema_version").and_then(Tree::as_text) == Some(RECEIPT) {
                pack.receipts.push(bytes);
            } else {
                pack.objects.push(SignedObject { object: bytes, bundle: Vec::new() });
            }
        }
        for bundle in bundles {
            let about = object_sha256_in(&bundle, root)?;
            let object = pack.objects.iter_mut().find(|signed| of_bytes(&signed.object) == about)?;
            object.bundle = bundle;
        }
        Some(pack)
    }
}

fn signed_object(tree: &Tree) -> Option<SignedObject> {
    let members = Members::closed(tree, &["object_base64", "bundle_base64"])?;
    let carried = |key: &str| STANDARD.decode(members.text(key)?).ok();
    Some(SignedObject { object: carried("object_base64")?, bundle: carried("bundle_base64")? })
}

fn names_in(folder: &Path) -> Option<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).ok()?.take(MOST_OBJECTS * 3);
    let mut names = entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>().ok()?;
    names.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    names.sort();
    Some(names)
}

/// Sorted keys; on one line, or indented by one or two blanks; with or without a line feed at the end.
fn is_plainly_written(bytes: &[u8], tree: &Tree) -> bool {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let indented = |width| {
        let mut text = String::new();
        indent(tree, width, 0, &mut text);
        text.into_bytes()
    };
    bytes == tree.canonical_bytes() || bytes == indented(1) || bytes == indented(2)
}

fn indent(tree: &Tree, width: usize, depth: usize, out: &mut String) {
    let line = |depth: usize, out: &mut String| {
        out.push('\n');
        out.push_str(&" ".repeat(width * depth));
    };
    match tree {
        Tree::List(items) if !items.is_empty() => {
            for (index, item) in items.iter().enumerate() {
                out.push(if index == 0 { '[' } else { ',' });
                line(depth + 1, out);
                indent(item, width, depth + 1, out);
            }
            line(depth, out);
            out.push(']');
        }
        Tree::Map(entries) if !entries.is_empty() => {
            for (index, (key, value)) in entries.iter().enumerate() {
                out.push(if index == 0 { '{' } else { ',' });
                line(depth + 1, out);
                out.push_str(&String::from_utf8_lossy(&Tree::text(key.as_str()).canonical_bytes()));
                out.push_str(": ");
                indent(value, width, depth + 1, out);
            }
            line(depth, out);
            out.push('}');
        }
        leaf => out.push_str(&String::from_utf8_lossy(&leaf.canonical_bytes())),
    }
}
