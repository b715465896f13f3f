//! Keys that a person has pinned. One entry that can't be believed, and none is.

use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::VerifyingKey;
use jiff::Timestamp;

use crate::admission::shape::{Members, moment, spelled};
use crate::flow::canonical::{Tree, sha256_hex};
use crate::workflows::files;

const LIMIT: usize = 256 << 10;
const PIN_SCHEMA: &str = "openadapt.seal-keys-pin/v1";

/// Pinned keys, in the order of their file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Keys(Vec<Key>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    id: String,
    raw: [u8; 32],
    revoked_at: Option<Timestamp>,
}

/// Where keys are pinned, from what surrounds the program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Whereabouts {
    /// `OPENADAPT_SEAL_KEYS_PATH`
    pub path: Option<PathBuf>,
    /// `OPENADAPT_SEAL_KEYS_JSON`
    pub inline: Option<String>,
    pub home: Option<PathBuf>,
}

impl Whereabouts {
    pub fn of_this_process() -> Self {
        let given = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        Self {
            path: given("OPENADAPT_SEAL_KEYS_PATH").map(PathBuf::from),
            inline: given("OPENADAPT_SEAL_KEYS_JSON").map(|text| text.to_string_lossy().into_owned()),
            home: given("HOME").map(PathBuf::from),
        }
    }

    /// The file that keys are pinned in.
    pub fn file(&self) -> Option<PathBuf> {
        let default = || self.home.as_ref().map(|home| home.join(".openadapt/seal-keys.json"));
        match (&self.path, &self.home) {
            (Some(path), Some(home)) => {
                Some(path.strip_prefix("~").map_or_else(|_| path.clone(), |rest| home.join(rest)))
            }
            (Some(path), None) => Some(path.clone()),
            (None, _) => default(),
        }
    }

    /// The pinned keys; none where they can't be read.
    pub fn keys(&self) -> Keys {
        match (&self.path, &self.inline) {
            (None, Some(inline)) => Keys::read(inline.as_bytes()).unwrap_or_default(),
            _ => self.file().and_then(|file| Keys::of_file(&file)).unwrap_or_default(),
        }
    }
}

impl Keys {
    /// Nothing for a file that isn't there or holds an entry that can't be believed.
    pub fn of_file(file: &Path) -> Option<Self> {
        Self::read(&files::read(&file.canonicalize().ok()?, LIMIT).ok()?)
    }

    /// A document with `keys`, or a bare list of them.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let tree = Tree::parse(bytes, LIMIT).ok()?;
        let entries = tree.get("keys").unwrap_or(&tree).as_list()?;
        let keys = entries.iter().map(Key::read).collect::<Option<Vec<_>>>()?;
        let mut ids: Vec<_> = keys.iter().map(|key| &key.id).collect();
        ids.sort();
        ids.dedup();
        (ids.len() == keys.len()).then_some(Self(keys))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Key> {
        self.0.iter()
    }

    pub fn get(&self, id: &str) -> Option<&Key> {
        self.iter().find(|key| key.id == id)
    }

    /// Adds a key, or puts it in the place of the one with its id.
    pub fn put(&mut self, key: Key) {
        match self.0.iter_mut().find(|known| known.id == key.id) {
            Some(known) => *known = key,
            None => self.0.push(key),
        }
    }

    /// The file that pins these keys.
    pub fn to_file(&self, source: &str, now: Timestamp) -> Vec<u8> {
        let document = serde_json::json!({
            "schema": PIN_SCHEMA,
            "source": source,
            "pinned_at": spelled(now),
            "keys": self.0.iter().map(Key::entry).collect::<Vec<_>>(),
        });
        let mut bytes = serde_json::to_vec_pretty(&document).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }
}

impl Key {
    pub fn id(&self) -> &str {
        &self.id
    }

    pub fn revoked_at(&self) -> Option<Timestamp> {
        self.revoked_at
    }

    pub fn verifying_key(&self) -> Option<VerifyingKey> {
        VerifyingKey::from_bytes(&self.raw).ok()
    }

    /// For a person to compare with one that was published elsewhere: the key's digest in groups of four.
    pub fn fingerprint(&self) -> String {
        let hex = sha256_hex(&self.raw);
        let groups = hex.as_bytes().chunks(4).map(|group| String::from_utf8_lossy(group).into_owned());
        groups.collect::<Vec<_>>().join(":")
    }

    fn read(entry: &Tree) -> Option<Self> {
        let members = Members::open(entry)?;
        let raw: [u8; 32] = STANDARD.decode(members.text("public_key")?).ok()?.try_into().ok()?;
        let id = format!("seal-ed25519-{}", sha256_hex(&raw).get(..16)?);
        let none = members.get("revoked_at").is_none_or(Tree::is_null);
        let revoked_at = match members.text("status")? {
            "active" if none => None,
            "revoked" => Some(moment(members.text("revoked_at")?)?),
            _ => return None,
        };
        (members.is("key_id", &id) && VerifyingKey::from_bytes(&raw).is_ok()).then_some(Self { id, raw, revoked_at })
    }

    fn entry(&self) -> serde_json::Value {
        let mut entry = serde_json::json!({ "key_id": self.id, "public_key": STANDARD.encode(self.raw) });
        entry["status"] = if self.revoked_at.is_some() { "revoked" } else { "active" }.into();
        if let Some(at) = self.revoked_at {
            entry["revoked_at"] = spelled(at).into();
        }
        entry
    }
}
