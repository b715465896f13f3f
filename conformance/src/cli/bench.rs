//! `bench`: figures beside baselines.

use clap::Args;

use super::Problem;
use super::subject::SubjectArguments;
use crate::bench;
use crate::console::Printer;
use crate::exit::Exit;

#[derive(Debug, Args)]
pub struct Bench {
    #[command(flatten)]
    subject: SubjectArguments,
}

impl Bench {
    pub fn run(self, printer: Printer) -> Result<Exit, Problem> {
        if cfg!(debug_assertions) {
            printer.say(
                "this is a debug build: its figures say little; `cargo run --release -p conformance -- bench` measures",
            );
        }
        let subject = self.subject.find(printer)?;
        let table = bench::measure(&subject, |part| printer.say(part)).map_err(|error| {
            Problem::new(Exit::SetUp, error, "bench needs an agent that runs workflows with flow-fake")
        })?;
        printer.data(&table.to_markdown());
        Ok(Exit::Conformant)
    }
}
