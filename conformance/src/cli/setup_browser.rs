//! `setup-browser`: what the browser scenarios and the sandbox need, and how to get what is missing.

use std::env;
use std::path::PathBuf;

use clap::Args;

use super::Problem;
use crate::browser::{Missing, set_up};
use crate::console::Printer;
use crate::exit::Exit;

#[derive(Debug, Args)]
pub struct SetupBrowser {
    /// Where the driver is put. [default: .driver in the workspace, else in the folder that this is started in]
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
}

impl SetupBrowser {
    pub fn run(self, printer: Printer) -> Result<Exit, Problem> {
        let folder = match self.to {
            Some(folder) => folder,
            None => usual()?,
        };
        let done =
            set_up(&folder).map_err(|error| Problem::new(Exit::SetUp, format!("the driver: {error}"), error.hint()))?;
        let how = if done.kept { "already there" } else { "set up" };
        printer.data(&format!("driver    {} ({how})", done.driver.display()));
        match done.chromium {
            Ok(path) => {
                printer.data(&format!("chromium  {}", path.display()));
                printer.data("ready: scenarios with a browser are judged now");
                Ok(Exit::Conformant)
            }
            Err(missing) => {
                printer.data("chromium  not found");
                Err(Problem::new(Exit::SetUp, missing, Missing::hint(missing)))
            }
        }
    }
}

fn usual() -> Result<PathBuf, Problem> {
    if let Some(named) = env::var_os("PLAYWRIGHT_DRIVER_PATH").filter(|value| !value.is_empty()) {
        return Ok(PathBuf::from(named));
    }
    let here = env::current_dir();
    here.map(|folder| folder.join(".driver"))
        .map_err(|error| Problem::new(Exit::SetUp, format!("no current folder: {error}"), "name one with --to DIR"))
}
