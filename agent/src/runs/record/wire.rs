//! The JSON form of a record, its seal, and what makes a file a record of a run.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::owner::Process;
use super::result::StoredResult;
use super::{AttemptOf, Finished, Phase, RecordRead, RunRecord};
use crate::contract::ids::{RequestId, RunId};
use crate::contract::outcome::Mode;
use crate::runs::files::FileRead;
use crate::runs::fingerprint::Fingerprint;
use crate::runs::key::{FingerprintKey, Sealed};
use crate::runs::python_json::python_json;
use crate::runs::request_hash::{Attempt, Era, LedgerKey, RequestHash};
use crate::runs::server::ServerId;

/// A record is a few kilobytes.
pub const RECORD_LIMIT: usize = 1 << 20;

const SCHEMA: &str = "openadapt-agent.run/v1";
const SEAL: &str = "mac";

#[derive(Serialize, Deserialize)]
struct Wire {
    schema: String,
    run_id: RunId,
    request_id: Option<RequestId>,
    workflow: Option<String>,
    mode: Mode,
    state: State,
    started_at: String,
    pid: Option<u32>,
    host: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<ServerId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attempt: Option<Attempt>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ledger_key: Option<LedgerKey>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fingerprint: Option<Fingerprint>,
    #[serde(skip_serializing_if = "Option::is_none")]
    finished_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Map<String, Value>>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    evidence: Map<String, Value>,
}

#[derive(Serialize, Deserialize, Clone, Copy, PartialEq)]
#[serde(rename_all = "lowercase")]
enum State {
    Running,
    Finished,
}

/// The bytes of a record: sorted keys, and the seal over everything else.
pub fn to_bytes(record: &RunRecord, key: &FingerprintKey) -> serde_json::Result<Vec<u8>> {
    // Numbers are sealed as they will be read back, so the seal is over the text's own reading.
    let text = python_json(&serde_json::to_value(Wire::of(record))?);
    let mut object: Value = serde_json::from_str(&text)?;
    object[SEAL] = key.seal(Sealed::Record, &object).into();
    Ok(python_json(&object).into_bytes())
}

/// A record of ours must carry a seal that holds. One of the Python agent has none: it is known by its 40-digit ledger key,
/// or as a refusal without one.
pub fn read(file: FileRead, run_id: &RunId, key: &FingerprintKey) -> RecordRead {
    let bytes = match file {
        FileRead::Missing => return RecordRead::Missing,
        FileRead::Unfit(_) => return RecordRead::Corrupt,
        FileRead::Content { bytes, .. } => bytes,
    };
    parse(&bytes, run_id, key).map_or(RecordRead::Corrupt, |record| RecordRead::Valid(Box::new(record)))
}

fn parse(bytes: &[u8], run_id: &RunId, key: &FingerprintKey) -> Option<RunRecord> {
    let Value::Object(mut object) = serde_json::from_slice(bytes).ok()? else { return None };
    let seal = object.shift_remove(SEAL);
    let object = Value::Object(object);
    let wire = Wire::deserialize(&object).ok()?;
    let sealed = match seal {
        Some(seal) => key.seal_holds(Sealed::Record, &object, seal.as_str()?).then_some(true)?,
        None => false,
    };
    let record = wire.into_record(sealed)?;
    (record.run_id == *run_id).then_some(record)
}

impl Wire {
    fn of(record: &RunRecord) -> Self {
        let (pid, host) = match &record.process {
            Process::Server { pid, host, .. } => (Some(*pid), Some(host.clone())),
            Process::Python { pid, host } => (*pid, host.clone()),
            Process::Nobody => (None, None),
        };
        let (state, finished_at, updated_at, result) = match &record.phase {
            Phase::Running => (State::Running, None, None, None),
            Phase::Finished(end) => (
                State::Finished,
                Some(end.finished_at.clone()),
                end.updated_at.clone(),
                Some(end.result.document().clone()),
            ),
        };
        let attempt = record.attempt.as_ref();
        Self {
            schema: SCHEMA.to_owned(),
            run_id: record.run_id.clone(),
            request_id: record.request_id.clone(),
            workflow: record.workflow.clone(),
            mode: record.mode,
            state,
            started_at: record.started_at.clone(),
            pid,
            host,
            owner: record.owner(),
            attempt: attempt.map(|attempt| attempt.attempt),
            ledger_key: attempt.map(|attempt| attempt.ledger_key.clone()),
            fingerprint: attempt.map(|attempt| attempt.fingerprint.clone()),
            finished_at,
            updated_at,
            result,
            evidence: record.evidence.clone(),
        }
    }

    fn into_record(self, sealed: bool) -> Option<RunRecord> {
        let attempt = match (self.attempt, self.ledger_key, self.fingerprint) {
            (Some(attempt), Some(ledger_key), Some(fingerprint)) => {
                Some(AttemptOf { attempt, ledger_key, fingerprint })
            }
            (None, None, None) => None,
            _ => return None,
        };
        let ours = self.owner.is_some() || attempt.as_ref().is_some_and(|it| it.ledger_key.era() == Era::Ours);
        if self.schema != SCHEMA || (ours && !sealed) || !self.workflow.as_deref().is_none_or(is_plain_name) {
            return None;
        }
        if let Some(AttemptOf { attempt, ledger_key, .. }) = &attempt {
            let hash = RequestHash::of(self.request_id.as_ref()?);
            (hash.ledger_key(*attempt, ledger_key.era()) == *ledger_key).then_some(())?;
        }
        let phase = match (self.state, self.result, self.finished_at) {
            (State::Running, None, None) => Phase::Running,
            (State::Finished, Some(result), Some(finished_at)) => {
                let result = StoredResult::read(result)?;
                Phase::Finished(Box::new(Finished { finished_at, updated_at: self.updated_at, result }))
            }
            _ => return None,
        };
        let process = match (self.owner, self.pid, self.host) {
            (Some(id), Some(pid), Some(host)) => Process::Server { id, pid, host },
            (Some(_), ..) => return None,
            (None, None, None) => Process::Nobody,
            (None, pid, host) => Process::Python { pid, host },
        };
        Some(RunRecord {
            run_id: self.run_id,
            request_id: self.request_id,
            workflow: self.workflow,
            mode: self.mode,
            started_at: self.started_at,
            process,
            attempt,
            phase,
            evidence: if sealed { self.evidence } else { Map::new() },
        })
    }
}

/// A workflow's name in a result is never free text.
fn is_plain_name(name: &str) -> bool {
    (1..=128).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
}
