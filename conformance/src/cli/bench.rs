//! `bench`: figures beside baselines.

use clap::{Args, ValueEnum};

use super::Problem;
use super::subject::SubjectArguments;
use crate::bench;
use crate::console::Printer;
use crate::exit::Exit;

#[derive(Debug, Args)]
pub struct Bench {
    #[command(flatten)]
    subject: SubjectArguments,
    /// One part alone.
    #[arg(value_enum)]
    part: Option<Part>,
    /// How long the history of `history` is.
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    actions: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Calls beside a store of a thousand actions and beside one of many.
    History,
}

impl Bench {
    pub fn run(self, printer: Printer) -> Result<Exit, Problem> {
        if cfg!(debug_assertions) {
            printer.say(
                "this is a debug build: its figures say little; `cargo run --release -p conformance -- bench` measures",
            );
        }
        let subject = self.subject.find(printer)?;
        let say = |part: &str| printer.say(part);
        let measured = match self.part {
            None => bench::measure(&subject, say),
            Some(Part::History) => bench::history::measure(&subject, self.actions, say),
        };
        let table = measured.map_err(|error| {
            Problem::new(Exit::SetUp, error, "bench needs an agent that runs workflows with flow-fake")
        })?;
        printer.data(&table.to_markdown());
        Ok(Exit::Conformant)
    }
}
