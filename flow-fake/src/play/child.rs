//! Children of Flow that outlive it: the same binary in a hidden mode, told its job on stdin.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::getppid;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::control;
use crate::journal::Journal;
use crate::output::Pipe;
use crate::report::{self, Prepared};
use crate::script::{Grandchild, Kind, ScriptError};

/// What a child needs to go on alone.
#[derive(Debug, Serialize, Deserialize)]
struct Job {
    parent: i32,
    control: Option<PathBuf>,
    journal: Option<PathBuf>,
    carried: Map<String, Value>,
    task: Task,
}

#[derive(Debug, Serialize, Deserialize)]
enum Task {
    Outlive { name: String },
    Report { after: String, run_dir: PathBuf, kind: Kind },
}

/// What belongs to the launch whose child this is.
pub struct Parent<'a> {
    pub control: Option<&'a Path>,
    pub journal: Option<&'a Path>,
    pub carried: Value,
}

/// Starts a child that lives until it is killed or released; returns its pid.
pub fn outlive(parent: &Parent, spec: &Grandchild) -> Result<u32, ScriptError> {
    let task = Task::Outlive { name: spec.name.clone() };
    start(parent, task, &[], &spec.holds, spec.own_group)
        .map_err(|source| ScriptError::Io { name: "grandchild", source })
}

/// Starts a child that writes `report` once Flow has ended and `release-<after>` exists; returns its pid.
pub fn report_later(parent: &Parent, after: &str, run_dir: &Path, report: &Prepared) -> Result<u32, ScriptError> {
    control::needed(parent.control, "late_report")?;
    let task = Task::Report { after: after.into(), run_dir: run_dir.into(), kind: report.kind };
    start(parent, task, &report.bytes, &[], true).map_err(|source| ScriptError::Io { name: "late_report", source })
}

fn start(parent: &Parent, task: Task, payload: &[u8], holds: &[Pipe], own_group: bool) -> std::io::Result<u32> {
    let job = Job {
        parent: std::process::id().try_into().unwrap_or_default(),
        control: parent.control.map(std::path::absolute).transpose()?,
        journal: parent.journal.map(std::path::absolute).transpose()?,
        carried: parent.carried.as_object().cloned().unwrap_or_default(),
        task,
    };
    let pipe = |pipe| if holds.contains(&pipe) { Stdio::inherit() } else { Stdio::null() };
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("__grandchild").stdin(Stdio::piped()).stdout(pipe(Pipe::Stdout)).stderr(pipe(Pipe::Stderr));
    if own_group {
        command.process_group(0);
    }
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        writeln!(stdin, "{}", json!(job))?;
        stdin.write_all(payload)?;
    }
    Ok(child.id())
}

/// The hidden mode.
pub fn grandchild_main(_: &[String]) -> u8 {
    let mut input = Vec::new();
    let read = std::io::stdin().read_to_end(&mut input);
    let line = input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len());
    match (read, serde_json::from_slice::<Job>(&input[..line])) {
        (Ok(_), Ok(job)) => live(job, input.split_off((line + 1).min(input.len()))),
        _ => crate::cli::HARNESS_FAULT,
    }
}

fn live(job: Job, payload: Vec<u8>) -> u8 {
    match job.task {
        Task::Outlive { name } => match job.control {
            Some(control) => u8::from(!control::wait_for_release(&control, &name)),
            None => control::forever(None),
        },
        Task::Report { after, run_dir, kind } => {
            let Some(control) = job.control else { return crate::cli::HARNESS_FAULT };
            while getppid().is_some_and(|pid| pid.as_raw_nonzero().get() == job.parent) {
                thread::sleep(Duration::from_millis(2));
            }
            if !control::wait_for_release(&control, &after) {
                return 1;
            }
            let report = Prepared { bytes: payload, kind, value: None };
            let written = report::place(&run_dir, &report).and_then(|()| {
                let mut journal = Journal::open(job.journal.as_deref())?;
                job.carried.into_iter().for_each(|(key, value)| journal.carry(&key, value));
                journal.write("report", json!({"late": true, "name": after}))
            });
            u8::from(written.is_err())
        }
    }
}
