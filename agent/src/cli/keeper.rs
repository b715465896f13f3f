//! `__keeper`: the hidden mode in which the program owns one run.

use std::path::PathBuf;
use std::process::ExitCode;

use super::exit;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The dispatch folder of the run.
    dispatch: PathBuf,
}

pub fn run(arguments: &Arguments) -> ExitCode {
    match crate::keeper::keep(&arguments.dispatch) {
        Ok(()) => ExitCode::SUCCESS,
        // Nobody reads a keeper's streams; a run without exit facts says it all.
        Err(_) => ExitCode::from(exit::BUG),
    }
}
