//! The stand-in's own `bundle`: the one workflow that it can drive, written into a folder.

use std::path::Path;

use super::argparse::{self, Stop, Verb};
use super::{fault, script_fault};
use crate::drive;
use crate::script::ScriptError;

const BUNDLE: Verb = Verb { prog: "flow-fake bundle", flags: &[], positionals: &["folder"] };

pub fn write(args: &[String]) -> u8 {
    let parsed = match argparse::parse(&BUNDLE, args) {
        Ok(parsed) => parsed,
        Err(Stop::Help) => return super::help::print(),
        Err(Stop::Error(problem) | Stop::Unrecognized(problem)) => return fault(&problem, "see flow-fake --help"),
    };
    match drive::write_bundle(Path::new(parsed.positional(0))) {
        Ok(()) => 0,
        Err(source) => script_fault(&ScriptError::Io { name: "bundle", source }),
    }
}
