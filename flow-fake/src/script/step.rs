//! The closed set of steps.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::report::{LateReport, ReportSpec};
use super::{Status, Tamper};
use crate::output::Pipe;
use crate::report::Shape;

/// Every step's name, as a script spells it.
pub const STEP_NAMES: [&str; 22] = [
    "run_dir",
    "gate",
    "refuse",
    "usage_error",
    "system_exit",
    "traceback",
    "stdout",
    "stderr",
    "noise",
    "effect",
    "drive",
    "report",
    "stale_report",
    "late_report",
    "pause",
    "approval",
    "hold",
    "hang",
    "grandchild",
    "kill",
    "exit",
    "signal",
];

#[derive(Debug, Clone)]
pub enum Step {
    RunDir,
    /// The run directory of a run that isn't durable; a script can't ask for it.
    PlainRunDir,
    Gate(Gate),
    Refuse(String),
    UsageError(String),
    SystemExit(String),
    Traceback(String),
    Print(Pipe, String),
    Noise(Noise),
    Effect(Effect),
    Drive(Drive),
    Report(Box<ReportSpec>),
    StaleReport(Shape),
    LateReport(Box<LateReport>),
    Pause(PauseSpec),
    Approval(Approval),
    Hold(String),
    Hang(Hang),
    Grandchild(Grandchild),
    Kill(Target),
    Exit(u8),
    Signal(Signal),
}

impl Step {
    /// Reads one step: its name, and its argument unless it is a mere word. The error says what is wrong.
    pub fn parse(name: &str, argument: Option<Value>) -> Result<Self, String> {
        match (name, argument) {
            ("run_dir", None) => Ok(Self::RunDir),
            ("effect", None) => Ok(Self::Effect(Effect { label: "save".into(), to: None })),
            ("drive", None) => Ok(Self::Drive(Drive::default())),
            (_, Some(argument)) => Self::with_argument(name, argument),
            (known, None) if STEP_NAMES.contains(&known) => Err("it needs an argument".into()),
            _ => Err("there is no such step".into()),
        }
    }

