//! What each verb of a scenario takes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::form::FormReply;
use super::model::ServerPlan;
use crate::check::matcher::Matcher;

/// `call = "tool"` or `request = "method"`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Call {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    pub args: Option<Map<String, Value>>,
    pub params: Option<Value>,
    pub server: Option<String>,
    pub servers: Option<Servers>,
    pub times: Option<u32>,
    /// How a form is answered; else the server's plan says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub form: Option<FormReply>,
    /// A seed: the arguments of each of the calls are the given ones, changed by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fuzz: Option<u64>,
    #[serde(rename = "as")]
    pub name: Option<String>,
    #[serde(flatten)]
    pub wanted: Wanted,
    pub note: Option<String>,
}

/// What is said about the answers to a call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Wanted {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect: Option<Matcher>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<Refused>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorWanted>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<Matcher>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub same: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub count: Vec<Count>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub capture: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_least_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_most_ms: Option<u64>,
}

/// `true`, or a matcher on the text of a tool's refusal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Refused {
    Any(bool),
    Text(Matcher),
}

/// A code, or a matcher on the whole error object.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ErrorWanted {
    Code(i64),
    Object(Matcher),
}

/// `"all"`, or names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Servers {
    All(AllServers),
    Named(Vec<String>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AllServers {
    All,
}

/// How many of the answers match.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Count {
    #[serde(rename = "where")]
    pub matching: Matcher,
    pub is: Option<usize>,
    pub at_least: Option<usize>,
    pub at_most: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Join {
    pub join: String,
    #[serde(flatten)]
    pub wanted: Wanted,
    pub note: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pending {
    pub pending: String,
    pub note: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cancel {
    pub cancel: String,
    pub note: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Notify {
    pub notify: String,
    pub params: Option<Value>,
    pub server: Option<String>,
    pub note: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tools {
    pub tools: Vec<String>,
    #[serde(default)]
    pub tool: BTreeMap<String, Matcher>,
    pub server: Option<String>,
    pub note: Option<String>,
}

/// Bytes as they are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Send {
    #[serde(default)]
    pub send: Vec<String>,
    pub hex: Option<String>,
    #[serde(default = "yes")]
    pub newline: bool,
    pub pad: Option<Pad>,
    /// Bytes of one write.
    pub slices: Option<usize>,
    #[serde(default)]
    pub answers: Vec<Matcher>,
    #[serde(default)]
    pub silence: bool,
    #[serde(default = "yes")]
    pub probe: bool,
    pub server: Option<String>,
    pub note: Option<String>,
}

/// Waits until each call of a name has had so many progress notifications.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    pub progress: String,
    #[serde(default = "one")]
    pub count: usize,
    pub note: Option<String>,
}

/// So many frames that nobody should send.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Storm {
    pub storm: u64,
    pub seed: u64,
    #[serde(default)]
    pub of: StormKind,
    pub server: Option<String>,
    pub note: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StormKind {
    #[default]
    Everything,
    /// Good requests that ask for nothing.
    Pings,
    /// Good requests with long answers, which aren't read until no more requests are taken.
    Unread,
}

/// The client stops reading what the server says, or goes on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reading {
    pub reading: ReadingWord,
    pub server: Option<String>,
    pub note: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadingWord {
    Stops,
    GoesOn,
}

/// Fills `{pad}` in the line until the line has `to` bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pad {
    pub to: usize,
    #[serde(default = "an_x")]
    pub with: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Start {
    pub start: String,
    #[serde(flatten)]
    pub plan: ServerPlan,
    pub note: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Close {
    pub close: Stream,
    pub exit: Option<ExitWanted>,
    pub server: Option<String>,
    pub note: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stream {
    Stdin,
    Stdout,
    Stderr,
}

/// An exit code, or the word `signal`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ExitWanted {
    Code(i32),
    Signal(SignalWord),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SignalWord {
    Signal,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kill {
    pub signal: SignalName,
    pub to: ProcessName,
    pub run: Option<String>,
    pub server: Option<String>,
    pub exit: Option<ExitWanted>,
    #[serde(default)]
    pub after_us: u64,
    pub note: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum SignalName {
    Kill,
    Term,
    Int,
    Stop,
    Cont,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gone {
    pub gone: ProcessName,
    pub run: Option<String>,
    pub server: Option<String>,
    pub note: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alive {
    pub alive: ProcessName,
    pub run: Option<String>,
    pub server: Option<String>,
    pub note: Option<String>,
}

/// `server`, `keeper`, `flow`, `flow-group`, `bridge`, `clinic`, `grandchild:NAME`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ProcessName {
    Server,
    Keeper,
    Flow,
    FlowGroup,
    Bridge,
    /// The made-up clinic of this world.
    Clinic,
    Grandchild(String),
}

/// The agent's command line, run to its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cli {
    pub cli: Vec<String>,
    pub exit: Option<ExitWanted>,
    pub stdout: Option<Matcher>,
    pub stderr: Option<Matcher>,
    #[serde(default)]
    pub hint: bool,
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    pub note: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Await {
    #[serde(rename = "await")]
    pub event: String,
    #[serde(default = "one")]
    pub count: usize,
    pub run: Option<String>,
    pub note: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Release {
    pub release: String,
    pub note: Option<String>,
}

/// Flow's command line, run to its end: a verb of its own, or one of flow-fake's on a run folder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowVerb {
    pub flow: Vec<String>,
    #[serde(default)]
    pub by: FlowProgram,
    #[serde(default)]
    pub exit: i32,
    pub stdout: Option<Matcher>,
    pub stderr: Option<Matcher>,
    pub note: Option<String>,
}

/// Which of Flow's programs is started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlowProgram {
    #[default]
    Cli,
    /// What makes a standard run without an admission, as the sandbox does.
    Standard,
    /// The interpreter of the real Flow.
    Python,
}

/// One request to Flow's bridge, in a process of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    pub ask: Map<String, Value>,
    pub expect: Option<Matcher>,
    #[serde(default)]
    pub capture: BTreeMap<String, String>,
    pub note: Option<String>,
}

/// A save that a person let happen, outside of any launch: one more line in the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Saved {
    /// The run id.
    pub saved: String,
    pub note: Option<String>,
}

impl Wanted {
    /// This, and what a later `join` adds.
    pub fn and(&self, later: &Self) -> Self {
        let (first, later) = (self.clone(), later.clone());
        Self {
            expect: later.expect.or(first.expect),
            absent: [first.absent, later.absent].concat(),
            refused: later.refused.or(first.refused),
            error: later.error.or(first.error),
            text: later.text.or(first.text),
            same: [first.same, later.same].concat(),
            count: [first.count, later.count].concat(),
            capture: first.capture.into_iter().chain(later.capture).collect(),
            at_least_ms: later.at_least_ms.or(first.at_least_ms),
            at_most_ms: later.at_most_ms.or(first.at_most_ms),
        }
    }
}

impl TryFrom<String> for ProcessName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.as_str() {
            "server" => Ok(Self::Server),
            "keeper" => Ok(Self::Keeper),
            "flow" => Ok(Self::Flow),
            "flow-group" => Ok(Self::FlowGroup),
            "bridge" => Ok(Self::Bridge),
            "clinic" => Ok(Self::Clinic),
            other => match other.strip_prefix("grandchild:") {
                Some(name) if !name.is_empty() => Ok(Self::Grandchild(name.to_owned())),
                _ => Err(format!(
                    "{other:?} is no process: server, keeper, flow, flow-group, bridge, clinic, grandchild:NAME"
                )),
            },
        }
    }
}

impl From<ProcessName> for String {
    fn from(name: ProcessName) -> Self {
        name.to_string()
    }
}

impl std::fmt::Display for ProcessName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Server => f.write_str("server"),
            Self::Keeper => f.write_str("keeper"),
            Self::Flow => f.write_str("flow"),
            Self::FlowGroup => f.write_str("flow-group"),
            Self::Bridge => f.write_str("bridge"),
            Self::Clinic => f.write_str("clinic"),
            Self::Grandchild(name) => write!(f, "grandchild:{name}"),
        }
    }
}

impl std::fmt::Display for ReadingWord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Stops => "stops",
            Self::GoesOn => "goes on",
        })
    }
}

impl std::fmt::Display for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Stdin => "stdin",
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        })
    }
}

fn yes() -> bool {
    true
}

fn one() -> usize {
    1
}

fn an_x() -> String {
    "x".into()
}
