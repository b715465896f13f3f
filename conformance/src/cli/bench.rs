//! `bench`: figures beside baselines.

use clap::{Args, ValueEnum};

use super::Problem;
use super::subject::SubjectArguments;
use crate::bench::{self, Part};
use crate::console::Printer;
use crate::exit::Exit;

#[derive(Debug, Args)]
pub struct Bench {
    /// What is measured.
    #[arg(value_enum, default_value_t = Wanted::All)]
    part: Wanted,
    /// Sandbox runs in a row.
    #[arg(long, value_name = "N", default_value_t = 200)]
    runs: usize,
    #[command(flatten)]
    subject: SubjectArguments,
    /// How long the history of `history` is.
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    actions: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Wanted {
    /// All of it.
    All,
    /// The sandbox: many runs in a row, then many calls at once; no process may be left.
    Sandbox,
    /// MockMed by itself.
    Clinic,
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
            Wanted::All => bench::measure(&subject, Part::All, self.runs, say),
            Wanted::Sandbox => bench::measure(&subject, Part::Sandbox, self.runs, say),
            Wanted::Clinic => bench::measure(&subject, Part::Clinic, self.runs, say),
            Wanted::History => bench::history::measure(&subject, self.actions, say),
        };
        let table = measured.map_err(|error| {
            Problem::new(Exit::SetUp, error, "bench needs an agent that runs workflows with flow-fake")
        })?;
        printer.data(&table.to_markdown());
        Ok(Exit::Conformant)
    }
}
