//! `bridge`: starts the bridge of a caller that isn't written in Python.

use std::path::PathBuf;

use serde_json::json;

use super::argparse::{self, Flag, Stop, Takes, Verb};
use super::own::Settings;
use super::{fault, help, script_fault};
use crate::bridge::{self, Bridge};
use crate::output::{self, Pipe};

const DEPLOYMENT: Flag = Flag { name: "--deployment", takes: Takes::Value };
const URL: Flag = Flag { name: "--url", takes: Takes::Value };
const HEADED: Flag = Flag { name: "--headed", takes: Takes::Nothing };
const GROUNDING: Flag = Flag { name: "--allow-model-grounding", takes: Takes::Nothing };
const BRIDGE: Verb = Verb { prog: "flow-fake bridge", flags: &[DEPLOYMENT, URL, HEADED, GROUNDING], positionals: &[] };

pub fn serve(settings: &Settings, args: &[String]) -> u8 {
    let parsed = match argparse::parse(&BRIDGE, args) {
        Ok(parsed) => parsed,
        Err(Stop::Help) => return help::print(),
        Err(stop) => return help::stop(&BRIDGE, &stop),
    };
    let deployment = parsed.value("--deployment").map(PathBuf::from);
    if let Some(path) = &deployment
        && !path.is_file()
    {
        let error = format!("FileNotFoundError: {}", path.display());
        output::write(Pipe::Stderr, crate::play::traceback_text(&error).as_bytes());
        return 1;
    }
    let started = settings.open_journal().and_then(|mut journal| {
        let facts = json!({"op": "start", "argv": super::run::whole_command_line()});
        journal
            .about_nothing("bridge", facts)
            .map_err(|source| crate::script::ScriptError::Io { name: "journal", source })
    });
    if let Err(error) = started {
        return fault(&error.to_string(), &error.hint());
    }
    let bridge = Bridge::new(
        settings.script.clone(),
        settings.journal.clone(),
        settings.control.clone(),
        deployment,
        parsed.value("--url").map(str::to_owned),
    );
    match bridge::serve(bridge) {
        Ok(()) => 0,
        Err(error) => script_fault(&error),
    }
}
