//! A scenario as its author wrote it, after cases were expanded and before variables have values. `scenarios/README.md` explains every key.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::action::Action;
use super::files::{FileFact, PlantedFile};
use super::form::FormReply;
use super::id::{RequirementId, ScenarioId};
use super::mailbox::MailboxAnswer;
use crate::check::matcher::Matcher;
use crate::crash::{Case, Kill};

/// One scenario, as it is run and judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    pub id: ScenarioId,
    /// One sentence: what holds.
    pub title: String,
    /// The requirements that this scenario proves when it passes.
    pub proves: Vec<RequirementId>,
    #[serde(default = "core_profile")]
    pub profile: String,
    /// The longest wait of one action, in seconds.
    #[serde(default = "default_deadline")]
    pub deadline_s: u64,
    #[serde(default)]
    pub world: World,
    #[serde(default)]
    pub flow: Script,
    #[serde(default, rename = "do")]
    pub actions: Vec<Action>,
    #[serde(default)]
    pub after: After,
    /// Server or keeper dies at a named moment, instead of actions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crash: Option<Case>,
    /// They are killed at a moment that is drawn, instead of actions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kill: Option<Kill>,
}

/// The folders, bundles and servers that a scenario begins with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct World {
    pub mode: Mode,
    pub runs: RunsFolder,
    /// `given`, `missing`, or a command of its own.
    pub flow_cli: String,
    /// Servers that are started before the first action.
    pub servers: u32,
    #[serde(flatten)]
    pub server: ServerPlan,
    pub bundle: Option<Vec<Bundle>>,
    /// A made-up clinic runs beside the servers; `$clinic` is its address, `$world/clinic.jsonl` its journal.
    pub clinic: bool,
    /// Flow is the real one, set up by `conformance setup-flow`. Without it the scenario can't be run.
    pub real_flow: bool,
    /// Which Flow plays: the stand-in, or whichever the judge was told to take.
    pub engine: Engine,
    /// Somebody else has written one row about the first patient.
    pub clinic_seeded: bool,
    /// The mailbox of a hosted chat app stands on this computer, and answers this, call by call.
    pub mailbox: Option<Vec<MailboxAnswer>>,
    /// Its processes are told of a real browser. Without one the scenario can't be run.
    pub browser: bool,
    pub files: Vec<PlantedFile>,
    pub older: Vec<OlderAgent>,
}

/// How one server is started and spoken to. An action `start` has the same keys and overrides what it names.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerPlan {
    pub timeout_s: Option<u64>,
    pub serve: Option<Vec<String>>,
    pub argv: Option<Vec<String>>,
    pub era: Option<Era>,
    pub protocol: Option<String>,
    pub capabilities: Option<Map<String, Value>>,
    /// How the client's person answers forms; never, where nothing is said.
    pub forms: Option<FormReply>,
    pub handshake: Option<bool>,
    pub env: Option<BTreeMap<String, String>>,
    pub umask: Option<String>,
    /// No file that it writes may grow beyond so many blocks of 512 bytes, as on a full disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_blocks: Option<u64>,
    /// Without the privileges that a superuser has: permissions hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unprivileged: Option<bool>,
    pub stdio: Option<Stdio>,
    pub stderr: Option<Stderr>,
}

