//! The command line: one file for each command.

mod admission;
mod authoring;
mod completions;
mod console;
mod control;
mod doctor;
mod emit_skill;
mod environment;
mod keeper;
mod man;
mod runs;
mod runs_folder;
mod seal;
mod serve;
mod serve_options;

pub use admission::place;
pub use console::to_stderr;
pub use serve_options::{AdmissionOptions, AttendedOptions, OlderOptions, ServeOptions, WorkflowSource};

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

/// What the program's end means. `0` is also the end of a server whose client has left.
pub mod exit {
    /// `doctor` found that something is missing or wrong.
    pub const LACKING: u8 = 1;
    /// The command line or what it names can't be used; a sentence and a hint are on stderr.
    pub const USAGE: u8 = 2;
    /// A fault of the program itself.
    pub const BUG: u8 = 70;
}

/// Tells a calling agent the truth about whether a change was saved.
#[derive(Debug, Parser)]
#[command(name = "openadapt-agent", version, disable_help_subcommand = true, styles = console::STYLES, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "Examples:
  openadapt-agent serve                                          a sandbox, to try it out
  openadapt-agent serve --bundles workflows                      lists workflows to an MCP client
  openadapt-agent serve --mode production --bundles workflows    runs them, too
  openadapt-agent emit-skill workflows/triage --out skills       writes one as an Agent Skill
  openadapt-agent admission status                               tells whether this release is admitted
  openadapt-agent completions bash > openadapt-agent.bash

`openadapt-agent COMMAND --help` says more about one command.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Serves workflows to one MCP client over stdin and stdout.
    Serve(Box<serve_options::Flags>),
    /// Tells whether this release and the listed workflows are actively admitted.
    Admission(admission::Arguments),
    /// Checks Seals, and pins the keys that they are checked with.
    Seal(seal::Arguments),
    /// Switches runs off and on, for every server on a runs folder.
    Control(control::Arguments),
    /// Shows what happened to runs.
    Runs(runs::Arguments),
    /// Records what a hosted chat app asks for, as far as you allow it.
    Authoring(authoring::Arguments),
    /// Tells what is there on this computer, what is missing and how to get it. Changes nothing.
    Doctor(doctor::Flags),
    /// Writes a workflow's card as an Agent Skill.
    EmitSkill(emit_skill::Arguments),
    /// Prints completions for a shell.
    Completions(completions::Arguments),
    /// Writes the manual pages.
    Man(man::Arguments),
}

pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<_> = arguments.into_iter().collect();
    if let [_, word, rest @ ..] = arguments.as_slice()
        && word == crate::keeper::WORD
    {
        return keeper::run(rest);
    }
    match Cli::try_parse_from(&arguments) {
        Ok(Cli { command: Command::Serve(flags) }) => serve::run(*flags),
        Ok(Cli { command: Command::Admission(arguments) }) => admission::run(arguments),
        Ok(Cli { command: Command::Seal(arguments) }) => seal::run(arguments),
        Ok(Cli { command: Command::Control(arguments) }) => control::run(&arguments),
        Ok(Cli { command: Command::Runs(arguments) }) => runs::run(&arguments),
        Ok(Cli { command: Command::Authoring(arguments) }) => authoring::run(arguments),
        Ok(Cli { command: Command::Doctor(flags) }) => doctor::run(flags),
        Ok(Cli { command: Command::EmitSkill(arguments) }) => emit_skill::run(&arguments),
        Ok(Cli { command: Command::Completions(arguments) }) => completions::run(&arguments),
        Ok(Cli { command: Command::Man(arguments) }) => man::run(&arguments),
        Err(usage) => {
            let named = arguments.get(1).and_then(|word| word.to_str()).filter(|word| !word.starts_with('-'));
            console::usage(named.unwrap_or(console::PROGRAM), &usage)
        }
    }
}

/// The command line as a description, for what is made of it.
fn description() -> clap::Command {
    Cli::command()
}

#[cfg(test)]
mod tests;
