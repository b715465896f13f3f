//! The only place that prints: sentences for a person, on the stream where they belong. A closed stream harms nothing.

use std::io::Write;
use std::process::ExitCode;

use clap::error::ErrorKind;

use super::exit;
use crate::refusal::Refusal;

/// How the program is called where no command is named.
pub const PROGRAM: &str = "openadapt-agent";

pub fn refused(command: &str, refusal: &Refusal) -> ExitCode {
    to_stderr(&format!("{command}: {refusal}\n"));
    ExitCode::from(exit::USAGE)
}

/// A fault that nobody expected. It is told apart from a refusal, and asks to be reported.
pub fn bug(command: &str, fault: &anyhow::Error) -> ExitCode {
    to_stderr(&format!(
        "{command}: this is a fault of openadapt-agent: {fault:#}\n\nhint: please report it with this line.\n"
    ));
    ExitCode::from(exit::BUG)
}

/// What clap has to say: help and version on stdout; a command line that can't be read in the shape of every refusal.
pub fn usage(command: &str, message: &clap::Error) -> ExitCode {
    if message.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return refused(
            command,
            &Refusal::new(
                "no command was given",
                "`openadapt-agent serve --bundles DIR` serves workflows; --help lists the rest",
            ),
        );
    }
    let text = message.render().to_string();
    if !message.use_stderr() {
        // A closed stdout has nobody to tell.
        let _ = std::io::stdout().write_all(text.as_bytes());
        return ExitCode::SUCCESS;
    }
    let mut paragraphs = text.split("\n\n").map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "));
    let sentence = paragraphs.next().unwrap_or_default().trim_start_matches("error: ").to_owned();
    let advice = paragraphs.find_map(|part| part.strip_prefix("tip: ").map(str::to_owned));
    let hint = advice.unwrap_or_else(|| format!("`{} --help` lists what may be written", program_and(command)));
    refused(command, &Refusal::new(sentence, hint))
}

fn program_and(command: &str) -> String {
    if command == PROGRAM { PROGRAM.to_owned() } else { format!("{PROGRAM} {command}") }
}

/// What was asked for. A closed stdout has nobody to tell.
pub fn to_stdout(text: &str) {
    let mut stdout = std::io::stdout();
    let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
}

/// One line to the operator. stderr may be closed or full of nobody's reading: what can't be said is left unsaid.
pub fn to_stderr(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}
