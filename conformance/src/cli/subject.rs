//! Finds, or builds, the programs that are judged.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

use super::Problem;
use super::setup_flow::real_flow_folder;
use crate::browser;
use crate::console::Printer;
use crate::exit::Exit;
use crate::real_flow::RealFlow;
use crate::run::subject::{Player, Subject, split};
use crate::wire::server::absolute;

/// What to judge. Without these: the workspace's own programs.
#[derive(Debug, Clone, Args)]
pub struct SubjectArguments {
    /// The agent's command, as words for a shell.
    #[arg(long, value_name = "CMD")]
    agent: Option<String>,
    /// Flow's command.
    #[arg(long, value_name = "CMD")]
    flow: Option<String>,
    /// The command of a build of the agent with crash points.
    #[arg(long, value_name = "CMD")]
    crash_agent: Option<String>,
    /// The real Flow plays what any engine can play, too (`conformance setup-flow` installs it).
    #[arg(long)]
    real: bool,
}

const AGENT: (&str, &str) = ("openadapt-agent", "openadapt-agent");
const FLOW: (&str, &str) = ("flow-fake", "flow-fake");
/// The same program with its crash points.
const MORTAL: (&str, &str) = ("openadapt-agent", "openadapt-agent-crash-points");
/// Never judged: some worlds have it beside the servers.
const CLINIC: (&str, &str) = ("mockmed", "mockmed");

/// The stand-in's feature for machines with a browser; nowhere else is that library compiled.
const DRIVES: &str = "drive";

/// The agent's features for the judge: crash points, and a mailbox on this computer. They are given to no shared crate.
const CRASHES: &str = "openadapt-agent/crash-points,openadapt-agent/mailbox-origin";

impl SubjectArguments {
    pub fn of(agent: Option<String>, flow: String) -> Self {
        Self { agent, flow: Some(flow), crash_agent: None, real: false }
    }

    /// The workspace's own stand-in, and the real Flow where there is one.
    pub fn for_parity(agent: Option<String>) -> Self {
        Self { agent, flow: None, crash_agent: None, real: true }
    }

    /// Who plays the scenarios that any engine can play.
    pub fn player(&self) -> Player {
        if self.real { Player::Real } else { Player::StandIn }
    }

    /// Builds what isn't named, where cargo started this program; else takes the programs beside this one.
    pub fn find(&self, printer: Printer) -> Result<Subject, Problem> {
        let browser = browser::find().ok();
        let beside = beside_this()?;
        let missing: Vec<(&str, &str)> = [(AGENT, &self.agent), (FLOW, &self.flow)]
            .into_iter()
            .filter(|(_, given)| given.is_none())
            .map(|(own, _)| own)
            .collect();
        if let Some(cargo) = env::var_os("CARGO") {
            let drives = browser.is_some() && self.flow.is_none();
            build(&cargo, &beside, &[missing.as_slice(), &[CLINIC]].concat(), &[], printer)?;
            if drives {
                // Apart from the rest: the features that it gives to shared crates would have all of them compiled again.
                build(&cargo, &beside, &[FLOW], &["--features", DRIVES], printer)?;
            }
        }
        let agent = words(self.agent.as_deref(), &beside, AGENT)?;
        let mut real_flow = RealFlow::find(&real_flow_folder()?);
        if let Some(flow) = real_flow.as_mut().filter(|_| self.player() == Player::Real) {
            flow.ask_for_the_bridge(&agent).map_err(|error| {
                Problem::new(Exit::SetUp, format!("the agent's bridge: {error}"), "is --agent the right command?")
            })?;
        }
        Ok(Subject {
            agent,
            flow: words(self.flow.as_deref(), &beside, FLOW)?,
            mortal: None,
            real_flow,
            browser,
            player: self.player(),
        })
    }
}

impl SubjectArguments {
    /// The subject of a crash campaign: another build of the agent. Where one agent is named, it is meant to be that build.
    pub fn with_crash_points(&self, printer: Printer) -> Result<Subject, Problem> {
        let subject = self.find(printer)?;
        match (&self.agent, &self.crash_agent) {
            (Some(_), None) => Ok(Subject { mortal: Some(subject.agent.clone()), ..subject }),
            _ => self.mortal(subject, printer),
        }
    }