/// Who can play Flow in a world.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    #[default]
    StandIn,
    /// The body is the same for the stand-in on a real browser and for the real Flow.
    Any,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    #[default]
    Production,
    ReadOnly,
    Attended,
    AllowRun,
    Bare,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunsFolder {
    #[default]
    Flag,
    Env,
    Default,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Era {
    #[default]
    Legacy,
    Modern,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stdio {
    #[default]
    Pipe,
    Socketpair,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stderr {
    #[default]
    Drained,
    Undrained,
    Closed,
}

/// A workflow bundle that the judge writes and seals.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bundle {
    pub dir: String,
    pub name: Option<String>,
    pub params: Option<Map<String, Value>>,
    #[serde(default)]
    pub param_specs: Map<String, Value>,
    pub steps: Option<Vec<Value>>,
    /// JSON merge patch over the whole workflow, before it is sealed.
    #[serde(default)]
    pub workflow: Map<String, Value>,
    pub card: Option<Card>,
    pub card_text: Option<String>,
    #[serde(default)]
    pub templates: BTreeMap<String, String>,
    #[serde(default)]
    pub extra: BTreeMap<String, String>,
    #[serde(default)]
    pub manifest: Manifest,
    pub fault: Option<BundleFault>,
    /// The one that the real Flow recorded on the clinic, instead of one that the judge writes.
    #[serde(default)]
    pub recorded: bool,
}

/// `false` for none, or the card's keys.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Card {
    Wanted(bool),
    Keys(Map<String, Value>),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Manifest {
    #[default]
    Sound,
    None,
    Sidecar,
}

/// What is done to a bundle after it was sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BundleFault {
    TamperedWorkflow,
    TamperedTemplate,
    MissingTemplate,
    TamperedDigest,
    SymlinkedWorkflow,
    SymlinkedTemplate,
    SymlinkedCard,
    SymlinkedDir,
    NotJson,
    NotUtf8,
    NoName,
    EmptyFile,
    Encrypted,
    EncryptedOnly,
}

/// Records, index, key and ledger as an older (Python) agent leaves them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OlderAgent {
    pub request_id: String,
    pub workflow: String,
    #[serde(default)]
    pub inputs: Map<String, Value>,
    pub attempts: Vec<OlderAttempt>,
    #[serde(default)]
    pub skip: Vec<OlderPart>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OlderAttempt {
    pub run: String,
    pub state: OlderState,
    pub reason: Option<String>,
    /// JSON merge patch over the result that the reason implies.
    #[serde(default)]
    pub result: Map<String, Value>,
    /// The ledger's outcome for this attempt.
    pub outcome: Option<String>,
    pub pid: Option<u32>,
    pub host: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OlderState {
    Finished,
    Running,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OlderPart {
    Record,
    Index,
    Claim,
    Row,
    Key,
}

/// What flow-fake plays; handed on as it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<Vec<Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plays: Option<Vec<Value>>,
    /// What `flow-fake bridge` plays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bridge: Option<Value>,
    /// What `flow-fake certify` answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certify: Option<Value>,
}

/// What must be true when every server was closed and every process has ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct After {
    pub launches: Option<usize>,
    pub effects: Option<usize>,
    pub journal: Vec<Matcher>,
    pub journal_absent: Vec<Matcher>,
    pub ledger: Option<Vec<Matcher>>,
    pub records: Option<usize>,
    pub files: Vec<FileFact>,
    /// What the clinic's store holds.
    pub clinic: Option<ClinicFact>,
    pub stderr: Option<Matcher>,
    pub unanswered: Option<usize>,
    pub still_running: bool,
    /// At least so many canaries were handed out.
    pub canaries: Option<usize>,
    /// Canaries that an answer is meant to hold, and must: an operator asked for it.
    pub told: Vec<String>,
}

/// The clinic's store at the end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClinicFact {
    /// The rows, exactly, in their order.
    pub records: Option<Vec<Matcher>>,
    pub rejected: Option<u64>,
}

impl Scenario {
    /// Its programs must be a build for the judge: they die at named moments, or find a mailbox on this computer.
    pub fn needs_test_build(&self) -> bool {
        self.has_crash_points() || self.world.mailbox.is_some()
    }
}

impl World {
    pub fn bundles(&self) -> Vec<Bundle> {
        self.bundle.clone().unwrap_or_else(|| vec![Bundle::triage()])
    }

    pub fn is_for_any_engine(&self) -> bool {
        self.engine == Engine::Any
    }
}

impl Bundle {
    /// The bundle of a scenario that names none: one required text input, `note`.
    pub fn triage() -> Self {
        Self {
            dir: "triage".into(),
            name: None,
            params: None,
            param_specs: Map::new(),
            steps: None,
            workflow: Map::new(),
            card: None,
            card_text: None,
            templates: BTreeMap::new(),
            extra: BTreeMap::new(),
            manifest: Manifest::Sound,
            fault: None,
            recorded: false,
        }
    }
}

impl Default for World {
    fn default() -> Self {
        Self {
            mode: Mode::default(),
            runs: RunsFolder::default(),
            flow_cli: "given".into(),
            servers: 1,
            server: ServerPlan::default(),
            clinic: false,
            real_flow: false,
            engine: Engine::default(),
            clinic_seeded: false,
            mailbox: None,
            browser: false,
            bundle: None,
            files: Vec::new(),
            older: Vec::new(),
        }
    }
}

impl Default for Script {
    fn default() -> Self {
        let saved = vec!["run_dir".into(), "effect".into(), serde_json::json!({"report": "verified"})];
        Self { steps: Some(saved), plays: None, bridge: None, certify: None }
    }
}

impl ServerPlan {
    /// This plan, with what `over` names in its place.
    pub fn overridden_by(&self, over: &Self) -> Self {
        let (under, over) = (self.clone(), over.clone());
        let mut env = under.env.unwrap_or_default();
        env.extend(over.env.unwrap_or_default());
        Self {
            timeout_s: over.timeout_s.or(under.timeout_s),
            serve: over.serve.or(under.serve),
            argv: over.argv.or(under.argv),
            era: over.era.or(under.era),
            protocol: over.protocol.or(under.protocol),
            capabilities: over.capabilities.or(under.capabilities),
            forms: over.forms.or(under.forms),
            handshake: over.handshake.or(under.handshake),
            env: Some(env),
            umask: over.umask.or(under.umask),
            file_blocks: over.file_blocks.or(under.file_blocks),
            unprivileged: over.unprivileged.or(under.unprivileged),
            stdio: over.stdio.or(under.stdio),
            stderr: over.stderr.or(under.stderr),
        }
    }
}

fn core_profile() -> String {
    "core".into()
}

fn default_deadline() -> u64 {
    20
}
