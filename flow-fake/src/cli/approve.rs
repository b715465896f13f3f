//! `approve`: a person's approval of a pause, as the real command line takes it. What the capability allows isn't asked.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::own::Settings;
use super::{argparse, flags, help, script_fault};
use crate::files;
use crate::output::{self, Pipe};
use crate::pause;
use crate::script::ScriptError;

pub fn approve(settings: &Settings, args: &[String]) -> u8 {
    let parsed = match argparse::parse(&flags::APPROVE, args) {
        Ok(parsed) => parsed,
        Err(stop) => return help::stop(&flags::APPROVE, &stop),
    };
    let run_dir = PathBuf::from(parsed.positional(0));
    let Ok(pending) = files::read_json(&run_dir.join(pause::PENDING)) else {
        return say("Nothing is paused here.", 1);
    };
    match pending["status"].as_str() {
        Some("rejected") => return say("This run was rejected.", 1),
        Some("approved") => return say("This pause is approved already.", 0),
        _ => {}
    }
    if !pending["delivery_uncertainty"].is_null() && !parsed.has("--authorize-uncertain-retry") {
        return say("Whether the step was delivered is uncertain.", 1);
    }
    let approver = parsed.value("--approver").map_or_else(operator, str::to_owned);
    let approved = pause::approve(&run_dir, parsed.positional(0), &approver)
        .and_then(|()| super::after::note(settings, &run_dir, "pause", json!({"set": Value::from("approved")})));
    match approved {
        Ok(()) => say("Approved.", 0),
        Err(source) => script_fault(&ScriptError::Io { name: "approve", source }),
    }
}

fn operator() -> String {
    std::env::var("USER").unwrap_or_else(|_| "operator".into())
}

fn say(text: &str, code: u8) -> u8 {
    output::line(Pipe::Stdout, text);
    code
}
