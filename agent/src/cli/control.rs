//! `control`: what a local operator switches off and on again, for every server on the runs folder. No tool leads here.

use std::process::ExitCode;

use clap::Subcommand;
use serde_json::json;

use super::console;
use super::runs_folder::{RunsFolder, refused};
use crate::lifecycle::store::Control;
use crate::refusal::Refusal;
use crate::runs::RunStore;

const EXAMPLES: &str = "Examples:
  openadapt-agent control disable-runs                        nothing new is started, on any server of the runs folder
  openadapt-agent control disable-runs --workflow add_note    the same for one workflow
  openadapt-agent control enable-runs                         runs are allowed again
  openadapt-agent control status                              what is switched off";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Refuses new runs, at the next list or call of every server. Runs under way end as they would.
    DisableRuns(Switch),
    /// Allows runs again.
    EnableRuns(Switch),
    /// Tells what is switched off.
    Status(Status),
}

#[derive(Debug, clap::Args)]
struct Switch {
    /// One workflow, by the name or id that list_workflows gives it, instead of all.
    #[arg(long, value_name = "NAME")]
    workflow: Option<String>,
    #[command(flatten)]
    folder: RunsFolder,
}

#[derive(Debug, clap::Args)]
struct Status {
    /// One JSON object.
    #[arg(long)]
    json: bool,
    /// One workflow instead of all that is switched off.
    #[arg(long, value_name = "NAME")]
    workflow: Option<String>,
    #[command(flatten)]
    folder: RunsFolder,
}

const NAME: &str = "control";

pub fn run(arguments: &Arguments) -> ExitCode {
    let done = match &arguments.what {
        What::DisableRuns(switch) => turn(switch, true),
        What::EnableRuns(switch) => turn(switch, false),
        What::Status(status) => tell(status),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(refusal) => console::refused(NAME, &refusal),
    }
}

fn turn(switch: &Switch, disabled: bool) -> Result<(), Refusal> {
    if switch.workflow.as_deref().is_some_and(|name| !is_plain(name)) {
        return Err(Refusal::new("--workflow isn't the name of a workflow", "list_workflows shows the names"));
    }
    let store =
        RunStore::open(&switch.folder.path()?).map_err(|fault| Refusal::new(fault.to_string(), fault.hint()))?;
    store.actions().control(switch.workflow.as_deref(), disabled).map_err(|fault| refused(&fault))?;
    let what = switch.workflow.as_deref().map_or("Runs".to_owned(), |name| format!("Runs of {name}"));
    let how = if disabled { "off. What runs now goes on to its end." } else { "on." };
    console::to_stdout(&format!("{what} are {how}\n"));
    Ok(())
}

fn tell(status: &Status) -> Result<(), Refusal> {
    let controls = match status.folder.look()? {
        Some(store) => store.controls().map_err(|fault| refused(&fault))?,
        None => Vec::new(),
    };
    let off: Vec<&Control> = controls
        .iter()
        .filter(|control| control.disabled)
        .filter(|control| {
            status.workflow.is_none() || control.workflow.is_none() || control.workflow == status.workflow
        })
        .collect();
    if status.json {
        let workflows: Vec<_> = off.iter().filter_map(|control| control.workflow.as_deref()).collect();
        let all = off.iter().any(|control| control.workflow.is_none());
        console::to_stdout(&format!("{}\n", json!({ "runs_off": all, "workflows_off": workflows })));
        return Ok(());
    }
    if off.is_empty() {
        console::to_stdout("Nothing is switched off.\n");
    }
    for control in off {
        let what = control.workflow.as_deref().map_or("Runs".to_owned(), |name| format!("Runs of {name}"));
        console::to_stdout(&format!("{what} are off since {}.\n", control.at));
    }
    Ok(())
}

/// A name is kept in the store, so it is never free text.
fn is_plain(name: &str) -> bool {
    (1..=128).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
}
