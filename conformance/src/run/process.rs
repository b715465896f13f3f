//! Processes that the judge didn't start itself: keepers, Flow, grandchildren. Found, waited for, ended.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::{fs, io};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, kill_process_group, pidfd_open};

use crate::evidence::Leftover;
use crate::scenario::action::SignalName;
use crate::wire::ready::readable;

/// Every process whose HOME is this world's: children, keepers, Flow, and what they left behind.
pub fn of_world(home: &Path) -> Vec<Leftover> {
    with_home(|folder| folder == home.as_os_str().as_bytes())
}

/// Every process whose HOME lies below `folder`: all worlds that were made there.
pub fn of_folder(folder: &Path) -> Vec<Leftover> {
    let below = [folder.as_os_str().as_bytes(), b"/"].concat();
    with_home(|home| home.starts_with(&below))
}

fn with_home(wanted: impl Fn(&[u8]) -> bool) -> Vec<Leftover> {
    let own = std::process::id();
    let lives_there = |environ: Vec<u8>| {
        let mut homes = environ.split(|byte| *byte == 0).filter_map(|entry| entry.strip_prefix(b"HOME="));
        homes.any(&wanted)
    };
    numbered_folders("/proc")
        .filter(|pid| *pid != own)
        .filter(|pid| fs::read(format!("/proc/{pid}/environ")).is_ok_and(lives_there))
        .map(|pid| Leftover { pid, command: command_of(pid) })
        .collect()
}

pub fn is_alive(pid: u32) -> bool {
    // A zombie has ended; only its parent hasn't asked yet.
    fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with(['Z', 'X'])))
}

/// Waits until the process has ended; at once where it is gone already.
pub async fn ended(pid: u32) -> io::Result<()> {
    let Some(number) = number(pid) else { return Ok(()) };
    let fd: OwnedFd = match pidfd_open(number, PidfdFlags::NONBLOCK) {
        Ok(fd) => fd,
        Err(rustix::io::Errno::SRCH) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let fd = readable(fd)?;
    fd.readable().await.map(|_| ())
}

pub fn signal(pid: u32, signal: SignalName) -> io::Result<()> {
    match number(pid) {
        Some(pid) => Ok(kill_process(pid, raw(signal))?),
        None => Err(io::ErrorKind::NotFound.into()),
    }
}

pub fn signal_group(group: u32, signal: SignalName) -> io::Result<()> {
    match number(group) {
        Some(group) => Ok(kill_process_group(group, raw(signal))?),
        None => Err(io::ErrorKind::NotFound.into()),
    }
}

/// Ends every process of the world, and sees each of them gone. Looks again, because a process may start another while it is being looked for.
pub fn kill_all(home: &Path) {
    for _ in 0..10 {
        let found = of_world(home);
        if found.is_empty() {
            return;
        }
        for process in &found {
            let _gone_already = signal(process.pid, SignalName::Kill);
        }
        for process in &found {
            await_end(process.pid);
        }
    }
}

/// Blocks until a process is gone, for a second at most.
pub fn await_end(pid: u32) {
    let Some(Ok(fd)) = number(pid).map(|pid| pidfd_open(pid, PidfdFlags::empty())) else { return };
    let second = Timespec { tv_sec: 1, tv_nsec: 0 };
    let _late_or_gone = poll(&mut [PollFd::new(&fd, PollFlags::IN)], Some(&second));
}

fn raw(signal: SignalName) -> Signal {
    match signal {
        SignalName::Kill => Signal::KILL,
        SignalName::Term => Signal::TERM,
        SignalName::Int => Signal::INT,
        SignalName::Stop => Signal::STOP,
        SignalName::Cont => Signal::CONT,
    }
}

fn number(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

fn numbered_folders(root: &str) -> impl Iterator<Item = u32> {
    fs::read_dir(root)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str().and_then(|name| name.parse().ok()))
}

fn command_of(pid: u32) -> String {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words: Vec<_> = line.split(|byte| *byte == 0).map(|word| OsStr::from_bytes(word).to_string_lossy()).collect();
    words.join(" ").trim_end().to_owned()
}
