//! Writes the files of a pause, with at most one thing wrong.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{CAPABILITY, HISTORY, KEY, Moment, PENDING, Tamper, capability, pending, sign};
use crate::canonical::hex;
use crate::script::PauseSpec;
use crate::{clock, files};

/// Leaves the pending file, the capability and the key in `run_dir`.
pub fn write(run_dir: &Path, moment: &Moment, spec: &PauseSpec, now: Timestamp) -> io::Result<()> {
    let key = key_of(run_dir);
    let aged = |age_s: f64| clock::shifted_by(now, -age_s);
    let pending = pending(moment, spec.status, &clock::iso(aged(spec.age_s)));
    let issued = aged(spec.capability_age_s.unwrap_or(spec.age_s));
    let mut capability = capability(moment, &pending, &key, issued, replace_previous(run_dir)?);
    match spec.tamper {
        Tamper::Signature => capability["signature"] = json!(format!("hmac-sha256:{}", "0".repeat(64))),
        Tamper::CapabilityDigest => {
            capability["expected_transition_digest"] = json!(format!("sha256:{}", "0".repeat(64)));
            sign(&mut capability, &key);
        }
        _ => {}
    }
    let stored_key = if spec.tamper == Tamper::Key { fresh_key() } else { key };
    let key_path = run_dir.join(KEY);
    files::replace(&key_path, &stored_key, files::PRIVATE)?;
    if spec.tamper == Tamper::KeyMode {
        std::fs::set_permissions(&key_path, std::fs::Permissions::from_mode(0o644))?;
    }
    match spec.tamper {
        Tamper::NoCapability => {}
        Tamper::Encrypted => {
            files::replace_json(&run_dir.join(format!("{CAPABILITY}.enc")), &container(), files::PRIVATE)?
        }
        _ => files::replace_json(&run_dir.join(CAPABILITY), &capability, files::PRIVATE)?,
    }
    write_pending(run_dir, pending, spec.tamper)
}

fn write_pending(run_dir: &Path, mut pending: Value, tamper: Tamper) -> io::Result<()> {
    let path = run_dir.join(PENDING);
    match tamper {
        Tamper::Unreadable => files::replace(&path, b"{\"schema_version\": 2, \"run_id\"", files::PRIVATE),
        Tamper::NotObject => files::replace_json(&path, &json!([pending]), files::PRIVATE),
        Tamper::Encrypted => files::replace_json(&run_dir.join(format!("{PENDING}.enc")), &container(), files::PRIVATE),
        Tamper::Pause => {
            pending["reason"] = json!("changed after the capability was signed");
            files::replace_json(&path, &pending, files::PRIVATE)
        }
        _ => files::replace_json(&path, &pending, files::PRIVATE),
    }
}

/// The run's key; its first pause makes one.
fn key_of(run_dir: &Path) -> [u8; 32] {
    let kept = std::fs::read(run_dir.join(KEY)).ok().and_then(|bytes| bytes.try_into().ok());
    kept.unwrap_or_else(fresh_key)
}

/// Moves the capability of an earlier pause to the history; the number of the new one.
fn replace_previous(run_dir: &Path) -> io::Result<u64> {
    let Ok(previous) = files::read_json(&run_dir.join(CAPABILITY)) else { return Ok(1) };
    let number = previous["event_sequence"].as_u64().unwrap_or_default() + 1;
    let path = run_dir.join(HISTORY);
    let mut history = files::read_json(&path).unwrap_or_else(|_| json!([]));
    if let Some(history) = history.as_array_mut() {
        history.push(previous);
    }
    files::replace_json(&path, &history, files::PRIVATE)?;
    Ok(number)
}

fn fresh_key() -> [u8; 32] {
    let mut key = [0; 32];
    key[..16].copy_from_slice(uuid::Uuid::new_v4().as_bytes());
    key[16..].copy_from_slice(uuid::Uuid::new_v4().as_bytes());
    key
}

/// The shape of Flow's encrypted container; nobody holds its key.
fn container() -> Value {
    json!({
        "format": "openadapt-flow-enc",
        "version": 1,
        "cipher": "AES-256-GCM",
        "kdf": "scrypt",
        "kdf_n": 32768,
        "kdf_r": 8,
        "kdf_p": 1,
        "salt": "AAAAAAAAAAAAAAAAAAAAAA==",
        "nonce": "AAAAAAAAAAAAAAAA",
        "ciphertext": hex(&fresh_key()),
    })
}
