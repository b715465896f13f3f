//! `__keeper`: the hidden mode in which the program owns one run.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use super::exit;

/// Owns the run of the one dispatch folder that is named.
pub fn run(arguments: &[OsString]) -> ExitCode {
    let [dispatch] = arguments else { return ExitCode::from(exit::USAGE) };
    match crate::keeper::keep(Path::new(dispatch)) {
        Ok(()) => ExitCode::SUCCESS,
        // Nobody reads a keeper's streams; a run without exit facts says it all.
        Err(_) => ExitCode::from(exit::BUG),
    }
}
