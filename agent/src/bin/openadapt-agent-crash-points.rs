//! The program with its crash points, for the judge's campaigns: built with the feature `crash-points` alone, beside the one for people.

use std::process::ExitCode;

fn main() -> ExitCode {
    openadapt_agent::cli::run(std::env::args_os())
}
