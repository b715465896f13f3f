//! The command line: the real program's verbs, and the stand-in's own.

mod after;
mod approve;
mod argparse;
mod bridge;
mod bundle;
mod certify;
mod flags;
mod help;
mod look;
mod own;
mod resume;
mod run;
mod shapes;

use std::ffi::OsString;
use std::process::ExitCode;

use crate::output::{self, Pipe};
use crate::script::ScriptError;

/// Exit code for a mistake of the harness: a script that can't be played, a verb that isn't imitated.
pub const HARNESS_FAULT: u8 = 64;

/// Runs one command line (without the program's name).
pub fn main(args: impl Iterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.collect();
    crate::drive::with_driver_named(&args);
    let args: Vec<String> = args.into_iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
    ExitCode::from(dispatch(&args))
}

fn dispatch(args: &[String]) -> u8 {
    let (settings, rest) = match own::settings(args) {
        Ok(parsed) => parsed,
        Err(message) => return help::top_error(&message),
    };
    let Some((verb, tail)) = rest.split_first() else {
        return help::top_error("the following arguments are required: command");
    };
    match verb.as_str() {
        "-h" | "--help" => help::print(),
        "run" => run::run(&settings, tail),
        "certify" => certify::certify(&settings, tail),
        "approve" => approve::approve(&settings, tail),
        "resume" => resume::resume(&settings, tail),
        "pause" => after::pause(&settings, tail),
        "report" => after::report(&settings, tail),
        "bridge" => bridge::serve(&settings, tail),
        "shapes" => shapes::print(tail),
        "look" => look::take(tail),
        "bundle" => bundle::write(tail),
        "__grandchild" => crate::play::grandchild_main(tail),
        version if is_version(version) => {
            output::line(Pipe::Stdout, crate::FLOW_VERSION);
            0
        }
        option if option.starts_with('-') => help::top_error(&format!("unrecognized arguments: {option}")),
        known if flags::is_not_played(known) => fault(
            &format!("flow-fake doesn't imitate `{known}`"),
            "use `run`, `certify`, `approve`, `resume`, `--version`, or the stand-in's own `pause` and `report`",
        ),
        unknown => help::top_error(&format!(
            "argument command: invalid choice: '{unknown}' (choose from {})",
            flags::COMMANDS.map(|command| format!("'{command}'")).join(", ")
        )),
    }
}

/// `--version` and its abbreviations, as argparse takes them.
fn is_version(word: &str) -> bool {
    word.len() > 2 && "--version".starts_with(word)
}

/// Prints what argparse prints for a `run` command line with this mistake; returns its exit code.
pub fn usage_error(message: &str) -> u8 {
    help::verb_error(&flags::RUN, message)
}

fn fault(sentence: &str, hint: &str) -> u8 {
    output::line(Pipe::Stderr, &format!("flow-fake: {sentence}\n\nhint: {hint}"));
    HARNESS_FAULT
}

fn script_fault(error: &ScriptError) -> u8 {
    fault(&error.to_string(), &error.hint())
}
