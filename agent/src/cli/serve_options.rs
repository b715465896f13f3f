//! The flags of `serve`, and what they come to. Source: *Modes and tool registration*.

mod mailbox;
mod older;
pub mod recording;
mod sandbox;

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ValueEnum;

use super::environment::Environment;
use crate::admission::source::Source;
use crate::authoring::opening::RecordingOptions;
use crate::bridge::host::FORM_LIMIT;
use crate::contract::outcome::Mode;
use crate::flow::bridge::command::{BridgeCommand, Deployment};
use crate::flow::command::{FlowCommand, FlowSettings};
use crate::lifecycle::review::ReviewCommand;
use crate::refusal::Refusal;
use crate::sandbox::SandboxSettings;
use crate::variable;
use older::OlderFlags;
use recording::RecordingFlags;
use sandbox::SandboxFlags;

pub use mailbox::{MailboxFlags, for_a_mailbox};
pub use older::OlderOptions;

/// How Flow is called where nobody says otherwise.
const FLOW: &str = "openadapt-flow";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ModeFlag {
    Sandbox,
    Attended,
    Production,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum ApprovalModeFlag {
    EachItem,
    ProblemsOnly,
    NotGated,
}

const EXAMPLES: &str = "Examples:
  openadapt-agent serve                                                   a sandbox: a made-up workflow on a made-up app
  openadapt-agent serve --bundles workflows                               lists workflows, runs none
  openadapt-agent serve --mode production --bundles workflows             runs them
  openadapt-agent serve --mode attended --bundles workflows --config deployment.yaml
                                                                          also carries a person's decisions
  openadapt-agent serve --authoring --url http://localhost:8080 --headed  records a first demonstration
  openadapt-agent serve --from-env                                        takes everything from the environment

Environment:
  OPENADAPT_AGENT_RUNS_DIR   where runs and records are kept, if --runs-dir isn't given
  OPENADAPT_AGENT_SANDBOX_DIR  the same for the sandbox
  OPENADAPT_BUNDLE_KEY       Flow's key of encrypted workflows, handed on to Flow
  With --from-env also OPENADAPT_AGENT_BUNDLES_DIR, _ALLOW_RUN, _ALLOW_ATTENDED_ACTIONS, _DEPLOYMENT_CONFIG, _POLICY, _HEADED and
  _BUNDLE_KEY, each with OPENADAPT_AGENT before it.";

/// Under which words `--help` lists a flag.
mod heading {
    pub const MODES: &str = "What the server may do";
    pub const SANDBOX: &str = "The sandbox";
    pub const RUNS: &str = "Every run";
    pub const PEOPLE: &str = "People";
    pub const RECORDS: &str = "Records";
    pub const RECORDING: &str = "Recording a demonstration";
    pub const FLOW: &str = "Flow";
    pub const APART: &str = "Apart from ordinary operation";
}

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Flags {
    /// How the server works: sandbox shows a made-up workflow on a made-up app; production runs the workflows of --bundles; attended
    /// carries a person's decisions on paused runs, too [default: sandbox without --bundles].
    #[arg(long, value_enum, help_heading = heading::MODES)]
    mode: Option<ModeFlag>,
    /// A bundle, or a folder whose sub-folders are bundles.
    #[arg(long, value_name = "DIR", help_heading = heading::MODES)]
    pub(super) bundles: Option<PathBuf>,
    #[command(flatten)]
    sandbox: SandboxFlags,
    /// The browser's window is shown.
    #[arg(long, help_heading = heading::RUNS)]
    pub(super) headed: bool,
    /// Takes bundles folder, permissions, deployment file and policy from environment variables; a flag wins over its variable.
    #[arg(long, help_heading = heading::MODES)]
    from_env: bool,
    /// Older spelling of --mode production.
    #[arg(long, help_heading = heading::MODES)]
    pub(super) allow_run: bool,
    /// Older spelling: carries a person's decisions on paused runs. Runs workflows only with --allow-run.
    #[arg(long, help_heading = heading::MODES)]
    pub(super) allow_attended_actions: bool,
    /// The command that carries decisions to Flow, as words [default: the command of --flow-cli and the word bridge].
    #[arg(long, value_name = "WORDS", help_heading = heading::FLOW)]
    flow_bridge: Option<String>,
    /// Seconds that Flow may take over one decision.
    #[arg(long, value_name = "SECONDS", default_value_t = 330.0, help_heading = heading::FLOW)]
    flow_bridge_timeout: f64,
    /// Seconds that a person has for the form of a decision [default: 600].
    #[arg(long, value_name = "SECONDS", help_heading = heading::PEOPLE)]
    form_timeout: Option<f64>,
    /// Where runs and their records are kept [default: $OPENADAPT_AGENT_RUNS_DIR, else ~/.openadapt/runs; in the sandbox
    /// $OPENADAPT_AGENT_SANDBOX_DIR, else ~/.openadapt/agent-sandbox].
    #[arg(long, value_name = "DIR", help_heading = heading::RECORDS)]
    runs_dir: Option<PathBuf>,
    /// Seconds that a run may take; time that a person spends approving doesn't count.
    #[arg(long, value_name = "SECONDS", default_value_t = 600.0, help_heading = heading::FLOW)]
    timeout: f64,
    /// The command that starts Flow, as words [default: openadapt-flow; in the sandbox flow-fake beside this program].
    #[arg(long, value_name = "WORDS", help_heading = heading::FLOW)]
    flow_cli: Option<String>,
    /// The app's address, for every run.
    #[arg(long, help_heading = heading::RUNS)]
    url: Option<String>,
    /// Flow's deployment file, for every run.
    #[arg(long, value_name = "FILE", help_heading = heading::RUNS)]
    pub(super) config: Option<PathBuf>,
    /// Flow's policy: a built-in name or a file, for every run.
    #[arg(long, help_heading = heading::RUNS)]
    pub(super) policy: Option<String>,
    /// When a person approves a save before it is made. Needs a Flow that has approval modes.
    #[arg(long, value_enum, help_heading = heading::PEOPLE)]
    approval_mode: Option<ApprovalModeFlag>,
    /// A local program that looks at each whole run before it may begin, and may refuse it (docs/lifecycle.md, "The reviewer").
    #[arg(long, value_name = "WORDS", help_heading = heading::PEOPLE)]
    auto_review: Option<String>,
    #[command(flatten)]
    recording: RecordingFlags,
    #[command(flatten)]
    older: OlderFlags,
    /// One more word for Flow's command line; may be repeated.
    #[arg(long, value_name = "WORD", allow_hyphen_values = true, help_heading = heading::FLOW)]
    extra_run_arg: Vec<String>,
    /// Starts no run but a demo one while this release isn't actively admitted.
    #[arg(long, help_heading = heading::RUNS)]
    require_release_admission: bool,
    /// The release ledger, a file or an https address. Looked at once when the server starts, and told on stderr.
    #[arg(long, value_name = "FILE|URL", help_heading = heading::RUNS)]
    admission_ledger: Option<String>,
    /// The evidence pack that the release is verified with.
    #[arg(long, value_name = "FILE|DIR", help_heading = heading::RUNS)]
    admission_evidence: Option<PathBuf>,
}

/// What a server is started with.
#[derive(Debug, Clone, PartialEq)]
pub struct ServeOptions {
    pub workflows: WorkflowSource,
    pub runs_dir: PathBuf,
    pub runs_enabled: bool,
    pub flow: FlowCommand,
    pub timeout: Duration,
    /// Decisions on paused runs are carried, this way.
    pub attended: Option<AttendedOptions>,
    /// A first demonstration is recorded, this way.
    pub recording: Option<RecordingOptions>,
    /// Looks at each run before it may begin.
    pub auto_review: Option<ReviewCommand>,
    /// What stands apart from ordinary operation.
    pub older: OlderOptions,
    pub admission: AdmissionOptions,
}

/// How this program's own release is looked at.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AdmissionOptions {
    pub ledger: Option<Source>,
    pub evidence: Option<PathBuf>,
    /// A release that isn't actively admitted runs nothing but demos.
    pub required: bool,
}

