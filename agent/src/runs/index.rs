//! The request index: which attempts a request has had, for whoever reads files. The store knows it; what an older agent left here is
//! believed when its seal holds.

use std::io;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::files::{FileRead, Folder};
use super::fingerprint::Fingerprint;
use super::key::{FingerprintKey, Sealed};
use super::python_json::python_json;
use super::request_hash::{Attempt, Era, RequestHash};
use crate::contract::ids::RunId;

/// What the index says of one request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestEntry {
    pub fingerprint: Fingerprint,
    pub workflow: String,
    /// Oldest first; never empty.
    pub attempts: Vec<RunId>,
}

/// What stands under a request's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryRead {
    Valid(RequestEntry),
    Missing,
    Corrupt,
}

/// Entries of ours have 64-digit names and a seal; those of the Python agent have 40-digit names and none.
pub fn read(requests: &Folder, hash: &RequestHash, era: Era, key: &FingerprintKey) -> io::Result<EntryRead> {
    Ok(match requests.read(&file_name(hash, era), ENTRY_LIMIT)? {
        FileRead::Missing => EntryRead::Missing,
        FileRead::Unfit(_) => EntryRead::Corrupt,
        FileRead::Content { bytes, .. } => parse(&bytes, era, key).map_or(EntryRead::Corrupt, EntryRead::Valid),
    })
}

/// Writes an entry of ours: a copy of what the store knows, so it isn't synced.
pub fn write(requests: &Folder, hash: &RequestHash, entry: &RequestEntry, key: &FingerprintKey) -> io::Result<()> {
    let mut object = serde_json::to_value(entry)?;
    object[SCHEMA_KEY] = SCHEMA.into();
    object[SEAL] = key.seal(Sealed::RequestEntry, &object).into();
    requests.write_lightly(&file_name(hash, Era::Ours), python_json(&object).as_bytes())
}

/// Keeps a corrupt entry of ours for a person to look at.
pub fn set_aside(requests: &Folder, hash: &RequestHash) -> io::Result<()> {
    requests.set_aside(&file_name(hash, Era::Ours))
}

/// An entry is under a kilobyte.
const ENTRY_LIMIT: usize = 64 * 1024;
const SCHEMA: &str = "openadapt-agent.request/v1";
const SCHEMA_KEY: &str = "schema";
const SEAL: &str = "mac";

fn file_name(hash: &RequestHash, era: Era) -> String {
    format!("{}.json", hash.hex(era))
}

fn parse(bytes: &[u8], era: Era, key: &FingerprintKey) -> Option<RequestEntry> {
    let Value::Object(mut object) = serde_json::from_slice(bytes).ok()? else { return None };
    let seal = object.shift_remove(SEAL);
    let object = Value::Object(object);
    let believed = match (era, seal) {
        (Era::Ours, seal) => key.seal_holds(Sealed::RequestEntry, &object, seal?.as_str()?),
        (Era::Python, _) => true,
    };
    let entry = RequestEntry::deserialize(&object).ok()?;
    let attempts = 1..=Attempt::LAST.number() as usize;
    (believed && object[SCHEMA_KEY] == SCHEMA && attempts.contains(&entry.attempts.len())).then_some(entry)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::ids::RequestId;

    fn world() -> (tempfile::TempDir, Folder, FingerprintKey, RequestHash) {
        let temp = tempfile::tempdir().unwrap();
        let folder = Folder::open(temp.path()).unwrap();
        let key = FingerprintKey::open(&folder).unwrap();
        (temp, folder, key, RequestHash::of(&RequestId::parse("abcd").unwrap()))
    }

    fn entry(attempts: usize) -> RequestEntry {
        RequestEntry {
            fingerprint: Fingerprint::parse(&"a".repeat(64)).unwrap(),
            workflow: "add_note".to_owned(),
            attempts: (0..attempts).map(|index| RunId::parse(&format!("run-{index}")).unwrap()).collect(),
        }
    }

    #[test]
    fn an_entry_is_read_back_as_it_was_written() {
        let (_temp, folder, key, hash) = world();
        assert_eq!(read(&folder, &hash, Era::Ours, &key).unwrap(), EntryRead::Missing);
        write(&folder, &hash, &entry(3), &key).unwrap();
        assert_eq!(read(&folder, &hash, Era::Ours, &key).unwrap(), EntryRead::Valid(entry(3)));
    }

    #[test]
    fn an_entry_that_was_changed_cut_or_emptied_is_corrupt_and_can_be_set_aside() {
        let (temp, folder, key, hash) = world();
        let path = temp.path().join(file_name(&hash, Era::Ours));
        write(&folder, &hash, &entry(2), &key).unwrap();
        let good = std::fs::read_to_string(&path).unwrap();
        let stripped = good.replace("\"mac\"", "\"was\"");
        let edited = good.replace("run-1", "run-9");
        for bad in ["", "null", "[]", "{}", &good[..good.len() - 2], &stripped, &edited, &" ".repeat(70_000)] {
            std::fs::write(&path, bad).unwrap();
            assert_eq!(read(&folder, &hash, Era::Ours, &key).unwrap(), EntryRead::Corrupt, "{bad:.60}");
        }
        set_aside(&folder, &hash).unwrap();
        assert_eq!(read(&folder, &hash, Era::Ours, &key).unwrap(), EntryRead::Missing);
        for attempts in [0, 6] {
            write(&folder, &hash, &entry(attempts), &key).unwrap();
            assert_eq!(read(&folder, &hash, Era::Ours, &key).unwrap(), EntryRead::Corrupt, "{attempts} attempts");
        }
    }

    #[test]
    fn an_entry_of_the_python_agent_needs_no_seal() {
        let (temp, folder, key, hash) = world();
        let text = format!(
            r#"{{"attempts": ["run-0"], "fingerprint": "{}", "schema": "openadapt-agent.request/v1", "workflow": "add_note"}}"#,
            "a".repeat(64)
        );
        std::fs::write(temp.path().join(format!("{}.json", hash.hex(Era::Python))), &text).unwrap();
        assert_eq!(read(&folder, &hash, Era::Python, &key).unwrap(), EntryRead::Valid(entry(1)));
        std::fs::write(temp.path().join(format!("{}.json", hash.hex(Era::Ours))), &text).unwrap();
        assert_eq!(read(&folder, &hash, Era::Ours, &key).unwrap(), EntryRead::Corrupt);
    }
}
