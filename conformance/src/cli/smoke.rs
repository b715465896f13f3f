//! `smoke`: one greeting.

use clap::Args;

use super::subject::SubjectArguments;
use super::{Problem, runtime};
use crate::check::verdict::Blame;
use crate::console::{Printer, text};
use crate::exit::Exit;
use crate::report::excerpt::judged;
use crate::requirement::Catalogue;
use crate::run::smoke::{introduction, smoke};

#[derive(Debug, Args)]
pub struct Smoke {
    #[command(flatten)]
    subject: SubjectArguments,
}

impl Smoke {
    pub fn run(self, printer: Printer) -> Result<Exit, Problem> {
        let subject = self.subject.find(printer)?;
        let (evidence, judgement) = runtime()?
            .block_on(smoke(&subject))
            .map_err(|error| Problem::new(Exit::Harness, error, "this is a fault of the judge"))?;
        if let Some(server) = introduction(&evidence) {
            let tools = server.tools.join("\n  ");
            printer
                .data(&format!("{} {}, protocol {}\ntools:\n  {tools}", server.name, server.version, server.protocol));
        }
        let Some(failure) = judgement.failures.first() else { return Ok(Exit::Conformant) };
        printer.data(&text::failure(&judged(&evidence, &judgement), &Catalogue::default(), printer.style));
        Ok(if failure.blame == Blame::Environment { Exit::SetUp } else { Exit::Failed })
    }
}
