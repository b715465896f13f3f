//! What the recording tools answer: closed words, opaque ids, the names that the call itself gave.

use serde_json::{Map, Value, json};

use super::label::Label;
use super::observe::NodeId;
use super::request::{Param, Place, Step};
use crate::contract::outcome::closed_words;
use crate::flow::hex_text::is_hex;

closed_words! {
    /// Why a session says no, as the bridge spells it. Nothing was done.
    Refused {
        NotRecording = "not_recording",
        AlreadyRecording = "already_recording",
        Paused = "paused",
        NotPaused = "not_paused",
        Halted = "halted",
        StaleNode = "stale_node",
        MissingPauseTarget = "missing_pause_target",
        MissingSecretType = "missing_secret_type",
        NotCompiled = "not_compiled",
        AdmitRefused = "admit_refused",
        AdmitUnavailable = "admit_unavailable",
        CoachOnly = "coach_only",
        ScrubbingFailed = "scrubbing_failed",
        /// The session says no for a reason that has no word here.
        Other = "other",
    }
}

closed_words! {
    /// Why a person's text isn't in the recording. The pause goes on.
    NotRecorded {
        EmptySecretField = "empty_secret_field",
        UnconfirmedMaskedSecret = "unconfirmed_masked_secret",
        EmptyField = "empty_field",
        UnreadableField = "unreadable_field",
    }
}

impl Refused {
    /// Told as a result, not as an error: the caller can put it right by itself, or hand it on as it is.
    pub const fn as_result(self) -> Option<&'static str> {
        match self {
            Self::StaleNode
            | Self::MissingSecretType
            | Self::NotCompiled
            | Self::AdmitRefused
            | Self::AdmitUnavailable => Some(self.as_str()),
            _ => None,
        }
    }
}

/// What a step that was carried out answers. `said` is the session's own answer: nothing of it is told but what has a shape here.
pub fn done(step: &Step, said: &Map<String, Value>) -> Map<String, Value> {
    let flag = |key: &str| said.get(key) == Some(&Value::Bool(true));
    let answer = match step {
        Step::StartRecord => json!({ "status": "recording" }),
        Step::Click(place) => {
            let mut clicked = json!({ "status": "ok" });
            if let Place::Node(node) = place
                && let Some(node) = NodeId::parse(node.as_str())
            {
                clicked["node_id"] = node.to_string().into();
            }
            clicked
        }
        Step::Halt => json!({ "status": "halted", "compiled": false }),
        Step::Type { param, .. } => {
            let mut typed = json!({ "status": "ok", "recorded": true });
            if let Some(param) = param {
                typed["param"] = param.as_str().into();
            }
            typed
        }
        Step::Pause { param, secret, .. } => {
            let mut paused = json!({ "status": "paused", "param": param.as_ref().map(Param::as_str) });
            if *secret {
                paused["secret"] = true.into();
            }
            paused
        }
        Step::Continue => {
            let recorded = flag("recorded");
            let mut continued = json!({ "recorded": recorded });
            if let Some(param) =
                said.get("param").and_then(Value::as_str).and_then(|param| Param::read(param.to_owned()).ok())
            {
                continued["param"] = param.as_str().into();
            }
            let reason = said.get("reason").and_then(Value::as_str).and_then(NotRecorded::parse);
            if !recorded {
                continued["reason"] = reason.unwrap_or(NotRecorded::UnreadableField).as_str().into();
            }
            continued
        }
        Step::StopRecord => json!({ "status": "stopped", "compiled": false }),
        Step::Compile => with_workflow(json!({ "status": "needs_human_admit", "recording_retained": true }), said),
        Step::Admit => with_workflow(json!({ "status": "admitted" }), said),
        _ => json!({}),
    };
    object(answer)
}

pub fn refused(word: &str) -> Map<String, Value> {
    object(json!({ "status": "error", "error": word }))
}

pub fn bind_status() -> Map<String, Value> {
    object(json!({ "status": "stdio", "bound": true, "transport": "stdio" }))
}

/// The hint for the person; `set` where it was just set.
pub fn coach(set: bool, hint: Option<&Label>) -> Map<String, Value> {
    let hint = json!({ "hint": hint.map(Label::as_str) });
    object(if set { json!({ "status": "ok", "hint": hint["hint"] }) } else { hint })
}

/// The last answer under its tool's name, for clients that look it up afterwards.
pub fn command(last: Option<&(&'static str, Map<String, Value>)>) -> Map<String, Value> {
    let (name, result) = match last {
        Some((name, result)) => (Value::from(*name), Value::Object(result.clone())),
        None => (Value::Null, Value::Null),
    };
    let status = if last.is_some() { "done" } else { "idle" };
    object(json!({ "command_id": name, "status": status, "retry_after_ms": 0, "result": result }))
}

fn with_workflow(mut answer: Value, said: &Map<String, Value>) -> Value {
    let id = said.get("workflow_id").and_then(Value::as_str);
    if let Some(id) = id.filter(|id| id.strip_prefix("wf_").is_some_and(|digits| is_hex(digits, 32))) {
        answer["workflow_id"] = id.into();
    }
    answer
}

fn object(value: Value) -> Map<String, Value> {
    if let Value::Object(object) = value { object } else { Map::new() }
}
