//! `list`: scenario names and what they say.

use clap::Args;

use super::{Problem, Source};
use crate::console::Printer;
use crate::exit::Exit;
use crate::scenario::select::select;

#[derive(Debug, Args)]
pub struct List {
    /// Only scenarios whose name matches; may be given several times.
    #[arg(long, value_name = "GLOB")]
    filter: Vec<String>,
    #[command(flatten)]
    source: Source,
}

impl List {
    pub fn run(self, printer: Printer) -> Result<Exit, Problem> {
        let (known, _) = self.source.load()?;
        let selected = select(known, &self.filter)?;
        if selected.is_empty() {
            return Err(Problem::new(
                Exit::NothingSelected,
                "there is no scenario",
                "is --scenarios the right folder?",
            ));
        }
        let width = selected.iter().map(|scenario| scenario.id.as_str().len()).max().unwrap_or_default();
        for scenario in &selected {
            printer.data(&format!("{:width$}  {}", scenario.id, scenario.title));
        }
        printer.say(&format!("{} scenarios", selected.len()));
        Ok(Exit::Conformant)
    }
}
