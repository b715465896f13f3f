//! The only place that prints: sentences for a person, on the stream where they belong. A closed stream harms nothing.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use clap::builder::styling::{AnsiColor, Style, Styles};
use clap::error::ErrorKind;

use super::exit;
use crate::refusal::Refusal;

/// How the program is called where no command is named.
pub const PROGRAM: &str = "openadapt-agent";

/// How help looks on a terminal.
pub const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default())
    .placeholder(AnsiColor::Cyan.on_default());

const FAULT: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default().bold();

pub fn refused(command: &str, refusal: &Refusal) -> ExitCode {
    let paint = Paint::for_stream(&std::io::stderr());
    let (command, hint) = (paint.with(FAULT, &format!("{command}:")), paint.with(HINT, "hint:"));
    to_stderr(&format!("{command} {}\n\n{hint} {}\n", refusal.sentence, refusal.hint));
    ExitCode::from(exit::USAGE)
}

/// Something that a person should know, and that stops nothing.
pub fn warn(command: &str, sentence: &str) {
    let paint = Paint::for_stream(&std::io::stderr());
    to_stderr(&format!("{} {sentence}\n", paint.with(WARNING, &format!("{command}: warning:"))));
}

/// Whether a stream gets colours: a terminal does, unless its user said no.
struct Paint(bool);

impl Paint {
    fn for_stream(stream: &impl IsTerminal) -> Self {
        let says = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let refused = says("NO_COLOR").is_some() || says("TERM").is_some_and(|terminal| terminal == "dumb");
        Self(stream.is_terminal() && !refused)
    }

    fn with(&self, style: Style, text: &str) -> String {
        if self.0 { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
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
                "`openadapt-agent serve` shows a sandbox, `openadapt-agent serve --bundles DIR` your workflows",
            ),
        );
    }
    let text = message.render();
    if !message.use_stderr() {
        let paint = Paint::for_stream(&std::io::stdout());
        to_stdout(&if paint.0 { text.ansi().to_string() } else { text.to_string() });
        return ExitCode::SUCCESS;
    }
    let text = text.to_string();
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