/// What is served.
#[derive(Debug, Clone, PartialEq)]
pub enum WorkflowSource {
    /// Every bundle in this folder; the bridge tells what encrypted ones are.
    Bundles { folder: PathBuf, describing: BridgeCommand },
    /// The sandbox's own workflow.
    Sandbox(SandboxSettings),
    /// No workflow: the server only records.
    Nothing,
}

/// How a person's decisions get to Flow.
#[derive(Debug, Clone, PartialEq)]
pub struct AttendedOptions {
    pub bridge: BridgeCommand,
    /// A deployment is named in which a run could go on.
    pub wants_live: bool,
    /// How long a person has for a form.
    pub form_limit: Duration,
}

impl ServeOptions {
    /// The mode's word in every result.
    pub fn mode(&self) -> Mode {
        match (&self.workflows, &self.attended) {
            (WorkflowSource::Sandbox(_), _) => Mode::Sandbox,
            (WorkflowSource::Bundles { .. } | WorkflowSource::Nothing, Some(_)) => Mode::Attended,
            (WorkflowSource::Bundles { .. } | WorkflowSource::Nothing, None) => Mode::Production,
        }
    }
}

/// What the flags are read against.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    pub runs_dir_variable: Option<PathBuf>,
    pub sandbox_dir_variable: Option<PathBuf>,
    pub home: Option<PathBuf>,
    pub current_dir: PathBuf,
    /// What --from-env reads.
    pub environment: Environment,
}

