//! What must hold before a decision is written, in Flow's order.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use jiff::Timestamp;
use serde_json::Value;

use super::book::status;
use super::{Book, NotDone, Order, Status};
use crate::canonical::digest;
use crate::launch::Bundle;
use crate::pause::{CAPABILITY, KEY, PENDING, pause_digest, signature_holds, transition_digest};
use crate::{clock, files};

/// What the checks came to.
#[derive(Debug)]
pub enum Checked {
    /// The same request was decided before: this is the decision.
    Before(Value),
    /// It may be done.
    Ready(Box<Ready>),
}

#[derive(Debug)]
pub struct Ready {
    pub capability: Value,
    pub pending: Value,
    pub bundle: Bundle,
}

/// Checks an order against the run as it stands now.
pub fn checked(order: &Order, book: &Book, live: bool) -> Result<Checked, NotDone> {
    let request = &order.request;
    ensure(!order.operator.trim().is_empty(), "an operator has a name")?;
    ensure(request.disposition_fits(), "the disposition isn't one of this action's")?;
    let manifest = manifest(&order.run_dir)?;
    if let Some(before) = book.last_with_key(&request.idempotency_key) {
        ensure(before["request_digest"] == request.digest().as_str(), "the key stands for another request")?;
        ensure(!status(before).is_some_and(Status::is_unresolved), "the first try came to no end")?;
        return Ok(Checked::Before(before.clone()));
    }
    let pending = files::read_json(&order.run_dir.join(PENDING)).map_err(|_| refused("there is no pause"))?;
    ensure(pending.is_object(), "there is no pause")?;
    ensure(pending["status"] != "rejected", "the run was ended by a person")?;
    let capability = signed_capability(&order.run_dir).ok_or(refused("there is no rightly signed capability"))?;
    ensure(capability_digest(&capability) == request.capability_digest, "the capability is another one by now")?;
    let allowed = serde_json::to_value(request.action).unwrap_or_default();
    let actions = capability["allowed_actions"].as_array().map_or(&[][..], Vec::as_slice);
    ensure(actions.contains(&allowed), "the action isn't among the allowed ones")?;
    ensure(!is_expired(&capability, &pending, clock::now()), "the pause is too old")?;
    let bundle_dir = manifest["bundle_dir"].as_str().unwrap_or_default();
    let bundle = Bundle::load(Path::new(bundle_dir)).map_err(|_| refused("the bundle can't be loaded"))?;
    let version = format!("sha256:{}", bundle.content_digest);
    ensure(capability["bundle_version"] == version.as_str(), "the bundle is another one by now")?;
    ensure(capability["pause_digest"] == pause_digest(&pending).as_str(), "the pause is another one by now")?;
    let transition = transition_digest(&capability);
    ensure(capability["expected_transition_digest"] == transition.as_str(), "the next step is another one by now")?;
    let only_words = matches!(request.action, super::Action::Teach | super::Action::Escalate);
    ensure(only_words || !book.has_unresolved(&capability["pause_id"]), "an earlier decision came to no end")?;
    ensure(live || !request.action.continues(), "there is no live executor")?;
    Ok(Checked::Ready(Box::new(Ready { capability, pending, bundle })))
}

/// The public fingerprint of a capability.
pub fn capability_digest(capability: &Value) -> String {
    let mut unsigned = capability.clone();
    if let Some(map) = unsigned.as_object_mut() {
        map.shift_remove("signature");
    }
    digest(&unsigned)
}

/// The capability of a run folder when its key is private and its signature holds.
pub fn signed_capability(run_dir: &Path) -> Option<Value> {
    let capability = files::read_json(&run_dir.join(CAPABILITY)).ok()?;
    let path = run_dir.join(KEY);
    let private = std::fs::metadata(&path).ok()?.permissions().mode() & 0o077 == 0;
    let key = std::fs::read(path).ok()?;
    (private && key.len() == 32 && signature_holds(&capability, &key)).then_some(capability)
}

fn manifest(run_dir: &Path) -> Result<Value, NotDone> {
    let manifest = files::read_json(&run_dir.join("checkpoints/_manifest.json"));
    let manifest = manifest.map_err(|_| refused("the run has no manifest"))?;
    let here = run_dir.canonicalize()?;
    ensure(manifest["canonical_run_dir"] == here.to_string_lossy().as_ref(), "the run folder was moved")?;
    Ok(manifest)
}

/// A capability ends after a day; a pause after `stale_after_s`. A time that can't be read has passed.
fn is_expired(capability: &Value, pending: &Value, now: Timestamp) -> bool {
    let time = |value: &Value| value.as_str().and_then(|text| text.parse::<Timestamp>().ok());
    let stale = pending["stale_after_s"].as_f64().unwrap_or_default();
    let capability_holds = time(&capability["expires_at"]).is_some_and(|end| now < end);
    let pause_holds = time(&pending["created_at"]).is_some_and(|start| now < clock::shifted_by(start, stale));
    !(capability_holds && pause_holds)
}

fn ensure(holds: bool, otherwise: &'static str) -> Result<(), NotDone> {
    if holds { Ok(()) } else { Err(refused(otherwise)) }
}

fn refused(why: &'static str) -> NotDone {
    NotDone::Refused(why)
}
