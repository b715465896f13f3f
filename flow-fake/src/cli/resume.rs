//! `resume`: an approved pause is gone on from in a new browser, the paused step first.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::own::Settings;
use super::{argparse, fault, flags, help, script_fault};
use crate::files;
use crate::journal::Journal;
use crate::launch::Bundle;
use crate::output::{self, Pipe};
use crate::pause;
use crate::play::{Player, resume as go_on};
use crate::report::Subject;
use crate::script::ScriptError;

const REFUSED: u8 = 3;

pub fn resume(settings: &Settings, args: &[String]) -> u8 {
    let parsed = match argparse::parse(&flags::RESUME, args) {
        Ok(parsed) => parsed,
        Err(stop) => return help::stop(&flags::RESUME, &stop),
    };
    let run_dir = PathBuf::from(parsed.positional(0));
    let Ok(pending) = files::read_json(&run_dir.join(pause::PENDING)) else {
        output::line(Pipe::Stdout, "Nothing is paused here.");
        return 1;
    };
    if let Some(why) = refusal(&run_dir, &pending) {
        output::line(Pipe::Stdout, &format!("Resume REFUSED: {why}"));
        return REFUSED;
    }
    if pending["resume_from_index"] != 0 {
        return fault("`resume` goes on from the first step only", "use the real program");
    }
    let going_on = format!(
        "Resuming {} at step {} '{}' (from index {}): {}. Already-verified work is NOT re-run.",
        run_dir.display(),
        pending["step_index"],
        pending["step_id"].as_str().unwrap_or_default(),
        pending["resume_from_index"],
        pending["category"].as_str().unwrap_or_default(),
    );
    output::line(Pipe::Stdout, &going_on);
    match played(settings, &run_dir, parsed.value("--url"), parsed.has("--headed")) {
        Ok(code) => code,
        Err(error) => script_fault(&error),
    }
}

/// Only an approval of exactly this pause lets it go on.
fn refusal(run_dir: &Path, pending: &Value) -> Option<&'static str> {
    let approval = files::read_json(&run_dir.join("approval.json")).unwrap_or_default();
    match pending["status"].as_str() {
        Some("rejected") => Some("the run was rejected."),
        _ if approval["pause_binding_sha256"] != pause::pause_digest(pending) => Some("nobody approved this pause."),
        _ => None,
    }
}

fn played(settings: &Settings, run_dir: &Path, url: Option<&str>, headed: bool) -> Result<u8, ScriptError> {
    let unreadable = |source| ScriptError::Io { name: "resume", source };
    let mut subject = Subject::of_run_dir(run_dir).map_err(unreadable)?;
    subject.url = url.map(str::to_owned).or(subject.url);
    let manifest = files::read_json(&run_dir.join("checkpoints/_manifest.json")).map_err(unreadable)?;
    let bundle = Bundle::load(Path::new(manifest["bundle_dir"].as_str().unwrap_or_default()))
        .map_err(|error| unreadable(std::io::Error::other(error.to_string())))?;
    let mut journal = Journal::open(settings.journal.as_deref()).map_err(unreadable)?;
    journal.resume(run_dir).map_err(unreadable)?;
    journal.carry("afterwards", json!(true));
    let player = Player::new(&mut journal, settings.control.clone(), bundle, subject, run_dir.to_owned(), false);
    go_on(player.headed(headed))
}
