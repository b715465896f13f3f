//! The running commentary of a run.

use std::io::{self, IsTerminal, Write};

use super::Printer;
use super::text;
use crate::requirement::Catalogue;
use crate::run::events::{Event, Reader};

pub struct Progress<'a> {
    printer: Printer,
    catalogue: &'a Catalogue,
    live: bool,
    total: usize,
    done: usize,
    failed: usize,
}

impl<'a> Progress<'a> {
    pub fn new(printer: Printer, catalogue: &'a Catalogue) -> Self {
        Self { printer, catalogue, live: io::stderr().is_terminal(), total: 0, done: 0, failed: 0 }
    }

    /// One line that is written over again; nothing where stderr is no terminal.
    fn line(&self) {
        if self.live {
            let failed = if self.failed > 0 { format!(", {} failed", self.failed) } else { String::new() };
            let _reader_gone = write!(io::stderr().lock(), "\r\u{1b}[K{} of {}{failed}", self.done, self.total);
            let _reader_gone = io::stderr().flush();
        }
    }

    fn clear(&self) {
        if self.live {
            let _reader_gone = write!(io::stderr().lock(), "\r\u{1b}[K");
        }
    }
}

impl Reader for Progress<'_> {
    fn event(&mut self, event: &Event) {
        match event {
            Event::Started(started) => {
                self.total = started.scenarios.len();
                self.printer.say(&format!("judging {} with {} scenarios", started.agent, self.total));
                if let Some(why) = &started.unable_why {
                    let count = started.unable.len();
                    let said = self.printer.style.bad(&format!("COULD NOT RUN: {count} scenarios. {why}"));
                    self.printer.data(&said);
                }
            }
            Event::Judged(judged) => {
                self.done += 1;
                if !judged.judgement.passed() {
                    self.failed += 1;
                    self.clear();
                    self.printer.data(&text::failure(judged, self.catalogue, self.printer.style));
                    self.printer.data("");
                }
                self.line();
            }
            Event::Finished(finished) => {
                self.clear();
                self.printer.data(&text::summary(&finished.summary, &finished.matrix, self.printer.style));
            }
        }
    }
}
