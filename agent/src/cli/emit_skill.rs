//! `emit-skill`: a workflow's card as an Agent Skill.

use std::path::PathBuf;
use std::process::ExitCode;

use super::console;
use crate::skill;

const NAME: &str = "emit-skill";

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  openadapt-agent emit-skill workflows/triage --out ~/.claude/skills
  openadapt-agent emit-skill workflows/triage --out skills --include-bundle

The skill is made of the workflow's card: its name, what it does, what done means, and its inputs. Nothing that was recorded gets into it.")]
pub struct Arguments {
    /// The folder of one compiled workflow.
    bundle: PathBuf,
    /// Where the skill's own folder is made.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Copies the compiled workflow beside SKILL.md. The copy is protected data: keep it off shared places.
    #[arg(long)]
    include_bundle: bool,
}

pub fn run(arguments: &Arguments) -> ExitCode {
    let emitted = match skill::emit(&arguments.bundle, &arguments.out, arguments.include_bundle) {
        Ok(emitted) => emitted,
        Err(refusal) => return console::refused(NAME, &refusal),
    };
    if emitted.card_ignored {
        console::warn(NAME, "the operator's card breaks a rule and was ignored; the skill has the plain words");
    }
    if emitted.with_bundle {
        console::warn(
            NAME,
            "the folder bundle beside SKILL.md is protected workflow data, recorded values and pictures included; don't share it",
        );
    }
    console::to_stdout(&format!("{}\n", emitted.folder.display()));
    ExitCode::SUCCESS
}
