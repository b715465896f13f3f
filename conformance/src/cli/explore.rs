//! `explore`: worlds drawn at random, held against a reference model.

use std::path::PathBuf;

use clap::Args;

use super::subject::SubjectArguments;
use super::{Problem, runtime};
use crate::console::Printer;
use crate::exit::Exit;
use crate::model::{Explored, explore};

#[derive(Debug, Args)]
pub struct Explore {
    #[command(flatten)]
    subject: SubjectArguments,
    /// Worlds to draw.
    #[arg(long, value_name = "N", default_value_t = 100)]
    cases: u32,
    /// The same seed draws the same worlds. [default: another one each time]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Where a world that fails is written to, as a scenario.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Explore {
    pub fn run(self, printer: Printer) -> Result<Exit, Problem> {
        let subject = self.subject.find(printer)?;
        let seed = self.seed.unwrap_or_else(|| u64::from(uuid::Uuid::new_v4().as_fields().0));
        printer.say(&format!("{} worlds, seed {seed}", self.cases));
        let explored = explore(&subject, &runtime()?, seed, self.cases, self.out.as_deref(), |said| printer.say(said));
        match explored.map_err(|error| Problem::new(Exit::SetUp, error, "--out is a folder that can be written"))? {
            Explored::Held { cases } => {
                printer.data(&format!("{cases} worlds of seed {seed} are as the model says\n"));
                Ok(Exit::Conformant)
            }
            Explored::Failed { case, said, file } => {
                printer.data(&format!("{said}\n\nThe smallest world that shows it: {case:#?}\n"));
                if let Some(file) = file {
                    printer.data(&format!("Written to {}\n", file.display()));
                }
                Ok(Exit::Failed)
            }
        }
    }
}
