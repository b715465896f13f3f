//! The record of one scenario.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::actions::SeenActions;
use super::crash::CrashSeen;
use super::files::SeenFile;
use super::journal::JournalLine;
use super::ledger::SeenLedger;
use crate::scenario::action::Action;
use crate::scenario::model::After;
use crate::scenario::{RequirementId, ScenarioId};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    pub scenario: ScenarioId,
    pub title: String,
    pub proves: Vec<RequirementId>,
    /// Every line on every pipe, in the order in which the judge wrote or read it.
    pub frames: Vec<Frame>,
    /// Every request that the judge sent as a client.
    pub exchanges: Vec<Exchange>,
    /// flow-fake's launch journal, in file order.
    pub journal: Vec<JournalLine>,
    pub servers: Vec<ServerSeen>,
    /// What was done, with variables filled in, and what the judge saw of it.
    pub steps: Vec<Step>,
    /// `[after]`, with variables filled in.
    pub after: After,
    pub files: Vec<SeenFile>,
    pub ledger: SeenLedger,
    #[serde(default)]
    pub actions: SeenActions,
    /// What an operator's commands say of each run, when all is over: looked for where the scenario is about it.
    #[serde(default)]
    pub operator: Vec<OperatorSaw>,
    /// Flow was the real one: it keeps no journal of ours, and what it saved is seen in the clinic alone.
    #[serde(default)]
    pub real_flow: bool,
    /// The made-up clinic of this world, at the end.
    #[serde(default)]
    pub clinic: Option<ClinicSeen>,
    /// Processes of this world that lived when they should have ended.
    pub leftovers: Vec<Leftover>,
    /// Values that only the judge may send, by name.
    pub canaries: BTreeMap<String, String>,
    /// Those of them that Flow was told to print or report.
    #[serde(default)]
    pub printed: BTreeSet<String>,
    /// What was seen of a crash, in a scenario that has one.
    #[serde(default)]
    pub crash: Option<CrashSeen>,
    pub stopped: Option<Stopped>,
    pub seconds: f64,
    /// What puts journals and files on the clock of the frames.
    #[serde(default)]
    pub clock: Clock,
}

/// When things were, in microseconds since 1970.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clock {
    /// The moment that frames count from.
    pub began_us: u64,
    /// When each file was last written.
    pub written_us: BTreeMap<PathBuf, u64>,
}

/// One command of an operator, and what it printed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OperatorSaw {
    pub words: Vec<String>,
    /// The run that it was asked about.
    pub run: Option<String>,
    pub exit: Exit,
    pub stdout: String,
    pub stderr: String,
}

/// A clinic's store, and its own journal of every write.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ClinicSeen {
    pub records: Vec<Value>,
    pub rejected: u64,
    pub journal: Vec<Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// From the judge to the server; logged before it is written.
    Sent,
    Received,
}

/// One line on a pipe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    pub server: String,
    pub way: Way,
    /// Microseconds since the world began.
    pub at_us: u64,
    /// How many journal lines stood when this line was sent or received.
    pub journal: usize,
    /// The line without its newline; bytes that are no UTF-8 are replaced, and `utf8` is false.
    pub text: String,
    /// Its length in bytes, which is more than `text` holds where a long line was cut.
    pub bytes: usize,
    pub utf8: bool,
    /// The line ended with a newline.
    pub ended: bool,
    /// Sent as raw bytes by a scenario: may be anything.
    pub raw: bool,
}

/// One request of the judge and the frames that answer it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    pub server: String,
    pub id: Value,
    pub method: String,
    /// The tool, for tools/call.
    pub tool: Option<String>,
    /// The tool's arguments or the request's params.
    pub arguments: Value,
    /// Index into `frames`.
    pub request: usize,
    /// Index of the first answer.
    pub answer: Option<usize>,
    /// Index of the frame that cancelled it.
    pub cancelled: Option<usize>,
    /// Index into `steps`; none for the handshake.
    pub step: Option<usize>,
}

/// One server process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServerSeen {
    pub name: String,
    pub pid: Option<u32>,
    pub modern: bool,
    pub stderr: String,
    pub stderr_bytes: usize,
    pub exit: Option<Exit>,
    pub end: ServerEnd,
    /// Exchange index of tools/list in the handshake.
    pub tools: Option<usize>,
    /// The handshake came to its end; none where the scenario asked for no handshake.
    pub greeted: Option<bool>,
}

