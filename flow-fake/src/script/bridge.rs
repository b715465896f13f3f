//! What a script says about the bridge: how it answers, and what goes wrong with it.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::step::typed;
use super::{AuthoringSpec, ScriptError, Step, read};
use crate::attended::{Action, CrashPoint, Status};

#[derive(Debug, Clone)]
pub struct BridgeSpec {
    /// Whether a live executor is ready; by default when a deployment was given.
    pub live: Option<bool>,
    /// Whether attended decisions are known to this Flow at all.
    pub attended: bool,
    on: BTreeMap<Action, Vec<BridgeStep>>,
    /// Played between the check and the delivery of a continuation.
    pub validating: Vec<BridgeStep>,
    pub crash_at: Option<Crash>,
    pub hang: Option<Fault>,
    pub garbage: Option<Garbage>,
    /// The script has runs driven in a real browser: nobody but that run knows how the rest of it would be done.
    pub drives: bool,
    /// The recording session.
    pub authoring: AuthoringSpec,
}

/// One step of a decision.
#[derive(Debug, Clone)]
pub enum BridgeStep {
    /// Ends the list with this status.
    Decide(Status),
    /// As a first step: refused, with nothing written.
    Refuse(String),
    Play(Step),
}

/// Something goes wrong at an operation, so often; without an end when nothing says how often.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    pub op: String,
    pub times: Option<u64>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Crash {
    pub at: CrashPoint,
    pub times: Option<u64>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Garbage {
    pub kind: GarbageKind,
    /// The operation that it goes with; without one, every operation.
    pub op: Option<String>,
    pub times: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GarbageKind {
    /// Lines that are no response come before the response.
    Before,
    /// They come in place of the response.
    Instead,
    /// The response has another request's id.
    ForeignId,
    /// Half of the response, then the process ends.
    Torn,
}

impl BridgeSpec {
    pub fn steps(&self, action: Action) -> &[BridgeStep] {
        self.on.get(&action).map_or(&[], Vec::as_slice)
    }

    /// Reads the value of `bridge` at the top of a script.
    pub fn parse(value: Value) -> Result<Self, ScriptError> {
        let raw: Raw = typed(value).map_err(|problem| malformed(&problem))?;
        let mut on = BTreeMap::new();
        for (action, steps) in raw.on {
            on.insert(action, if action.continues() { bridge_steps(steps)? } else { record_steps(steps)? });
        }
        Ok(Self {
            live: raw.live,
            attended: raw.attended.unwrap_or(true),
            on,
            validating: record_steps(raw.validating)?,
            crash_at: raw.crash_at.map(|crash| short_or_long(crash, "at")).transpose()?,
            hang: raw.hang.map(|hang| short_or_long(hang, "op")).transpose()?,
            garbage: raw
                .garbage
                .and_then(|garbage| match garbage {
                    Value::Bool(false) => None,
                    Value::Bool(true) => Some(short_or_long(Value::from("before"), "kind")),
                    other => Some(short_or_long(other, "kind")),
                })
                .transpose()?,
            drives: false,
            authoring: raw.authoring,
        })
    }
}

impl Default for BridgeSpec {
    fn default() -> Self {
        Self {
            live: None,
            attended: true,
            on: BTreeMap::new(),
            validating: Vec::new(),
            crash_at: None,
            hang: None,
            garbage: None,
            drives: false,
            authoring: AuthoringSpec::default(),
        }
    }
}

impl BridgeStep {
    fn parse(name: &str, argument: Option<Value>) -> Result<Self, String> {
        match (name, argument) {
            ("decide", Some(argument)) => typed(argument).map(Self::Decide),
            ("refuse", Some(argument)) => typed(argument).map(Self::Refuse),
            ("run_dir" | "gate" | "usage_error" | "system_exit" | "stale_report" | "late_report", _) => {
                Err("a bridge has no part in it".into())
            }
            (name, argument) => Step::parse(name, argument).map(Self::Play),
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Raw {
    live: Option<bool>,
    attended: Option<bool>,
    on: BTreeMap<Action, Value>,
    validating: Value,
    crash_at: Option<Value>,
    hang: Option<Value>,
    garbage: Option<Value>,
    authoring: AuthoringSpec,
}

fn bridge_steps(value: Value) -> Result<Vec<BridgeStep>, ScriptError> {
    if value.is_null() {
        return Ok(Vec::new());
    }
    let steps = read::list(0, value, BridgeStep::parse)?;
    let refuses = |step: &BridgeStep| matches!(step, BridgeStep::Refuse(_));
    if steps.iter().skip(1).any(refuses) {
        return Err(malformed("`refuse` is the first step or none: nothing was written yet"));
    }
    Ok(steps)
}

/// Steps that leave the run's files alone.
fn record_steps(value: Value) -> Result<Vec<BridgeStep>, ScriptError> {
    let steps = bridge_steps(value)?;
    let writes =
        |step: &BridgeStep| matches!(step, BridgeStep::Play(Step::Report(_) | Step::Pause(_) | Step::Drive(_)));
    if steps.iter().any(writes) {
        return Err(malformed("only a run that goes on leaves a report or a pause"));
    }
    Ok(steps)
}

/// A mere word stands for an object with that one key.
fn short_or_long<T: serde::de::DeserializeOwned>(value: Value, key: &str) -> Result<T, ScriptError> {
    let value = if value.is_string() { Value::from_iter([(key, value)]) } else { value };
    typed(value).map_err(|problem| malformed(&problem))
}

fn malformed(problem: &str) -> ScriptError {
    ScriptError::Malformed { problem: format!("`bridge`: {problem}") }
}
