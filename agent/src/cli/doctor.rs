//! `doctor`: tells a person what is there, what is missing and how to get it.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::json;

use super::console;
use super::exit;
use super::serve_options::{Surroundings, runs_dir};
use crate::doctor::{self, Finding, State, Subject};
use crate::flow::bridge::command::{BridgeCommand, Deployment};
use crate::flow::command::{FlowCommand, FlowSettings};
use crate::refusal::Refusal;

const NAME: &str = "doctor";
/// Nothing is decided here.
const NO_DECISION: Duration = Duration::from_secs(1);

const EXAMPLES: &str = "Examples:
  openadapt-agent doctor
  openadapt-agent doctor --flow-cli flow-fake --json";

/// Exit codes: 0 a run has all that it needs, 1 something is missing or wrong, 2 the command line can't be used.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Flags {
    /// The findings as one JSON object.
    #[arg(long)]
    json: bool,
    /// The command that starts Flow, as words.
    #[arg(long, value_name = "WORDS", default_value = "openadapt-flow")]
    flow_cli: String,
    /// The command that carries decisions to Flow, as words.
    #[arg(long, value_name = "WORDS")]
    flow_bridge: Option<String>,
    /// Where runs and their records are kept, as for serve.
    #[arg(long, value_name = "DIR")]
    runs_dir: Option<PathBuf>,
}

pub fn run(flags: Flags) -> ExitCode {
    let json = flags.json;
    match findings(flags) {
        Ok(findings) => {
            let can_run = doctor::can_run(&findings);
            console::to_stdout(&if json { as_json(&findings, can_run) } else { as_text(&findings, can_run) });
            if can_run { ExitCode::SUCCESS } else { ExitCode::from(exit::LACKING) }
        }
        Err(refusal) => console::refused(NAME, &refusal),
    }
}

fn findings(flags: Flags) -> Result<Vec<Finding>, Refusal> {
    let flow = FlowCommand::new(&flags.flow_cli, FlowSettings::default())?;
    let bridge = BridgeCommand::new(flags.flow_bridge.as_deref(), flow.words(), &Deployment::default(), NO_DECISION)?;
    let runs_dir = runs_dir(flags.runs_dir, &Surroundings::of_this_process())?;
    Ok(doctor::examine(&Subject { flow: &flow, bridge: &bridge, runs_dir: &runs_dir }))
}

fn as_json(findings: &[Finding], can_run: bool) -> String {
    let report = json!({"version": env!("CARGO_PKG_VERSION"), "can_run": can_run, "findings": findings});
    format!("{report}\n")
}

fn as_text(findings: &[Finding], can_run: bool) -> String {
    let mut text = String::new();
    for finding in findings {
        let mark = match finding.state {
            State::Ok => "ok     ",
            State::Missing => "missing",
            State::Wrong => "wrong  ",
            State::Unknown => "unknown",
        };
        let detail = finding.detail.as_ref().map(|detail| format!(" ({detail})")).unwrap_or_default();
        text += &format!("{mark}  {:<14} {}{detail}\n", finding.check.title(), finding.says);
        text += &finding.hint.map(|hint| format!("         hint: {hint}\n")).unwrap_or_default();
    }
    text + if can_run {
        "\nA run has all that it needs.\n"
    } else {
        "\nSomething that a run needs is missing or wrong.\n"
    }
}