    fn with_argument(name: &str, argument: Value) -> Result<Self, String> {
        Ok(match name {
            "gate" => Self::Gate(gate(argument)?),
            "refuse" => Self::Refuse(typed(argument)?),
            "usage_error" => Self::UsageError(typed(argument)?),
            "system_exit" => Self::SystemExit(typed(argument)?),
            "traceback" => Self::Traceback(typed(argument)?),
            "drive" => Self::Drive(drive(argument)?),
            "stdout" => Self::Print(Pipe::Stdout, typed(argument)?),
            "stderr" => Self::Print(Pipe::Stderr, typed(argument)?),
            "noise" => Self::Noise(noise(argument)?),
            "effect" => Self::Effect(typed(argument)?),
            "report" => Self::Report(Box::new(ReportSpec::parse(argument)?)),
            "stale_report" => Self::StaleReport(typed(argument)?),
            "late_report" => Self::LateReport(Box::new(LateReport::parse(argument)?)),
            "pause" => Self::Pause(pause(argument)?),
            "approval" => Self::Approval(typed(argument)?),
            "hold" => Self::Hold(control_name(typed(argument)?)?),
            "hang" => Self::Hang(hang(argument)?),
            "grandchild" => Self::Grandchild(grandchild(argument)?),
            "kill" => Self::Kill(typed(argument)?),
            "exit" => Self::Exit(typed(argument)?),
            "signal" => Self::Signal(typed(argument)?),
            "run_dir" => return Err("it is a mere word".into()),
            _ => return Err("there is no such step".into()),
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Gate {
    Admit,
    /// Titles of the checks that refuse; one that Flow doesn't know is printed after the known ones.
    Refuse(Vec<String>),
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Noise {
    pub to: Pipe,
    pub kind: NoiseKind,
    pub bytes: Option<u64>,
    #[serde(default)]
    pub endless: bool,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NoiseKind {
    Text,
    Binary,
    Newlines,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Effect {
    pub label: String,
    /// The clinic that the save goes to; without one it is a line in the journal only.
    #[serde(default)]
    pub to: Option<String>,
}

/// The recorded workflow in a real browser. Each key names a step of it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Drive {
    /// Held before this step, under its name.
    pub hold_before: Option<String>,
    /// Held when its action was done and nothing has been looked at.
    pub hold_after: Option<String>,
    /// The page answers nothing from before this step on.
    pub freeze_before: Option<String>,
    pub freeze_after: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PauseSpec {
    /// Free text, so that a category of a later Flow can be played.
    pub category: String,
    #[serde(default)]
    pub status: Status,
    #[serde(default)]
    pub tamper: Tamper,
    /// How long ago the pause was made, in seconds.
    #[serde(default)]
    pub age_s: f64,
    /// How long ago the capability was issued, when that is another time.
    pub capability_age_s: Option<f64>,
    /// The step's guard says that it may be skipped.
    #[serde(default)]
    pub guard_skips: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Approval {
    Request {
        /// Seconds from now; a negative number has run out.
        expires_in_s: f64,
    },
    AnswerApprove,
    AnswerDecline,
    Consume,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hang {
    pub ignore_sigterm: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grandchild {
    pub name: String,
    /// The pipes of Flow that it keeps open.
    #[serde(default)]
    pub holds: Vec<Pipe>,
    /// In a process group of its own, so that a kill of Flow's group doesn't reach it.
    #[serde(default)]
    pub own_group: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Target {
    Keeper,
    Server,
    Both,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum Signal {
    #[serde(rename = "KILL")]
    Kill,
    #[serde(rename = "TERM")]
    Term,
    #[serde(rename = "SEGV")]
    Segv,
}

impl PauseSpec {
    /// An open pause of this category, made now.
    pub fn of(category: &str) -> Self {
        Self {
            category: category.into(),
            status: Status::default(),
            tamper: Tamper::default(),
            age_s: 0.0,
            capability_age_s: None,
            guard_skips: false,
        }
    }
}

/// A name that is safe as the tail of a file name in the control folder.
pub fn control_name(name: String) -> Result<String, String> {
    let safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if name.is_empty() || name.len() > 64 || !name.chars().all(safe) {
        return Err("a name is 1 to 64 of the characters a-z A-Z 0-9 - _".into());
    }
    Ok(name)
}

pub fn typed<T: DeserializeOwned>(argument: Value) -> Result<T, String> {
    serde_json::from_value(argument).map_err(|error| error.to_string())
}

fn drive(argument: Value) -> Result<Drive, String> {
    let drive: Drive = typed(argument)?;
    let named = [&drive.hold_before, &drive.hold_after, &drive.freeze_before, &drive.freeze_after];
    let known = |name: &String| crate::drive::STEPS.iter().any(|step| step.id == name);
    if !named.into_iter().flatten().all(known) {
        return Err("it has no such step: they are step_000 to step_005".into());
    }
    Ok(drive)
}

fn gate(argument: Value) -> Result<Gate, String> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Refusal {
        refuse: Vec<String>,
    }
    if argument == "admit" {
        return Ok(Gate::Admit);
    }
    let Refusal { refuse } = typed(argument).map_err(|_| "it is \"admit\" or {\"refuse\":[titles]}".to_owned())?;
    if refuse.is_empty() || refuse.iter().any(|title| title.is_empty() || title.contains([':', '\n', ','])) {
        return Err("a refusal needs at least one title, without `:`, `,` or a line end".into());
    }
    Ok(Gate::Refuse(refuse))
}

fn noise(argument: Value) -> Result<Noise, String> {
    let noise: Noise = typed(argument)?;
    if noise.endless == noise.bytes.is_some() || noise.bytes == Some(0) {
        return Err("give either `bytes` or `\"endless\": true`".into());
    }
    Ok(noise)
}

fn pause(argument: Value) -> Result<PauseSpec, String> {
    let pause: PauseSpec = typed(argument)?;
    let word = |c: char| c.is_ascii_lowercase() || c == '_';
    if !pause.category.starts_with(|c: char| c.is_ascii_lowercase()) || !pause.category.chars().all(word) {
        return Err("a category is a word of a-z and _".into());
    }
    Ok(pause)
}

fn hang(argument: Value) -> Result<Hang, String> {
    if argument == "until-killed" { Ok(Hang::default()) } else { typed(argument) }
}

fn grandchild(argument: Value) -> Result<Grandchild, String> {
    let mut child: Grandchild = typed(argument)?;
    child.name = control_name(child.name)?;
    Ok(child)
}
