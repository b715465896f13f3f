//! The running commentary of a crash campaign.

use std::io::{self, IsTerminal, Write};
use std::time::Instant;

use super::{Printer, text};
use crate::check::verdict::Judgement;
use crate::evidence::Evidence;
use crate::report::excerpt::judged;
use crate::requirement::Catalogue;

/// Where stderr is no terminal, a line for each so many cases.
const EVERY: usize = 250;

/// Failures that are told in full; all of them are in the report.
const TOLD: usize = 20;

pub struct Campaign {
    printer: Printer,
    live: bool,
    began: Instant,
    total: usize,
    done: usize,
    failed: usize,
}

impl Campaign {
    pub fn new(printer: Printer, total: usize) -> Self {
        printer.say(&format!("{total} cases"));
        Self { printer, live: io::stderr().is_terminal(), began: Instant::now(), total, done: 0, failed: 0 }
    }

    pub fn judged(&mut self, evidence: &Evidence, judgement: &Judgement) {
        self.done += 1;
        if !judgement.passed() {
            self.failed += 1;
            if self.failed <= TOLD {
                self.clear();
                self.printer.data(&text::failure(
                    &judged(evidence, judgement),
                    &Catalogue::default(),
                    self.printer.style,
                ));
            }
        }
        if self.live {
            let _reader_gone = write!(io::stderr().lock(), "\r\u{1b}[K{}", self.line());
            let _reader_gone = io::stderr().flush();
        } else if self.done.is_multiple_of(EVERY) {
            self.printer.say(&self.line());
        }
    }

    pub fn clear(&self) {
        if self.live {
            let _reader_gone = write!(io::stderr().lock(), "\r\u{1b}[K");
        }
    }

    fn line(&self) -> String {
        let failed = if self.failed > 0 { format!(", {} failed", self.failed) } else { String::new() };
        format!("{} of {}{failed}, {:.0} s", self.done, self.total, self.began.elapsed().as_secs_f64())
    }
}
