//! The JSON forms of a dispatch's files: flat, each with its kind and version. Keys that aren't known are passed over.

use std::io;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{ExitFacts, FlowEnd, Intent, Order, Origin, Token};
use crate::contract::ids::{RequestId, RunId};
use crate::contract::outcome::Mode;
use crate::contract::sandbox::SandboxFacts;
use crate::runs::clock::utc_now;
use crate::runs::fingerprint::Fingerprint;
use crate::runs::record::AttemptOf;
use crate::runs::request_hash::{Attempt, LedgerKey};
use crate::runs::server::ServerId;

/// Who made the one claim of a dispatch, where a claim is a file.
#[derive(Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum Claimant {
    Keeper { token: Token, pid: u32 },
    Revoked { server: ServerId },
}

pub fn intent_bytes(intent: &Intent) -> io::Result<Vec<u8>> {
    let Intent { order, token, owner, committed_at } = intent.clone();
    let attempt = order.of.attempt;
    Ok(serde_json::to_vec(&IntentWire {
        schema: IntentSchema::V1,
        run_id: order.run_id,
        token,
        owner,
        committed_at,
        argv: order.argv,
        run_dir: order.run_dir,
        time_limit_ms: order.time_limit_ms,
        request_id: order.of.request_id,
        workflow: order.of.workflow,
        mode: order.of.mode,
        started_at: order.of.started_at,
        attempt: attempt.as_ref().map(|it| it.attempt),
        ledger_key: attempt.as_ref().map(|it| it.ledger_key.clone()),
        fingerprint: attempt.map(|it| it.fingerprint),
        sandbox: order.of.sandbox.map(SandboxFacts::to_object),
    })?)
}

/// An intent of this run, whole.
pub fn intent(bytes: &[u8], run_id: &RunId) -> Option<Intent> {
    let wire: IntentWire = serde_json::from_slice(bytes).ok().filter(|wire: &IntentWire| wire.run_id == *run_id)?;
    let attempt = match (wire.attempt, wire.ledger_key, wire.fingerprint) {
        (Some(attempt), Some(ledger_key), Some(fingerprint)) => Some(AttemptOf { attempt, ledger_key, fingerprint }),
        (None, None, None) => None,
        _ => return None,
    };
    let sandbox = match wire.sandbox {
        Some(object) => Some(SandboxFacts::read(&object)?),
        None => None,
    };
    let of = Origin {
        request_id: wire.request_id,
        workflow: wire.workflow,
        mode: wire.mode,
        started_at: wire.started_at,
        attempt,
        sandbox,
    };
    let (argv, run_dir, time_limit_ms) = (wire.argv, wire.run_dir, wire.time_limit_ms);
    let order = Order { run_id: wire.run_id, argv, run_dir, time_limit_ms, of };
    Some(Intent { order, token: wire.token, owner: wire.owner, committed_at: wire.committed_at })
}

pub fn claim_bytes(run_id: &RunId, by: Claimant) -> io::Result<Vec<u8>> {
    let wire = ClaimWire { schema: ClaimSchema::V1, run_id: run_id.clone(), by, at: utc_now() };
    Ok(serde_json::to_vec(&wire)?)
}

/// The one claim that proves something: that nothing was started. Every other claim, whatever its token, has to count as a
/// keeper's.
pub fn is_revocation(bytes: &[u8], run_id: &RunId) -> bool {
    serde_json::from_slice(bytes)
        .is_ok_and(|claim: ClaimWire| matches!(claim.by, Claimant::Revoked { .. }) && claim.run_id == *run_id)
}

pub fn exit_bytes(intent: &Intent, facts: &ExitFacts) -> io::Result<Vec<u8>> {
    let (end, code, signal) = match facts.end {
        FlowEnd::NeverStarted => (EndWord::NeverStarted, None, None),
        FlowEnd::Exited(code) => (EndWord::Exited, Some(code), None),
        FlowEnd::Signaled(signal) => (EndWord::Signaled, None, Some(signal)),
    };
    Ok(serde_json::to_vec(&ExitWire {
        schema: ExitSchema::V1,
        run_id: intent.order.run_id.clone(),
        token: intent.token.clone(),
        end,
        code,
        signal,
        timed_out: facts.timed_out,
        started_at: facts.started_at.clone(),
        ended_at: facts.ended_at.clone(),
        seconds: facts.seconds,
        report_sha256: facts.report_sha256.clone(),
    })?)
}

/// Facts that carry the intent's token and say one way to end; anything else is no fact.
pub fn exit(bytes: &[u8], run_id: &RunId, token: &str) -> Option<ExitFacts> {
    let wire: ExitWire = serde_json::from_slice(bytes).ok()?;
    let ours = wire.run_id == *run_id && wire.token.as_str() == token;
    let ran = wire.started_at.as_deref().is_some_and(is_time);
    let nothing_ran = wire.started_at.is_none() && wire.report_sha256.is_none() && !wire.timed_out;
    let end = match (wire.end, wire.code, wire.signal) {
        (EndWord::NeverStarted, None, None) if nothing_ran => FlowEnd::NeverStarted,
        (EndWord::Exited, Some(code), None) if ran => FlowEnd::Exited(code),
        (EndWord::Signaled, None, Some(signal)) if ran && signal > 0 => FlowEnd::Signaled(signal),
        _ => return None,
    };
    let ExitWire { timed_out, started_at, ended_at, seconds, report_sha256, .. } = wire;
    let whole = ours && seconds >= 0.0 && is_time(&ended_at);
    whole.then_some(ExitFacts { end, timed_out, started_at, ended_at, seconds, report_sha256 })
}

#[derive(Serialize, Deserialize)]
struct IntentWire {
    schema: IntentSchema,
    run_id: RunId,
    token: Token,
    owner: ServerId,
    committed_at: String,
    argv: Vec<String>,
    run_dir: std::path::PathBuf,
    time_limit_ms: u64,
    request_id: Option<RequestId>,
    workflow: Option<String>,
    mode: Mode,
    started_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    attempt: Option<Attempt>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ledger_key: Option<LedgerKey>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fingerprint: Option<Fingerprint>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sandbox: Option<serde_json::Map<String, serde_json::Value>>,
}

#[derive(Serialize, Deserialize)]
struct ClaimWire {
    schema: ClaimSchema,
    run_id: RunId,
    #[serde(flatten)]
    by: Claimant,
    at: String,
}

#[derive(Serialize, Deserialize)]
struct ExitWire {
    schema: ExitSchema,
    run_id: RunId,
    token: Token,
    end: EndWord,
    code: Option<i32>,
    signal: Option<i32>,
    timed_out: bool,
    started_at: Option<String>,
    ended_at: String,
    seconds: f64,
    report_sha256: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum EndWord {
    NeverStarted,
    Exited,
    Signaled,
}

#[derive(Serialize, Deserialize)]
enum IntentSchema {
    #[serde(rename = "openadapt-agent.dispatch/v1")]
    V1,
}

#[derive(Serialize, Deserialize)]
enum ClaimSchema {
    #[serde(rename = "openadapt-agent.claim/v1")]
    V1,
}

#[derive(Serialize, Deserialize)]
enum ExitSchema {
    #[serde(rename = "openadapt-agent.exit/v1")]
    V1,
}

fn is_time(text: &str) -> bool {
    text.parse::<Timestamp>().is_ok()
}
