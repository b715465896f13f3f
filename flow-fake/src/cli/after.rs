//! The stand-in's own `pause` and `report`: what a person in Flow does to a run folder afterwards.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::argparse::{self, Flag, Parsed, Stop, Takes, Verb};
use super::own::Settings;
use super::{fault, script_fault};
use crate::attended::{self, Action, Book, Entry, Order, Request};
use crate::pause::{self, Decision, Status};
use crate::report::{self, Subject};
use crate::script::{ReportSpec, ScriptError};
use crate::{clock, files};

const SHAPES: [&str; 11] = [
    "verified",
    "completed_unverified",
    "halted_before_effect",
    "reconciliation_required",
    "rejected_policy",
    "rejected_policy_authorization",
    "canceled",
    "failed_platform",
    "rolled_back",
    "no_profile_success",
    "no_profile_halt",
];
const SHAPE: Flag = Flag { name: "--shape", takes: Takes::OneOf(&SHAPES) };
const PROFILE: Flag = Flag { name: "--profile", takes: Takes::OneOf(&["none", "demo", "standard", "regulated"]) };
const PATCH: Flag = Flag { name: "--patch", takes: Takes::Value };
const FRESH: Flag = Flag { name: "--fresh-run", takes: Takes::Nothing };
const SET: Flag = Flag { name: "--set", takes: Takes::OneOf(&Decision::NAMES) };

const PAUSE: Verb =
    Verb { prog: "flow-fake pause", flags: &[SET, SHAPE, PROFILE, PATCH, FRESH], positionals: &["run_dir"] };
const REPORT: Verb =
    Verb { prog: "flow-fake report", flags: &[SHAPE, PROFILE, PATCH, FRESH], positionals: &["run_dir"] };

pub fn pause(settings: &Settings, args: &[String]) -> u8 {
    let parsed = match parse(&PAUSE, args) {
        Ok(parsed) => parsed,
        Err(code) => return code,
    };
    let Some(decision) = parsed.value("--set").and_then(Decision::named) else {
        return fault("`pause` needs --set", "flow-fake pause RUN_DIR --set reject");
    };
    let run_dir = PathBuf::from(parsed.positional(0));
    let done = match decision {
        Decision::Pending => pause::set_status(&run_dir, Status::Pending).map(drop),
        Decision::Continuing => pause::set_status(&run_dir, Status::Continuing).map(drop),
        Decision::Approve => pause::approve(&run_dir, parsed.positional(0), "a person"),
        Decision::Reject => rejected_in_flow(&run_dir),
        Decision::Clear => pause::clear(&run_dir),
        Decision::Continue => return outcome(continued(settings, &run_dir, &parsed)),
    };
    let noted = done.and_then(|()| note(settings, &run_dir, "pause", json!({"set": parsed.value("--set")})));
    outcome(noted.map_err(|source| ScriptError::Io { name: "pause", source }))
}

pub fn report(settings: &Settings, args: &[String]) -> u8 {
    let parsed = match parse(&REPORT, args) {
        Ok(parsed) => parsed,
        Err(code) => return code,
    };
    let run_dir = PathBuf::from(parsed.positional(0));
    let replaced = prepared(&run_dir, &parsed, "halted_before_effect").and_then(|report| {
        report::place(&run_dir, &report)
            .and_then(|()| note(settings, &run_dir, "report", json!({"shape": parsed.value("--shape")})))
            .map_err(|source| ScriptError::Io { name: "report", source })
    });
    outcome(replaced)
}

/// Flow's order on a continuation that ends well: candidate, pause removed, candidate becomes the report.
fn continued(settings: &Settings, run_dir: &Path, parsed: &Parsed) -> Result<(), ScriptError> {
    let report = prepared(run_dir, parsed, "verified")?;
    let candidate = run_dir.join(".report.terminal-candidate.json");
    files::replace(&candidate, &report.bytes, files::PRIVATE)
        .and_then(|()| pause::clear(run_dir))
        .and_then(|()| std::fs::rename(&candidate, run_dir.join("report.json")))
        .and_then(|()| note(settings, run_dir, "pause", json!({"set": "continue", "shape": parsed.value("--shape")})))
        .map_err(|source| ScriptError::Io { name: "pause", source })
}

/// A person's own reject, with its record.
fn rejected_in_flow(run_dir: &Path) -> io::Result<()> {
    pause::reject(run_dir)?;
    let capability = files::read_json(&run_dir.join(pause::CAPABILITY)).unwrap_or_default();
    let order = Order {
        attention_id: String::new(),
        run_dir: run_dir.to_owned(),
        request: Request {
            capability_digest: attended::capability_digest(&capability),
            idempotency_key: format!("flow-fake-{}", Subject::fresh_id()),
            action: Action::Reject,
            disposition: Some("rejected_by_operator".into()),
        },
        operator: "a person".into(),
        decided_by: "human".into(),
    };
    let noted = Book::open(run_dir)
        .and_then(|mut book| book.append(&order, &capability, Entry::of(Action::Reject.recorded_as())));
    noted.map(drop).map_err(io::Error::other)
}

/// A report about the same run, unless `--fresh-run` asks for another run's.
fn prepared(run_dir: &Path, parsed: &Parsed, default: &str) -> Result<report::Prepared, ScriptError> {
    let mut subject = Subject::of_run_dir(run_dir).map_err(|source| ScriptError::Io { name: "report", source })?;
    if parsed.has("--fresh-run") {
        subject = subject.of_another_run(clock::now());
    }
    let shape = parsed.value("--shape").unwrap_or(default);
    let mut step = json!({"shape": shape});
    if let Some(profile) = parsed.value("--profile") {
        step["profile"] = json!(profile);
    }
    let unplayable = |problem: String| ScriptError::Play { name: "report", problem };
    if let Some(patch) = parsed.value("--patch") {
        step["patch"] = serde_json::from_str(patch).map_err(|error| unplayable(format!("--patch: {error}")))?;
    }
    let spec = ReportSpec::parse(step).map_err(unplayable)?;
    report::prepare(&spec, &subject, clock::now())
}

fn parse(verb: &Verb, args: &[String]) -> Result<Parsed, u8> {
    argparse::parse(verb, args).map_err(|stop| match stop {
        Stop::Help => super::help::print(),
        Stop::Error(problem) | Stop::Unrecognized(problem) => fault(&problem, "see flow-fake --help"),
    })
}

pub fn note(settings: &Settings, run_dir: &Path, event: &str, facts: Value) -> io::Result<()> {
    let mut journal = crate::journal::Journal::open(settings.journal.as_deref())?;
    journal.resume(run_dir)?;
    journal.carry("afterwards", json!(true));
    journal.write(event, facts)
}

fn outcome(done: Result<(), ScriptError>) -> u8 {
    match done {
        Ok(()) => 0,
        Err(error) => script_fault(&error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Profile, Shape};

    #[test]
    fn every_shape_can_be_named_on_the_command_line() {
        assert_eq!(SHAPES, Shape::ALL.map(Shape::name));
        assert!(Profile::NAMES.iter().all(|name| Profile::named(name).is_some()));
    }
}
