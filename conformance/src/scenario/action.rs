//! The verbs of a scenario. Each action has exactly one, and the verb's own key says which.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::files::{Edit, Look};
use super::form::{Answer, Asked};
pub use super::verbs::*;

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Action {
    Call(Box<Call>),
    Join(Box<Join>),
    Pending(Pending),
    Cancel(Cancel),
    Asked(Asked),
    Answer(Answer),
    Notify(Notify),
    Tools(Tools),
    Send(Send),
    Progress(Progress),
    Storm(Storm),
    Reading(Reading),
    Start(Box<Start>),
    Close(Close),
    Signal(Kill),
    Gone(Gone),
    Alive(Alive),
    Cli(Cli),
    Await(Await),
    Release(Release),
    Flow(FlowVerb),
    Ask(Ask),
    Saved(Saved),
    Edit(Box<Edit>),
    File(Look),
}

impl<'de> Deserialize<'de> for Action {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(Map::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

/// Every verb, in the order of `scenarios/README.md`. `flow` comes after the words that other verbs use as a plain key.
const VERBS: &[&str] = &[
    "call", "request", "join", "pending", "cancel", "asked", "answer", "notify", "tools", "send", "hex", "progress",
    "storm", "reading", "start", "close", "signal", "gone", "alive", "cli", "await", "release", "ask", "flow", "saved",
    "edit", "file",
];

impl Action {
    fn parse(action: Map<String, Value>) -> Result<Self, String> {
        let found: Vec<&str> = VERBS.iter().copied().filter(|verb| action.contains_key(*verb)).collect();
        let verb = match found[..] {
            [verb] => verb,
            ["send", "hex"] => "send",
            ["hex", "edit"] => "edit",
            [] => return Err(format!("an action without a verb; one of {}", VERBS.join(", "))),
            _ => return Err(format!("an action with more than one verb: {}", found.join(", "))),
        };
        let value = Value::Object(action);
        match verb {
            "call" | "request" => typed(verb, value).map(Self::Call),
            "join" => typed(verb, value).map(Self::Join),
            "pending" => typed(verb, value).map(Self::Pending),
            "cancel" => typed(verb, value).map(Self::Cancel),
            "asked" => typed(verb, value).map(Self::Asked),
            "answer" => typed(verb, value).map(Self::Answer),
            "notify" => typed(verb, value).map(Self::Notify),
            "tools" => typed(verb, value).map(Self::Tools),
            "send" | "hex" => typed(verb, value).map(Self::Send),
            "progress" => typed(verb, value).map(Self::Progress),
            "storm" => typed(verb, value).map(Self::Storm),
            "reading" => typed(verb, value).map(Self::Reading),
            "start" => typed(verb, value).map(Self::Start),
            "close" => typed(verb, value).map(Self::Close),
            "signal" => typed(verb, value).map(Self::Signal),
            "gone" => typed(verb, value).map(Self::Gone),
            "alive" => typed(verb, value).map(Self::Alive),
            "cli" => typed(verb, value).map(Self::Cli),
            "await" => typed(verb, value).map(Self::Await),
            "release" => typed(verb, value).map(Self::Release),
            "flow" => typed(verb, value).map(Self::Flow),
            "ask" => typed(verb, value).map(Self::Ask),
            "saved" => typed(verb, value).map(Self::Saved),
            "edit" => typed(verb, value).map(Self::Edit),
            _ => typed(verb, value).map(Self::File),
        }
    }

    /// The verb and what it is about, for a person.
    pub fn headline(&self) -> String {
        match self {
            Self::Call(call) => {
                let what = match (&call.call, &call.request) {
                    (Some(tool), _) => format!("call {tool}"),
                    (None, method) => format!("request {}", method.as_deref().unwrap_or_default()),
                };
                match call.times {
                    Some(times) => format!("{what} {times} times at once"),
                    None => what,
                }
            }
            Self::Join(join) => format!("join {}", join.join),
            Self::Pending(pending) => format!("{} is still pending", pending.pending),
            Self::Cancel(cancel) => format!("cancel {}", cancel.cancel),
            Self::Asked(asked) => format!("a person is asked about {}", asked.asked),
            Self::Answer(answer) => format!("a person answers what {} asks", answer.answer),
            Self::Notify(notify) => format!("notify {}", notify.notify),
            Self::Tools(_) => "list the tools".into(),
            Self::Send(_) => "send raw bytes".into(),
            Self::Progress(progress) => format!("{} is told of progress", progress.progress),
            Self::Reading(reading) => format!("the client's reading {}", reading.reading),
            Self::Storm(storm) => format!("a storm of {} frames, seed {}", storm.storm, storm.seed),
            Self::Start(start) => format!("start server {}", start.start),
            Self::Close(close) => format!("close {} of the server", close.close),
            Self::Signal(kill) => format!("signal {:?} to {}", kill.signal, kill.to).to_lowercase(),
            Self::Gone(gone) => format!("{} ends", gone.gone),
            Self::Alive(alive) => format!("{} is alive", alive.alive),
            Self::Cli(cli) => format!("run the agent with: {}", cli.cli.join(" ")),
            Self::Await(wait) => format!("await {}", wait.event),
            Self::Release(release) => format!("release {}", release.release),
            Self::Flow(verb) => format!("flow {}", verb.flow.join(" ")),
            Self::Ask(ask) => {
                format!("ask the bridge {}", ask.ask.get("op").and_then(Value::as_str).unwrap_or_default())
            }
            Self::Saved(saved) => format!("a person saves what {} was for", saved.saved),
            Self::Edit(edit) => format!("edit {}", edit.edit),
            Self::File(look) => format!("look at {}", look.file),
        }
    }

    /// The author's own words on this action.
    pub fn note(&self) -> Option<&str> {
        let note = match self {
            Self::Call(x) => &x.note,
            Self::Join(x) => &x.note,
            Self::Pending(x) => &x.note,
            Self::Cancel(x) => &x.note,
            Self::Asked(x) => &x.note,
            Self::Answer(x) => &x.note,
            Self::Notify(x) => &x.note,
            Self::Tools(x) => &x.note,
            Self::Send(x) => &x.note,
            Self::Progress(x) => &x.note,
            Self::Storm(x) => &x.note,
            Self::Reading(x) => &x.note,
            Self::Start(x) => &x.note,
            Self::Close(x) => &x.note,
            Self::Signal(x) => &x.note,
            Self::Gone(x) => &x.note,
            Self::Alive(x) => &x.note,
            Self::Cli(x) => &x.note,
            Self::Await(x) => &x.note,
            Self::Release(x) => &x.note,
            Self::Flow(x) => &x.note,
            Self::Ask(x) => &x.note,
            Self::Saved(x) => &x.note,
            Self::Edit(x) => &x.note,
            Self::File(x) => &x.note,
        };
        note.as_deref()
    }
}

fn typed<T: DeserializeOwned>(verb: &str, value: Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(|error| format!("{verb}: {error}"))
}