    /// A build with crash points can be had: it is named, there already, or cargo started this program and no other agent is judged.
    pub fn can_crash(&self) -> bool {
        let there = || beside_this().is_ok_and(|beside| program(&beside, MORTAL).is_file());
        self.crash_agent.is_some() || self.agent.is_none() && (env::var_os("CARGO").is_some() || there())
    }

    /// Adds the build with crash points.
    pub fn mortal(&self, subject: Subject, printer: Printer) -> Result<Subject, Problem> {
        let beside = beside_this()?;
        if let Some(cargo) = env::var_os("CARGO").filter(|_| self.crash_agent.is_none()) {
            // A binary of its own, beside the other; the packages are the same as ever, so that no shared crate is compiled again.
            let others = ["--package", FLOW.0, "--package", CLINIC.0, "--features", CRASHES];
            build(&cargo, &beside, &[MORTAL], &others, printer)?;
        }
        Ok(Subject { mortal: Some(words(self.crash_agent.as_deref(), &beside, MORTAL)?), ..subject })
    }
}

/// The workspace's own programs, where cargo started this one. All of them: fewer would have shared crates compiled again.
pub fn build_programs(printer: Printer) -> Result<(), Problem> {
    env::var_os("CARGO").map_or(Ok(()), |cargo| build(&cargo, &beside_this()?, &[AGENT, FLOW, CLINIC], &[], printer))
}

fn program(beside: &Path, (_, binary): (&str, &str)) -> PathBuf {
    beside.join(format!("{binary}{}", env::consts::EXE_SUFFIX))
}

fn words(given: Option<&str>, beside: &Path, (package, binary): (&str, &str)) -> Result<Vec<String>, Problem> {
    let Some(given) = given else {
        let path = program(beside, (package, binary));
        if !path.is_file() {
            let said = format!("{binary} is not beside this program, in {}", beside.display());
            return Err(Problem::new(
                Exit::SetUp,
                said,
                "build it, start this program with cargo run, or name a command with --agent or --flow",
            ));
        }
        return Ok(vec![path.display().to_string()]);
    };
    let mut words = split(given).ok_or_else(|| {
        Problem::new(
            Exit::Usage,
            format!("{given:?} is no command"),
            "words are split as a shell does; close every quote",
        )
    })?;
    if let Some(program) = words.first_mut() {
        *program = absolute(program);
    }
    Ok(words)
}

pub fn beside_this() -> Result<PathBuf, Problem> {
    let here = env::current_exe().ok().and_then(|path| path.parent().map(Path::to_owned));
    here.ok_or_else(|| {
        Problem::new(Exit::SetUp, "this program's own folder can't be found", "name a command with --agent and --flow")
    })
}

fn told_by_cargo(name: &str) -> bool {
    ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_", "CARGO_PRIMARY_"]
        .iter()
        .any(|own| name.starts_with(own))
}

/// Builds with the profile that this program itself was built with, into the same folder.
fn build(
    cargo: &OsString,
    beside: &Path,
    what: &[(&str, &str)],
    more: &[&str],
    printer: Printer,
) -> Result<(), Problem> {
    let profile = beside.file_name().and_then(|name| name.to_str()).unwrap_or("debug");
    let names: Vec<&str> = what.iter().map(|(package, _)| *package).collect();
    printer.say(&format!("building {} ({profile})", names.join(" and ")));
    let mut command = Command::new(cargo);
    command.args(["build", "--profile", if profile == "debug" { "dev" } else { profile }]);
    if let Some(target) = beside.parent() {
        command.arg("--target-dir").arg(target);
    }
    for (package, binary) in what {
        command.args(["--package", package, "--bin", binary]);
    }
    command.args(more);
    // What cargo told this program about this program is nothing that the build may depend on; some build scripts look at it.
    for (name, _) in env::vars_os().filter(|(name, _)| told_by_cargo(&name.to_string_lossy())) {
        command.env_remove(name);
    }
    if let Some(manifest) = env::var_os("CARGO_MANIFEST_DIR") {
        command.current_dir(manifest);
    }
    let failed = |said: String| Problem::new(Exit::SetUp, said, "what cargo said stands above");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(failed(format!("the programs to judge can't be built ({status})"))),
        Err(error) => Err(failed(format!("cargo can't be started: {error}"))),
    }
}
