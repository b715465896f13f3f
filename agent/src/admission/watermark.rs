//! What this computer has verified before, kept in a file: a later look may see more, never less. Not a verdict, and never used
//! as one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::reason::{Reason, Verdict};
use super::shape::{is_digest, moment, spelled};
use super::targets::TargetId;
use super::trust_state::Revocation;
use crate::runs::files::{FileRead, Folder};

const NAME: &str = "admission-watermark.json";
const LOCK: &str = "admission-watermark.lock";
const SCHEMA: &str = "openadapt-agent.admission-watermark/v1";
const LIMIT: usize = 1 << 20;
/// A clock that is set back by more than this isn't believed.
const SLACK: SignedDuration = SignedDuration::from_mins(5);

/// Where the memory of this computer is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keeping(PathBuf);

/// What is remembered.
#[derive(Debug)]
pub struct Memory {
    known: Option<Known>,
    /// It can't be read, or it can't be kept.
    lost: bool,
    /// Held until the memory is dropped, so that of two looks one comes after the other.
    place: Option<(Folder, std::fs::File)>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    schema_version: String,
    seen_at: String,
    targets: BTreeMap<String, Sequence>,
    revocation: Option<State>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sequence {
    sequence: u64,
    admission_id_sha256: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    revision: u64,
    revocation_state_sha256: String,
    revoked: Vec<(String, String)>,
}

impl Keeping {
    /// Next to the runs folder.
    pub fn beside(runs_dir: &Path) -> Self {
        Self(runs_dir.parent().unwrap_or(runs_dir).to_owned())
    }

    /// Opens the memory, for one look. What is lost stays lost: a corrupt file is a person's to remove.
    pub fn open(&self) -> Memory {
        match self.found() {
            Some((known, folder, lock)) => Memory { known, lost: false, place: Some((folder, lock)) },
            None => Memory { known: None, lost: true, place: None },
        }
    }

    fn found(&self) -> Option<(Option<Known>, Folder, std::fs::File)> {
        if !self.0.exists() {
            std::os::unix::fs::DirBuilderExt::mode(std::fs::DirBuilder::new().recursive(true), 0o700)
                .create(&self.0)
                .ok()?;
        }
        let folder = Folder::open(&self.0.canonicalize().ok()?).ok()?;
        let lock = folder.lock_file(LOCK).ok()?;
        lock.lock().ok()?;
        let known = match folder.read(NAME, LIMIT).ok()? {
            FileRead::Missing => None,
            FileRead::Content { bytes, .. } => Some(Known::read(&bytes)?),
            FileRead::Unfit(_) => return None,
        };
        Some((known, folder, lock))
    }
}

impl Memory {
    /// Whether the clock goes on from where it was, and whether that can be known at all.
    pub fn clock(&self, now: Timestamp) -> Verdict {
        let seen_at = self.known.as_ref().and_then(|known| moment(&known.seen_at));
        if self.lost || seen_at.is_some_and(|seen_at| now + SLACK < seen_at) {
            return Err(Reason::ClockUntrusted);
        }
        Ok(())
    }

    /// Whether this row is the last one that was seen of its target, or a later one.
    pub fn sequence(&self, target: TargetId, sequence: u64, admission_id: &str) -> Verdict {
        let seen = self.known.as_ref().and_then(|known| known.targets.get(target.as_str()));
        let goes_on = seen.is_none_or(|seen| {
            sequence > seen.sequence || (sequence == seen.sequence && admission_id == seen.admission_id_sha256)
        });
        if goes_on { Ok(()) } else { Err(Reason::TrustStateRolledBack) }
    }

    /// Whether this is the last revocation state that was seen, or a later one that has lost nothing.
    pub fn revocation(&self, now: &Revocation) -> Verdict {
        let seen = self.known.as_ref().and_then(|known| known.revocation.as_ref());
        let goes_on = seen.is_none_or(|seen| {
            let same = now.revision == seen.revision && now.digest == seen.revocation_state_sha256;
            let later =
                now.revision > seen.revision && seen.revoked.iter().all(|subject| now.subjects.contains(subject));
            same || later
        });
        if goes_on { Ok(()) } else { Err(Reason::TrustStateRolledBack) }
    }

    pub fn revocation_digest(&self) -> Option<&str> {
        Some(self.known.as_ref()?.revocation.as_ref()?.revocation_state_sha256.as_str())
    }

    /// Remembers what was verified at this look. Nothing that goes back is kept. Whether it could be kept.
    pub fn keep(&mut self, now: Timestamp, revocation: &Revocation, rows: &[(TargetId, u64, String)]) -> Verdict {
        self.clock(now)?;
        self.revocation(revocation)?;
        let mut known = self.known.clone().unwrap_or_default();
        SCHEMA.clone_into(&mut known.schema_version);
        known.seen_at = spelled(moment(&known.seen_at).map_or(now, |seen_at| seen_at.max(now)));
        known.revocation = Some(State {
            revision: revocation.revision,
            revocation_state_sha256: revocation.digest.clone(),
            revoked: revocation.subjects.clone(),
        });
        for (target, sequence, id) in rows {
            if self.sequence(*target, *sequence, id).is_ok() {
                let row = Sequence { sequence: *sequence, admission_id_sha256: id.clone() };
                known.targets.insert(target.as_str().to_owned(), row);
            }
        }
        if self.known.as_ref() != Some(&known) {
            let bytes = serde_json::to_vec(&known).map_err(|_| Reason::ClockUntrusted)?;
            let (folder, _) = self.place.as_ref().ok_or(Reason::ClockUntrusted)?;
            folder.write_durable(NAME, &bytes).map_err(|_| Reason::ClockUntrusted)?;
            self.known = Some(known);
        }
        Ok(())
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Some((_, lock)) = &self.place {
            // The next look waits for it; the end of the process lets go of it in any case.
            let _ = lock.unlock();
        }
    }
}

impl Known {
    fn read(bytes: &[u8]) -> Option<Self> {
        let known: Self = serde_json::from_slice(bytes).ok()?;
        let targets = known
            .targets
            .iter()
            .all(|(id, row)| TargetId::parse(id).is_some() && row.sequence > 0 && is_digest(&row.admission_id_sha256));
        let revocation = known
            .revocation
            .as_ref()
            .is_none_or(|state| state.revision > 0 && is_digest(&state.revocation_state_sha256));
        let holds = known.schema_version == SCHEMA
            && moment(&known.seen_at).is_some_and(|seen_at| spelled(seen_at) == known.seen_at)
            && targets
            && revocation;
        holds.then_some(known)
    }
}
