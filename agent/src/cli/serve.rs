//! `serve`: one MCP client over stdin and stdout.

use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::Arc;

use super::console;
use super::serve_options::{Flags, ServeOptions, Surroundings, WorkflowSource};
use crate::admission::reason;
use crate::admission::run_rule::ReleaseDemand;
use crate::bridge::Bridge;
use crate::flow::command::FlowCommand;
use crate::mcp::{self, ServerFace};
use crate::refusal::Refusal;
use crate::service::Service;

const NAME: &str = "serve";

const PROTECTED_EXPORT: &str = "\n\
    !! PROTECTED EXPORT IS ON (--allow-protected-export)\n\
    !! Answers of this server carry workflow labels, recorded values, step intents, local paths, whole reports and what Flow printed.\n\
    !! Only a client inside the same protected data boundary may be connected. Stop the server if yours isn't.\n\n";
const RECORDED_DEFAULTS: &str = "!! RECORDED DEFAULTS ARE ON (--allow-synthetic-recorded-defaults): inputs that a call leaves out get the \
    values that were recorded. For made-up data only.\n";

pub fn run(flags: Flags) -> ExitCode {
    let options = match flags.resolve(&Surroundings::of_this_process()) {
        Ok(options) => options,
        Err(refusal) => return console::refused(NAME, &refusal),
    };
    mcp::log::install(tracing::level_filters::LevelFilter::WARN);
    if let Err(refusal) = approval_modes_exist(&options.flow) {
        return console::refused(NAME, &refusal);
    }
    let opened = Service::open(&options).map(Arc::new);
    let opened = opened.and_then(|service| Ok((Bridge::open(Arc::clone(&service), &options)?, service)));
    let (bridge, service) = match opened {
        Ok(opened) => opened,
        Err(refusal) => return console::refused(NAME, &refusal),
    };
    console::to_stderr(&banner(&options, &service));
    tell_of_the_release(&options);
    if options.older.protected_export {
        console::to_stderr(PROTECTED_EXPORT);
    }
    if options.older.recorded_defaults {
        console::to_stderr(RECORDED_DEFAULTS);
    }
    if std::io::stdin().is_terminal() {
        console::to_stderr(WAITING);
    }
    let face = ServerFace { tool_list_changes: options.runs_enabled, ..ServerFace::default() };
    let ended = mcp::process::serve_stdio(face, || Arc::new(bridge));
    if let Some(sandbox) = service.sandbox() {
        sandbox.leave();
    }
    match ended {
        Ok(_) => ExitCode::SUCCESS,
        Err(fault) => console::bug(NAME, &fault.into()),
    }
}

/// Flow 1.35.1 has no approval modes; a server that promised them would have every run refused.
fn approval_modes_exist(flow: &FlowCommand) -> Result<(), Refusal> {
    if flow.approval_mode().is_none() || flow.knows_approval_modes() {
        return Ok(());
    }
    Err(Refusal::new(
        "--approval-mode was given, but this Flow has no approval modes",
        "leave --approval-mode out, or name a newer Flow with --flow-cli",
    ))
}

/// Said to a person who started the server by hand and would else look at nothing. Words only: what was typed isn't repeated.
const WAITING: &str = r#"
This is an MCP server: it waits for a client on standard input, and what you type here is no use to it.
Name it to your client instead, with the flags that you gave just now:

  {
    "mcpServers": {
      "openadapt": {
        "command": "openadapt-agent",
        "args": ["serve", "--mode", "production", "--bundles", "/path/to/workflows"]
      }
    }
  }

hint: Ctrl-D ends it; `openadapt-agent serve --help` has examples.
"#;
/// Advice to the operator, who asked for it: nothing waits for it, and nothing rests on it.
fn tell_of_the_release(options: &ServeOptions) {
    if options.admission.ledger.is_none() {
        return;
    }
    let demand = ReleaseDemand::of(options);
    std::thread::spawn(move || {
        let verdict = demand.look();
        let (state, word) = (reason::state(verdict).as_str(), reason::word(verdict));
        console::to_stderr(&format!(
            "openadapt-agent {}: this release is {state} ({word}).\n",
            env!("CARGO_PKG_VERSION")
        ));
    });
}

/// Counts only: no name, label or path.
fn banner(options: &ServeOptions, service: &Service) -> String {
    if let Some(sandbox) = service.sandbox() {
        return format!("openadapt-agent {}: {}", env!("CARGO_PKG_VERSION"), sandbox.banner());
    }
    if options.workflows == WorkflowSource::Nothing {
        return format!(
            "openadapt-agent {}: records a first demonstration, runs nothing.\n",
            env!("CARGO_PKG_VERSION")
        );
    }
    let total = service.catalog().iter().count();
    let loadable = service.catalog().iter().filter(|workflow| workflow.available()).count();
    let what = if options.runs_enabled { "runs workflows" } else { "only lists workflows" };
    let decisions = if options.attended.is_some() { ", carries decisions" } else { "" };
    let records = if options.recording.is_some() { ", records a first demonstration" } else { "" };
    format!(
        "openadapt-agent {}: {what}{decisions}{records}, {loadable} of {total} can be loaded.\n",
        env!("CARGO_PKG_VERSION")
    )
}
