//! `setup-flow`: the real Flow, ready to be judged.

use std::path::PathBuf;

use clap::Args;

use super::Problem;
use super::subject::{beside_this, build_programs};
use crate::console::Printer;
use crate::exit::Exit;
use crate::real_flow::{Recipe, SetUpFault, set_up};

#[derive(Debug, Args)]
pub struct SetupFlow {
    /// The Python to make the environment with: 3.11 or 3.12.
    #[arg(long, value_name = "PY", default_value = "python3")]
    python: String,
    /// Where everything goes [default: real-flow, beside the folder of this program].
    #[arg(long, value_name = "DIR")]
    into: Option<PathBuf>,
}

impl SetupFlow {
    pub fn run(self, printer: Printer) -> Result<Exit, Problem> {
        build_programs(printer)?;
        let folder = match self.into {
            Some(folder) => folder,
            None => real_flow_folder()?,
        };
        std::fs::create_dir_all(&folder)
            .map_err(|fault| Problem::new(Exit::SetUp, fault, "name another folder with --into"))?;
        let folder = folder.canonicalize().unwrap_or(folder);
        let ready = set_up(&folder, &self.python, Recipe::embedded()).map_err(|fault| {
            let hint = match fault {
                SetUpFault::NoBrowser => "install Debian's chromium, or name one with OPENADAPT_CHROMIUM",
                _ => "it needs Python 3.11 or 3.12 with venv, and the package index; what they said stands above",
            };
            Problem::new(Exit::SetUp, fault, hint)
        })?;
        printer.data(&format!("openadapt-flow {} on Chromium {}", ready.flow_version, ready.browser));
        for (part, took) in &ready.seconds {
            printer.data(&format!("  {part:<12} {took:6.1} s"));
        }
        Ok(Exit::Conformant)
    }
}

/// Beside the folders that cargo builds into.
pub fn real_flow_folder() -> Result<PathBuf, Problem> {
    let beside = beside_this()?;
    Ok(beside.parent().unwrap_or(&beside).join("real-flow"))
}
