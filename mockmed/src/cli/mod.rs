//! The command line.

mod signals;

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use serde_json::json;

use self::signals::StopSignals;
use crate::server::{Options, Running, StartError, start};

/// What the program's end means. `0`: it was asked to stop, by SIGTERM, by SIGINT or by the end of stdin.
pub mod exit {
    /// The server couldn't be started, or its journal couldn't be completed; a sentence is on stderr.
    pub const FAILED: u8 = 1;
    /// The command line can't be used.
    pub const USAGE: u8 = 2;
}

const EXITS: &str = "Exit codes: 0 stopped as asked, 1 could not start or could not complete its journal, 2 usage.";

/// A small clinic in which every person and every record is made up.
#[derive(Debug, Parser)]
#[command(name = "mockmed", version, disable_help_subcommand = true, after_help = EXITS)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serves the clinic on 127.0.0.1 and prints its address as one JSON line.
    #[command(after_help = EXITS)]
    Serve(Serve),
}

#[derive(Debug, clap::Args)]
struct Serve {
    /// The port on 127.0.0.1; 0 takes a free one.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Appends what was asked, stored and told about each write, as JSON lines.
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    /// Keeps the records in this SQLite file instead of in memory.
    #[arg(long, value_name = "FILE")]
    db: Option<PathBuf>,
    /// Stops when stdin ends too, so that it never outlives the program that started it.
    #[arg(long)]
    while_stdin_open: bool,
}

pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    match Cli::try_parse_from(arguments) {
        Ok(Cli { command: Command::Serve(flags) }) => serve(flags),
        Err(message) => usage(&message),
    }
}

fn serve(flags: Serve) -> ExitCode {
    let options = Options { port: flags.port, journal: flags.journal, db: flags.db, ..Options::default() };
    let (signals, running) = match listen_and_start(&options) {
        Ok(both) => both,
        Err(fault) => return failed(&format!("{fault}\n\nhint: {}", fault.hint())),
    };
    announce(&running);
    signals.wait(flags.while_stdin_open);
    match running.stop() {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => failed(&format!("{fault}\n\nhint: the journal may lack its last lines; look for free space")),
    }
}

fn listen_and_start(options: &Options) -> Result<(StopSignals, Running), StartError> {
    Ok((StopSignals::listen()?, start(options)?))
}

/// The line for programs on stdout; a sentence for a person who looks on. A closed stream harms nothing.
fn announce(running: &Running) {
    let (url, address) = (running.url(), running.address());
    let line = json!({ "event": "listening", "url": url, "port": address.port(), "pid": std::process::id() });
    let mut stdout = io::stdout();
    let _ = stdout.write_all(format!("{line}\n").as_bytes()).and_then(|()| stdout.flush());
    if io::stderr().is_terminal() {
        let _ = io::stderr().write_all(format!("MockMed is open at {url} (Ctrl-C closes it)\n").as_bytes());
    }
}

fn failed(message: &str) -> ExitCode {
    let _ = io::stderr().write_all(format!("serve: {message}\n").as_bytes());
    ExitCode::from(exit::FAILED)
}

/// What clap has to say: help and version on stdout, errors on stderr.
fn usage(message: &clap::Error) -> ExitCode {
    let text = message.render().to_string();
    if message.use_stderr() {
        let _ = io::stderr().write_all(text.as_bytes());
        return ExitCode::from(exit::USAGE);
    }
    let _ = io::stdout().write_all(text.as_bytes());
    ExitCode::SUCCESS
}
