//! `completions`: a shell learns this program's commands and flags.

use std::process::ExitCode;

use clap_complete::Shell;

use super::console;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  openadapt-agent completions bash > ~/.local/share/bash-completion/completions/openadapt-agent
  openadapt-agent completions zsh > ~/.zfunc/_openadapt-agent
  openadapt-agent completions fish > ~/.config/fish/completions/openadapt-agent.fish")]
pub struct Arguments {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

pub fn run(arguments: &Arguments) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut super::description(), console::PROGRAM, &mut script);
    console::to_stdout(&String::from_utf8_lossy(&script));
    ExitCode::SUCCESS
}
