//! Usage texts: argparse's on stderr for mistakes, and the stand-in's own help.

use super::argparse::{Flag, Stop, Takes, Verb};
use super::flags;
use crate::output::{self, Pipe};
use crate::script::STEP_NAMES;

const WIDTH: usize = 80;

/// The stand-in's `--help`.
pub fn print() -> u8 {
    let steps: Vec<String> = STEP_NAMES.iter().map(|name| format!("  {name}")).collect();
    output::write(Pipe::Stdout, include_str!("help.txt").replace("{steps}", &steps.join("\n")).as_bytes());
    0
}

/// How a verb's parser ends: help on stdout, an error on stderr with exit 2.
pub fn stop(verb: &Verb, stop: &Stop) -> u8 {
    match stop {
        Stop::Help => {
            output::line(Pipe::Stdout, &usage(verb));
            0
        }
        Stop::Error(message) => verb_error(verb, message),
        Stop::Unrecognized(message) => top_error(message),
    }
}

pub fn verb_error(verb: &Verb, message: &str) -> u8 {
    output::line(Pipe::Stderr, &format!("{}\n{}: error: {message}", usage(verb), verb.prog));
    2
}

/// An error of the top parser.
pub fn top_error(message: &str) -> u8 {
    let usage = format!("usage: openadapt-flow [-h] [--version] {{{}}} ...", flags::COMMANDS.join(","));
    output::line(Pipe::Stderr, &format!("{usage}\nopenadapt-flow: error: {message}"));
    2
}

fn usage(verb: &Verb) -> String {
    let prefix = format!("usage: {} ", verb.prog);
    let words = std::iter::once("[-h]".to_owned())
        .chain(verb.flags.iter().map(usage_word))
        .chain(verb.positionals.iter().map(|name| (*name).to_owned()));
    let mut lines = vec![prefix.clone()];
    for word in words {
        let full = lines.last().is_some_and(|line| line.len() + word.len() > WIDTH && line.len() > prefix.len());
        if full {
            lines.push(" ".repeat(prefix.len()));
        }
        if let Some(line) = lines.last_mut() {
            line.push_str(&word);
            line.push(' ');
        }
    }
    lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n")
}

fn usage_word(flag: &Flag) -> String {
    match flag.takes {
        Takes::Nothing => format!("[{}]", flag.name),
        Takes::OneOf(choices) => format!("[{} {{{}}}]", flag.name, choices.join(",")),
        Takes::Value | Takes::Values => {
            format!("[{} {}]", flag.name, flag.name.trim_start_matches('-').replace('-', "_").to_uppercase())
        }
    }
}