impl Surroundings {
    pub fn of_this_process() -> Self {
        let speaks = |value: &std::ffi::OsString| value.to_str().is_none_or(|text| variable::said(text).is_some());
        let folder = |name| std::env::var_os(name).filter(speaks).map(PathBuf::from);
        Self {
            runs_dir_variable: folder("OPENADAPT_AGENT_RUNS_DIR"),
            sandbox_dir_variable: folder("OPENADAPT_AGENT_SANDBOX_DIR"),
            home: folder("HOME"),
            current_dir: std::env::current_dir().unwrap_or_default(),
            environment: Environment::of_this_process(),
        }
    }
}

impl Flags {
    pub fn resolve(self, around: &Surroundings) -> Result<ServeOptions, Refusal> {
        if self.from_env {
            let flags = around.environment.added_to(Self { from_env: false, ..self })?;
            return flags.resolve(around);
        }
        self.nothing_beside_a_recording()?;
        if self.wants_sandbox() {
            return self.for_the_sandbox(around);
        }
        self.no_sandbox_flags()?;
        let runs_enabled = self.allow_run || self.mode.is_some();
        let attended = self.allow_attended_actions || self.mode == Some(ModeFlag::Attended);
        let records = self.recording.authoring;
        if self.bundles.is_none() && !records {
            return Err(Refusal::new(
                "no workflows were named",
                "add --bundles DIR with a folder of compiled workflows",
            ));
        }
        if self.bundles.as_ref().is_some_and(|bundles| !bundles.is_dir()) {
            return Err(Refusal::new(
                "--bundles doesn't name a folder that exists",
                "give the folder of one bundle, or one whose sub-folders are bundles",
            ));
        }
        if !runs_enabled && self.approval_mode.is_some() {
            return Err(Refusal::new(
                "--approval-mode goes with runs, and this server would only list workflows",
                "add --mode production or attended, or leave --approval-mode out",
            ));
        }
        let older = self.older.resolve(runs_enabled)?;
        let idle = [("--flow-bridge", self.flow_bridge.is_some()), ("--form-timeout", self.form_timeout.is_some())];
        if let Some((flag, _)) = idle.into_iter().find(|(_, given)| *given && !attended && !records) {
            return Err(Refusal::new(
                format!("{flag} goes with attended actions or recording, and this server would do neither"),
                format!("add --mode attended or --allow-attended-actions, or leave {flag} out"),
            ));
        }
        if self.require_release_admission && !runs_enabled {
            return Err(Refusal::new(
                "--require-release-admission goes with runs, and this server would only list workflows",
                "add --mode production or attended, or leave --require-release-admission out",
            ));
        }
        if self.admission_evidence.is_some() && !self.require_release_admission && self.admission_ledger.is_none() {
            return Err(Refusal::new(
                "--admission-evidence was given, but no release would be looked at",
                "add --admission-ledger or --require-release-admission, or leave --admission-evidence out",
            ));
        }
        let admission = AdmissionOptions {
            ledger: self.admission_ledger.as_deref().map(Source::parse),
            evidence: self.admission_evidence.clone(),
            required: self.require_release_admission,
        };
        let timeout = seconds(self.timeout, "--timeout", "for ten minutes, write --timeout 600")?;
        let decision_within =
            seconds(self.flow_bridge_timeout, "--flow-bridge-timeout", "for a minute, write --flow-bridge-timeout 60")?;
        let form_limit = self.form_limit()?;
        let (named, flow_words) = (self.flow_bridge.clone(), self.flow_cli.clone());
        let recording = self.recording(|| {
            let flow = FlowCommand::new(flow_words.as_deref().unwrap_or(FLOW), FlowSettings::default())?;
            BridgeCommand::new(named.as_deref(), flow.words(), &Deployment::default(), decision_within)
        })?;
        let settings = FlowSettings {
            url: self.url,
            config: self.config.map(|file| around.current_dir.join(file)),
            policy: self.policy,
            approval_mode: self.approval_mode.and_then(|mode| Some(mode.to_possible_value()?.get_name().to_owned())),
            extra: self.extra_run_arg.into_iter().chain(self.headed.then(|| "--headed".to_owned())).collect(),
        };
        if settings.config.as_ref().is_some_and(|file| !file.is_file()) {
            return Err(Refusal::new("--config doesn't name a file that exists", "give Flow's deployment file"));
        }
        let deployment = Deployment { file: settings.config.clone(), url: settings.url.clone() };
        let flow = FlowCommand::new(self.flow_cli.as_deref().unwrap_or(FLOW), settings)?;
        let bridge_for = |deployment: &Deployment| {
            BridgeCommand::new(self.flow_bridge.as_deref(), flow.words(), deployment, decision_within)
        };
        let (bridge, describing) = (bridge_for(&deployment)?, bridge_for(&Deployment::default())?);
        let auto_review = reviewer(self.auto_review.as_deref(), runs_enabled)?;
        Ok(ServeOptions {
            auto_review,
            workflows: match self.bundles {
                Some(bundles) => WorkflowSource::Bundles { folder: around.current_dir.join(bundles), describing },
                None => WorkflowSource::Nothing,
            },
            runs_dir: runs_dir(self.runs_dir, around)?,
            runs_enabled,
            flow,
            timeout,
            attended: attended.then_some(AttendedOptions { bridge, wants_live: deployment.file.is_some(), form_limit }),
            recording,
            admission,
            older,
        })
    }
}

