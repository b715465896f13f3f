//! The durable pause of a run, read as Flow's own attention queue would show it. What can't be verified is an open pause of
//! no known category. Source: *The result contract*, "A failed Needs Attention lookup counts as an open pause".

use hmac::{Hmac, Mac};
use sha2::Sha256;

use super::canonical::Tree;
use super::run_dir::{Found, FoundTree, RunDir};
use crate::contract::evidence::{Pause, PauseCategory};

pub const PENDING: &str = "pending_escalation.json";
pub const ENCRYPTED: &str = "pending_escalation.json.enc";
pub const CAPABILITY: &str = "attended_capability.json";
pub const KEY: &str = ".attended_capability.key";
const SIZE_LIMIT: usize = 16 << 20;
const KEY_LENGTH: usize = 32;
const UNVERIFIED: Pause = Pause::Open(PauseCategory::Other);

/// Members of a capability that older versions signed without.
const UNSIGNED_BEFORE: [(&str, i64); 3] =
    [("event_sequence", 2), ("source_identity_required", 3), ("source_identity", 3)];

/// Members that the transition digest is made over.
const TRANSITION: [&str; 10] = [
    "run_id",
    "workflow_name",
    "bundle_version",
    "step_index",
    "step_id",
    "state_id",
    "resume_from_index",
    "resume_from_step_id",
    "program_cursor_digest",
    "expected_next_transition",
];

/// The pending file of a run.
#[derive(Debug, PartialEq, Eq)]
pub enum Pending {
    Nothing,
    Encrypted,
    /// It is there and isn't a JSON object that can be read.
    Unreadable,
    Tree(Tree),
}

pub fn read(run_dir: &RunDir) -> Pause {
    let pending = match pending(run_dir) {
        Pending::Nothing => return Pause::None,
        Pending::Encrypted | Pending::Unreadable => return UNVERIFIED,
        Pending::Tree(pending) => pending,
    };
    if !signed_capability(run_dir).is_some_and(|capability| binds(&capability, &pending)) {
        return UNVERIFIED;
    }
    let category =
        pending.get("category").and_then(Tree::as_text).map_or(PauseCategory::Other, PauseCategory::from_flow);
    match pending.get("status").and_then(Tree::as_text) {
        Some("rejected") => Pause::Rejected(category),
        Some("pending" | "approved" | "continuing") => Pause::Open(category),
        _ => UNVERIFIED,
    }
}

pub fn pending(run_dir: &RunDir) -> Pending {
    match run_dir.read_tree(PENDING, SIZE_LIMIT) {
        FoundTree::Nothing if run_dir.has(ENCRYPTED) => Pending::Encrypted,
        FoundTree::Nothing => Pending::Nothing,
        FoundTree::Tree(pending) if pending.as_map().is_some() => Pending::Tree(pending),
        FoundTree::Tree(_) | FoundTree::Unusable => Pending::Unreadable,
    }
}

/// The capability beside a pause, if its key signed it as it stands.
pub fn signed_capability(run_dir: &RunDir) -> Option<Tree> {
    let FoundTree::Tree(capability) = run_dir.read_tree(CAPABILITY, SIZE_LIMIT) else { return None };
    let key = capability_key(run_dir)?;
    let holds = signature_holds(&capability, &key)
        && transition_digest(&capability).as_deref()
            == capability.get("expected_transition_digest").and_then(Tree::as_text);
    holds.then_some(capability)
}

/// Whether a capability was issued for this very pause.
pub fn binds(capability: &Tree, pending: &Tree) -> bool {
    let bound = |member: &str| capability.get(member).is_some() && capability.get(member) == pending.get(member);
    let digest = pause_digest(pending);
    bound("run_id")
        && bound("step_id")
        && digest.is_some()
        && digest.as_deref() == capability.get("pause_digest").and_then(Tree::as_text)
}

/// The public fingerprint of a capability: no authority.
pub fn capability_digest(capability: &Tree) -> Option<String> {
    Some(format!("sha256:{}", unsigned_capability(capability)?.sha256_hex()))
}

/// Digest of a pause, whatever has been decided on it since: the whole object with its status set back to `pending`.
pub fn pause_digest(pending: &Tree) -> Option<String> {
    let mut pending = pending.clone();
    pending.as_map_mut()?.insert("status".to_owned(), Tree::text("pending"));
    Some(format!("sha256:{}", pending.sha256_hex()))
}

/// Digest of where a capability says that the run stands and goes on.
pub fn transition_digest(capability: &Tree) -> Option<String> {
    let members = TRANSITION.map(|member| capability.get(member).map(|value| (member, value.clone())));
    let members: Option<Vec<_>> = members.into_iter().collect();
    Some(format!("sha256:{}", Tree::map(members?).sha256_hex()))
}

/// The part of a capability that its digest and its signature are made over.
pub fn unsigned_capability(capability: &Tree) -> Option<Tree> {
    let version = capability.get("schema_version").and_then(Tree::as_i64)?;
    let mut unsigned = capability.clone();
    let members = unsigned.as_map_mut()?;
    members.remove("signature");
    for (member, since) in UNSIGNED_BEFORE {
        if version < since {
            members.remove(member);
        }
    }
    Some(unsigned)
}

fn capability_key(run_dir: &RunDir) -> Option<Vec<u8>> {
    match run_dir.read_with_mode(KEY, KEY_LENGTH) {
        (Found::Bytes(key), mode) if key.len() == KEY_LENGTH && mode & 0o077 == 0 => Some(key),
        _ => None,
    }
}

fn signature_holds(capability: &Tree, key: &[u8]) -> bool {
    let signature = capability
        .get("signature")
        .and_then(Tree::as_text)
        .and_then(|text| text.strip_prefix("hmac-sha256:"))
        .and_then(bytes_of_hex);
    let (Some(signature), Some(unsigned), Ok(mut mac)) =
        (signature, unsigned_capability(capability), Hmac::<Sha256>::new_from_slice(key))
    else {
        return false;
    };
    mac.update(&unsigned.canonical_bytes());
    mac.verify_slice(&signature).is_ok()
}

fn bytes_of_hex(text: &str) -> Option<Vec<u8>> {
    let pairs = text.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).ok());
    pairs.map(|pair| u8::from_str_radix(pair.filter(|pair| pair.len() == 2)?, 16).ok()).collect()
}

#[cfg(test)]
mod tests;
