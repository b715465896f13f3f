//! `explain`: one scenario, or one family of them, in words.

use clap::Args;

use super::{Problem, Source};
use crate::console::Printer;
use crate::console::explain::explain;
use crate::exit::Exit;
use crate::scenario::select::select;

#[derive(Debug, Args)]
pub struct Explain {
    /// A scenario's name, or a glob.
    id: String,
    #[command(flatten)]
    source: Source,
}

impl Explain {
    pub fn run(self, printer: Printer) -> Result<Exit, Problem> {
        let (known, catalogue) = self.source.load()?;
        let selected = select(known, std::slice::from_ref(&self.id))?;
        let texts: Vec<String> = selected.iter().map(|scenario| explain(scenario, &catalogue)).collect();
        printer.data(&texts.join("\n---\n\n"));
        Ok(Exit::Conformant)
    }
}
