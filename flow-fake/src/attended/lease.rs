//! The lease of a continuation: one at a time for a run, for a quarter of an hour. Kept and changed under the book's lock.

use std::io;
use std::path::Path;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Book, Order};
use crate::canonical::sha256_hex;
use crate::pause::pause_digest;
use crate::report::Subject;
use crate::{clock, files};

const LEASE: &str = ".flow-fake-lease.json";
const LENGTH_S: i64 = 15 * 60;

/// How far the holder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    No,
    /// Nothing was done to the app, so that a reject may still come first.
    Validating,
    Delivering,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    DeliveryStarted,
    Completed,
    AbortedPreDelivery,
    ReconciliationRequired,
}

/// Who holds the run now. A lease that has run out holds nothing.
pub fn held(_: &Book, run_dir: &Path, now: Timestamp) -> Held {
    let lease = read(run_dir);
    let holds = lease["expires_at"].as_str().and_then(|end| end.parse::<Timestamp>().ok()).is_some_and(|end| now < end);
    match lease["phase"].as_str() {
        Some("validating") if holds => Held::Validating,
        Some("delivery_started") if holds => Held::Delivering,
        _ => Held::No,
    }
}

pub fn take(_: &Book, order: &Order, pending: &Value, now: Timestamp) -> io::Result<()> {
    let lease = json!({
        "attempt_id": Subject::fresh_id(),
        "run_id": pending["run_id"],
        "pause_binding_sha256": pause_digest(pending),
        "operation": order.request.action,
        "owner_nonce_sha256": sha256_hex(Subject::fresh_id()),
        "phase": "validating",
        "reject_requested": false,
        "acquired_at": clock::iso(now),
        "expires_at": clock::iso(clock::shifted(now, LENGTH_S)),
    });
    files::replace_json(&order.run_dir.join(LEASE), &lease, files::PRIVATE)
}

pub fn advance(_: &Book, run_dir: &Path, phase: Phase) -> io::Result<()> {
    let name = match phase {
        Phase::DeliveryStarted => "delivery_started",
        Phase::Completed => "completed",
        Phase::AbortedPreDelivery => "aborted_pre_delivery",
        Phase::ReconciliationRequired => "reconciliation_required",
    };
    change(run_dir, "phase", json!(name))
}

pub fn ask_for_reject(_: &Book, run_dir: &Path) -> io::Result<()> {
    change(run_dir, "reject_requested", json!(true))
}

pub fn is_reject_asked_for(_: &Book, run_dir: &Path) -> bool {
    read(run_dir)["reject_requested"] == true
}

fn change(run_dir: &Path, key: &str, value: Value) -> io::Result<()> {
    let mut lease = read(run_dir);
    lease[key] = value;
    files::replace_json(&run_dir.join(LEASE), &lease, files::PRIVATE)
}

fn read(run_dir: &Path) -> Value {
    files::read_json(&run_dir.join(LEASE)).unwrap_or_default()
}
