//! What a person reads on a terminal. The only place that prints.

pub mod campaign;
pub mod explain;
pub mod progress;
pub mod style;
pub mod text;

use std::io::{self, IsTerminal, Write};

/// Data goes to stdout, everything else to stderr. A reader that went away is no fault.
#[derive(Debug, Clone, Copy)]
pub struct Printer {
    pub style: style::Style,
}

impl Printer {
    /// Colours only for a terminal, and not where NO_COLOR is set.
    pub fn for_stdout() -> Self {
        let wanted = io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Self { style: if wanted { style::Style::Coloured } else { style::Style::Plain } }
    }

    pub fn data(&self, text: &str) {
        let _reader_gone = writeln!(io::stdout().lock(), "{}", text.trim_end_matches('\n'));
    }

    pub fn say(&self, text: &str) {
        let _reader_gone = writeln!(io::stderr().lock(), "{}", text.trim_end_matches('\n'));
    }

    /// What went wrong and, after a blank line, what to do.
    pub fn complain(&self, said: &str, hint: &str) {
        self.say(&format!("conformance: {said}\n\nhint: {hint}"));
    }
}
