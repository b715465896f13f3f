//! `report`: a stored report, as it was shown when it was made.

use std::path::PathBuf;

use clap::Args;

use super::Problem;
use crate::console::Printer;
use crate::console::progress::Progress;
use crate::exit::Exit;
use crate::report::{jsonl, markdown};
use crate::requirement::Catalogue;
use crate::run::events::{Event, Reader};
use crate::scenario::source::Files;

#[derive(Debug, Args)]
pub struct Report {
    /// A report.jsonl.
    file: PathBuf,
    /// The requirements as a markdown page instead.
    #[arg(long)]
    matrix: bool,
}

impl Report {
    pub fn run(self, printer: Printer) -> Result<Exit, Problem> {
        let events = jsonl::read(&self.file).map_err(|error| {
            let said = format!("{}: {error}", self.file.display());
            Problem::new(Exit::BadEvidence, said, "a report is whole only with its last line; run again with --out")
        })?;
        let Some(Event::Finished(finished)) = events.last() else { return Ok(Exit::BadEvidence) };
        if self.matrix {
            printer.data(&markdown::matrix(&finished.matrix));
        } else {
            // The sentences are the built-in ones; a report of another set is shown without them.
            let catalogue = Catalogue::read(&Files::embedded()).unwrap_or_default();
            let mut progress = Progress::new(printer, &catalogue);
            events.iter().for_each(|event| progress.event(event));
        }
        let clean = finished.summary.failed + finished.summary.unrun == 0;
        Ok(if clean { Exit::Conformant } else { Exit::Failed })
    }
}
