//! `freeze`: the frozen list of a set, made from its bodies.

use clap::Args;

use super::{Problem, Source};
use crate::certificate::frozen::FrozenSet;
use crate::console::Printer;
use crate::exit::Exit;

#[derive(Debug, Args)]
pub struct Freeze {
    /// What the set is called.
    #[arg(long, default_value = "flow-1.35")]
    name: String,
    #[command(flatten)]
    source: Source,
}

impl Freeze {
    pub fn run(self, printer: Printer) -> Result<Exit, Problem> {
        let (known, _) = self.source.load()?;
        let set = FrozenSet::freeze(&self.name, &known);
        if set.scenarios.is_empty() {
            return Err(Problem::new(
                Exit::NothingSelected,
                "no scenario here plays with a Flow",
                "is --scenarios the right folder?",
            ));
        }
        printer.data(&set.to_json());
        Ok(Exit::Conformant)
    }
}