impl Flags {
    fn form_limit(&self) -> Result<Duration, Refusal> {
        self.form_timeout.map_or(Ok(FORM_LIMIT), |given| {
            seconds(given, "--form-timeout", "for ten minutes, write --form-timeout 600")
        })
    }

    fn for_the_sandbox(self, around: &Surroundings) -> Result<ServeOptions, Refusal> {
        Ok(ServeOptions {
            auto_review: reviewer(self.auto_review.as_deref(), true)?,
            workflows: WorkflowSource::Sandbox(self.sandbox_settings()?),
            runs_dir: sandbox::sandbox_dir(self.runs_dir.as_deref(), around)?,
            runs_enabled: true,
            flow: FlowCommand::new(FLOW, FlowSettings::default())?,
            timeout: seconds(self.timeout, "--timeout", "for ten minutes, write --timeout 600")?,
            attended: None,
            recording: None,
            admission: AdmissionOptions::default(),
            older: OlderOptions::default(),
        })
    }
}

fn reviewer(words: Option<&str>, runs_enabled: bool) -> Result<Option<ReviewCommand>, Refusal> {
    let Some(words) = words else { return Ok(None) };
    if !runs_enabled {
        return Err(Refusal::new(
            "--auto-review goes with runs, and this server would only list workflows",
            "add --mode production or attended, or leave --auto-review out",
        ));
    }
    let command = ReviewCommand::parse(words).ok_or_else(|| {
        Refusal::new("--auto-review isn't a command", "write it as you would in a shell, with quotes closed")
    })?;
    Ok(Some(command))
}

fn seconds(given: f64, flag: &str, hint: &str) -> Result<Duration, Refusal> {
    let length = Duration::try_from_secs_f64(given).ok().filter(|length| !length.is_zero());
    length.ok_or_else(|| Refusal::new(format!("{flag} isn't a number of seconds above zero"), hint))
}

pub fn runs_dir(flag: Option<PathBuf>, around: &Surroundings) -> Result<PathBuf, Refusal> {
    if let Some(named) = flag.or_else(|| around.runs_dir_variable.clone()) {
        return Ok(around.current_dir.join(expand_home(&named, around)));
    }
    if around.current_dir.join("runs/openadapt-agent").is_dir() {
        return Err(Refusal::new(
            "an older agent kept its records in ./runs here, and no runs folder was named",
            "add --runs-dir ./runs to go on with them, or --runs-dir ~/.openadapt/runs to begin anew",
        ));
    }
    let home = around.home.as_ref().ok_or_else(|| {
        Refusal::new("there is no home folder to keep runs in", "add --runs-dir DIR or set OPENADAPT_AGENT_RUNS_DIR")
    })?;
    Ok(home.join(".openadapt/runs"))
}

fn expand_home(path: &Path, around: &Surroundings) -> PathBuf {
    match (path.strip_prefix("~"), &around.home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests;
