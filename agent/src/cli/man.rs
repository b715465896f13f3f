//! `man`: the manual pages, made of what `--help` says.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use super::console;
use crate::refusal::Refusal;

const NAME: &str = "man";

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  openadapt-agent man ~/.local/share/man/man1")]
pub struct Arguments {
    /// Where the pages are written, one for each command.
    dir: PathBuf,
}

pub fn run(arguments: &Arguments) -> ExitCode {
    let written = fs::create_dir_all(&arguments.dir)
        .and_then(|()| clap_mangen::generate_to(super::description(), &arguments.dir));
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => console::refused(
            NAME,
            &Refusal::new(format!("the pages can't be written: {error}"), "name a folder that you may write to"),
        ),
    }
}
