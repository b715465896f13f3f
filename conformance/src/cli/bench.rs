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
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Wanted {
    /// All of it.
    All,
    /// The sandbox: many runs in a row, then many calls at once; no process may be left.
    Sandbox,
    /// MockMed by itself.
    Clinic,
}

impl From<Wanted> for Part {
    fn from(wanted: Wanted) -> Self {
        match wanted {
            Wanted::All => Self::All,
            Wanted::Sandbox => Self::Sandbox,
            Wanted::Clinic => Self::Clinic,
        }
    }
}

impl Bench {
    pub fn run(self, printer: Printer) -> Result<Exit, Problem> {
        if cfg!(debug_assertions) {
            printer.say(
                "this is a debug build: its figures say little; `cargo run --release -p conformance -- bench` measures",
            );
        }
        let subject = self.subject.find(printer)?;
        let table =
            bench::measure(&subject, self.part.into(), self.runs, |part| printer.say(part)).map_err(|error| {
                Problem::new(Exit::SetUp, error, "bench needs an agent that runs workflows with flow-fake")
            })?;
        printer.data(&table.to_markdown());
        Ok(Exit::Conformant)
    }
}
