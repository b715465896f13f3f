//! Flow as a child in a process group of its own, watched to its end.

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::drain::Drain;
use super::time_limit::TimeLimit;
use crate::flow::approval;
use crate::flow::bundle_key;
use crate::flow::run_dir::RunDir;
use crate::lifecycle::crash::{Point, pass};
use crate::runs::clock::utc_now;
use crate::runs::dispatch::FlowEnd;

/// How often a run is looked at for a save that waits for a person.
const APPROVAL_TICK: Duration = Duration::from_millis(200);
/// How long the streams may stay open after Flow's group has ended.
const DRAIN_GRACE: Duration = Duration::from_millis(500);

/// How Flow ended, and what it printed.
#[derive(Debug)]
pub struct FlowRun {
    /// UTC, taken just before the process was made.
    pub started_at: String,
    /// From then to the end of its group.
    pub lasted: Duration,
    /// `None` when the system wouldn't say.
    pub end: Option<FlowEnd>,
    pub timed_out: bool,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

/// Runs `argv` to its end. `None` means that it provably never started.
pub fn run(argv: &[String], run_dir: &Path, limit: Duration) -> Option<FlowRun> {
    let (program, arguments) = argv.split_first()?;
    let (started_at, began) = (utc_now(), Instant::now());
    let mut child = Command::new(program)
        .args(arguments)
        .envs(bundle_key::handed_on())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .ok()?;
    // A fault that a test asks for here can't undo the start; a death can.
    let _ = pass(Point::KeeperAfterSpawn);
    let drains = (child.stdout.take().map(Drain::start), child.stderr.take().map(Drain::start));
    let mut time = TimeLimit::new(limit);
    let timed_out = watch(&child, run_dir, &mut time);
    let status = end_group(&mut child);
    let lasted = began.elapsed();
    let deadline = Instant::now() + DRAIN_GRACE;
    let text = |drain: Option<Drain>| drain.map(|drain| drain.finish(deadline)).unwrap_or_default();
    Some(FlowRun {
        started_at,
        end: status.and_then(|status| status.code().map(FlowEnd::Exited).or(status.signal().map(FlowEnd::Signaled))),
        timed_out,
        lasted,
        stdout: text(drains.0),
        stderr: text(drains.1),
    })
}

/// Waits until Flow has ended (false) or its time is up (true). An ended Flow isn't reaped here, so that its group's number
/// stays its own until what is left of the group has been ended, too.
fn watch(child: &Child, run_dir: &Path, time: &mut TimeLimit) -> bool {
    let ended = notice_end(child);
    let mut last = Instant::now();
    loop {
        let outcome = ended.recv_timeout(time.left().min(APPROVAL_TICK));
        let now = Instant::now();
        let waiting = approval::waiting_until(&RunDir::open(run_dir), Timestamp::now()).is_some();
        time.pass(now - last, waiting);
        last = now;
        match outcome {
            Ok(()) | Err(RecvTimeoutError::Disconnected) => return false,
            Err(RecvTimeoutError::Timeout) if time.left().is_zero() => return true,
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

fn notice_end(child: &Child) -> Receiver<()> {
    let (sender, receiver) = channel();
    let pid = pid_of(child);
    std::thread::spawn(move || {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Some(pid) = pid
            && matches!(waitid(WaitId::Pid(pid), options), Err(rustix::io::Errno::INTR))
        {}
        // The receiver is gone when the time was up first.
        let _ = sender.send(());
    });
    receiver
}

fn end_group(child: &mut Child) -> Option<std::process::ExitStatus> {
    if let Some(pid) = pid_of(child) {
        // Nothing is left to end where the whole group is gone.
        let _ = kill_process_group(pid, Signal::KILL);
    }
    child.wait().ok()
}

fn pid_of(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}
