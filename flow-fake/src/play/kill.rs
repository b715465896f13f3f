//! Killing the processes around Flow.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, getppid, kill_process, test_kill_process};

use super::control;
use crate::script::{ScriptError, Target};

const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// Pids to kill, server first: it must not see its keeper end.
pub fn targets(target: Target, control: Option<&Path>) -> Result<Vec<Pid>, ScriptError> {
    let mut pids = Vec::new();
    if matches!(target, Target::Server | Target::Both) {
        pids.push(server(control::needed(control, "kill")?)?);
    }
    if matches!(target, Target::Keeper | Target::Both) {
        pids.push(keeper()?);
    }
    Ok(pids)
}

/// Kills and waits until the process is gone or a zombie.
pub fn kill(pid: Pid) -> Result<(), ScriptError> {
    kill_process(pid, Signal::KILL).map_err(|error| unplayable(format!("pid {pid} can't be killed: {error}")))?;
    let deadline = Instant::now() + LONGEST_WAIT;
    while is_running(pid) {
        if Instant::now() > deadline {
            return Err(unplayable(format!("pid {pid} outlived a kill")));
        }
        thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

fn keeper() -> Result<Pid, ScriptError> {
    getppid().filter(|pid| *pid != Pid::INIT).ok_or_else(|| unplayable("the keeper is gone already".into()))
}

fn server(control: &Path) -> Result<Pid, ScriptError> {
    let path = control.join("server.pid");
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    text.trim()
        .parse()
        .ok()
        .and_then(Pid::from_raw)
        .ok_or_else(|| unplayable(format!("{} holds no pid", path.display())))
}

fn is_running(pid: Pid) -> bool {
    match std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())) {
        Ok(stat) => stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X'])),
        // Without /proc a zombie counts as running until its parent has reaped it.
        Err(_) => !Path::new("/proc/self").exists() && test_kill_process(pid).is_ok(),
    }
}

fn unplayable(problem: String) -> ScriptError {
    ScriptError::Play { name: "kill", problem }
}