/// Who ended a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ServerEnd {
    /// stdin was closed when all was done: it exits by itself.
    Closed,
    /// A scenario closed a stream or sent a signal.
    ByScenario,
    /// It had ended before anyone asked.
    Early,
    /// It didn't end after stdin was closed, and was killed.
    Hung,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Exit {
    Code(i32),
    Signal(i32),
}

/// One action that was done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    pub action: Action,
    pub seen: Seen,
}

/// What the judge saw of one action, apart from frames and journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Seen {
    Nothing,
    /// Exchanges of a call, a join, a cancel or a pending, and whether their answers were waited for.
    Answers {
        exchanges: Vec<usize>,
        awaited: bool,
    },
    /// Frames that came after raw bytes were sent, up to the probe's answer.
    Frames {
        from: usize,
        to: usize,
        server: String,
        probe: Option<usize>,
    },
    Exited(Exit),
    Program {
        exit: Exit,
        stdout: String,
        stderr: String,
    },
    File(SeenFile),
    /// Frames from the first line of a storm to the last answer, and the most memory that the server ever had.
    Storm {
        from: usize,
        to: usize,
        server: String,
        peak_kb: Option<u64>,
    },
    /// The frames that told of progress.
    Progress {
        frames: Vec<usize>,
    },
    /// The frames that showed the forms of a call.
    Forms {
        frames: Vec<usize>,
    },
    Journal {
        line: usize,
    },
    Process {
        pid: u32,
        alive: bool,
    },
    /// Which of these exchanges had no answer at that moment.
    Unanswered {
        exchanges: Vec<usize>,
        answered: Vec<usize>,
    },
}

/// Why a scenario ended before its last action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stopped {
    /// Index into `steps`; none before the first action.
    pub step: Option<usize>,
    pub cause: StopCause,
    pub waited_for: String,
    pub detail: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopCause {
    /// The program under judgement could not be started at all.
    NoAgent,
    /// It ended or closed its pipe while it was waited for.
    AgentEnded,
    /// It never did what was waited for.
    AgentSilent,
    /// Flow's stand-in ended, or never came to the point that was waited for.
    Engine,
    /// The scenario itself is at fault.
    Scenario,
    /// A folder, a file or a process couldn't be made.
    Environment,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leftover {
    pub pid: u32,
    pub command: String,
}

impl Clock {
    /// `elapsed` has gone by since the world began.
    pub fn of(files: &[SeenFile], elapsed: Duration) -> Self {
        let now = SystemTime::now();
        let written = files.iter().filter_map(|file| {
            let written = std::fs::symlink_metadata(&file.path).ok()?.modified().ok()?;
            Some((file.path.clone(), micros(written)))
        });
        Self { began_us: micros(now.checked_sub(elapsed).unwrap_or(now)), written_us: written.collect() }
    }
}

fn micros(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or_default()
}

impl Evidence {
    pub fn answer(&self, exchange: &Exchange) -> Option<Value> {
        self.message(exchange.answer?)
    }

    /// The frame as JSON.
    pub fn message(&self, frame: usize) -> Option<Value> {
        serde_json::from_str(&self.frames.get(frame)?.text).ok()
    }

    /// The answers of tools/call that carry a result object. A tool without an output schema says it in its text.
    pub fn tool_results(&self) -> impl Iterator<Item = (&Exchange, Value)> {
        self.exchanges.iter().filter_map(|exchange| {
            exchange.tool.as_ref()?;
            let answer = self.answer(exchange)?;
            let result = answer.get("result").filter(|result| result.get("isError") != Some(&Value::Bool(true)))?;
            Some((exchange, object_of(result))).filter(|(_, object)| object.is_object())
        })
    }

    /// The messages of a line: one, or those of a batch.
    pub fn messages(&self, frame: usize) -> Vec<Value> {
        match self.message(frame) {
            Some(Value::Array(batch)) => batch,
            Some(message) => vec![message],
            None => Vec::new(),
        }
    }

    pub fn server(&self, name: &str) -> Option<&ServerSeen> {
        self.servers.iter().rev().find(|server| server.name == name)
    }
}

/// What a result says: its structured content, its text where that is JSON, or itself.
pub fn object_of(result: &Value) -> Value {
    if let Some(structured) = result.get("structuredContent") {
        return structured.clone();
    }
    let text = result.pointer("/content/0/text").and_then(Value::as_str);
    text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_else(|| result.clone())
}

impl std::fmt::Display for Exit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "death by signal {signal}"),
        }
    }
}
