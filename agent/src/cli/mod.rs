//! The command line: one file for each command.

mod admission;
mod console;
mod keeper;
mod seal;
mod serve;
mod serve_options;

pub use admission::place;
pub use serve_options::{AdmissionOptions, AttendedOptions, ServeOptions};

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// What the program's end means. `0` is also the end of a server whose client has left.
pub mod exit {
    /// The command line or what it names can't be used; a sentence and a hint are on stderr.
    pub const USAGE: u8 = 2;
    /// A fault of the program itself.
    pub const BUG: u8 = 70;
}

/// Tells a calling agent the truth about whether a change was saved.
#[derive(Debug, Parser)]
#[command(name = "openadapt-agent", version, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serves workflows to one MCP client over stdin and stdout.
    Serve(Box<serve_options::Flags>),
    /// Tells whether this release and the listed workflows are actively admitted.
    Admission(admission::Arguments),
    /// Checks Seals, and pins the keys that they are checked with.
    Seal(seal::Arguments),
    /// Owns one run of Flow. Started by a server, never by hand.
    #[command(name = "__keeper", hide = true)]
    Keeper(keeper::Arguments),
}

pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<_> = arguments.into_iter().collect();
    match Cli::try_parse_from(&arguments) {
        Ok(Cli { command: Command::Serve(flags) }) => serve::run(*flags),
        Ok(Cli { command: Command::Admission(arguments) }) => admission::run(arguments),
        Ok(Cli { command: Command::Seal(arguments) }) => seal::run(arguments),
        Ok(Cli { command: Command::Keeper(arguments) }) => keeper::run(&arguments),
        Err(usage) => {
            let named = arguments.get(1).and_then(|word| word.to_str()).filter(|word| !word.starts_with('-'));
            console::usage(named.unwrap_or(console::PROGRAM), &usage)
        }
    }
}
