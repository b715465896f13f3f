//! One server process and its three pipes.

use std::cell::{Cell, RefCell};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};
use std::rc::Rc;
use std::time::Duration;
use std::{fs, io};

use rustix::fs::Mode;
use rustix::process::umask;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::transcript::{Expired, Transcript};
use crate::evidence::{Exit, ServerEnd, ServerSeen};
use crate::scenario::model;

/// stderr is kept up to here; the rest is only counted.
const KEPT_STDERR: usize = 256 * 1024;

type Writer = Box<dyn AsyncWrite + Unpin>;
type Reader = Box<dyn AsyncRead + Unpin>;

/// How to start a server: everything is decided.
#[derive(Debug, Clone)]
pub struct Launch {
    pub name: String,
    pub argv: Vec<String>,
    pub env: Vec<(String, String)>,
    pub cwd: std::path::PathBuf,
    pub umask: Option<u32>,
    pub stdio: model::Stdio,
    pub stderr: model::Stderr,
    pub modern: bool,
}

pub struct Server {
    pub name: String,
    pub pid: Option<u32>,
    pub modern: bool,
    stdin: RefCell<Option<Writer>>,
    state: Rc<State>,
    stdout_task: JoinHandle<()>,
    stderr_task: RefCell<Option<JoinHandle<()>>>,
    transcript: Rc<Transcript>,
    pub end: Cell<Option<ServerEnd>>,
    pub tools: Cell<Option<usize>>,
    pub greeted: Cell<Option<bool>>,
}

#[derive(Default)]
struct State {
    exit: Cell<Option<Exit>>,
    stdout_ended: Cell<bool>,
    /// The client doesn't read; a reading that is under way may still end.
    held: Cell<bool>,
    go_on: Notify,
    stderr: RefCell<(Vec<u8>, usize)>,
}

/// A write that couldn't be made.
#[derive(Debug)]
pub enum WriteFault {
    /// The server reads no more, or its stdin was closed.
    Closed,
    /// It doesn't read, and the pipe is full.
    Stuck,
}

impl Server {
    pub fn start(launch: &Launch, transcript: Rc<Transcript>) -> io::Result<Self> {
        let (program, arguments) = launch.argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env_clear()
            .envs(launch.env.iter().map(|(key, value)| (key, value)))
            .current_dir(&launch.cwd)
            .process_group(0)
            .kill_on_drop(true);
        let sockets = match launch.stdio {
            model::Stdio::Pipe => {
                command.stdin(Stdio::piped()).stdout(Stdio::piped());
                None
            }
            model::Stdio::Socketpair => {
                let (input, child_input) = std::os::unix::net::UnixStream::pair()?;
                let (output, child_output) = std::os::unix::net::UnixStream::pair()?;
                command.stdin(OwnedFd::from(child_input)).stdout(OwnedFd::from(child_output));
                Some((input, output))
            }
        };
        command.stderr(Stdio::piped());
        let mut child = with_umask(launch.umask, || command.spawn())?;
        drop(command);
        let pid = child.id();
        let (stdin, stdout): (Writer, Reader) = match sockets {
            Some((input, output)) => (Box::new(asynchronous(input)?), Box::new(asynchronous(output)?)),
            None => {
                let missing = || io::Error::other("a pipe is missing");
                let stdin = child.stdin.take().ok_or_else(missing)?;
                (Box::new(stdin), Box::new(child.stdout.take().ok_or_else(missing)?))
            }
        };
        let state = Rc::new(State::default());
        let stderr_task = match (launch.stderr, child.stderr.take()) {
            (model::Stderr::Closed, _) | (_, None) => None,
            (model::Stderr::Undrained, Some(stderr)) => {
                Some(tokio::task::spawn_local(hold_then_drain(stderr, state.clone(), transcript.clone())))
            }
            (model::Stderr::Drained, Some(stderr)) => Some(tokio::task::spawn_local(drain(stderr, state.clone()))),
        };
        let reading = read_lines(launch.name.clone(), stdout, state.clone(), transcript.clone());
        let stdout_task = tokio::task::spawn_local(reading);
        tokio::task::spawn_local(wait(child, state.clone(), transcript.clone()));
        Ok(Self {
            name: launch.name.clone(),
            pid,
            modern: launch.modern,
            stdin: RefCell::new(Some(stdin)),
            state,
            stdout_task,
            stderr_task: RefCell::new(stderr_task),
            transcript,
            end: Cell::new(None),
            tools: Cell::new(None),
            greeted: Cell::new(None),
        })
    }

    pub fn exit(&self) -> Option<Exit> {
        self.state.exit.get()
    }

    /// Nothing more can come from it.
    pub fn is_silent(&self) -> bool {
        self.state.stdout_ended.get()
    }

    pub fn is_open(&self) -> bool {
        self.exit().is_none() && self.stdin.borrow().is_some()
    }

    /// Logs and writes one line, `slice` bytes at a time.
    pub async fn write(
        &self,
        line: &[u8],
        newline: bool,
        slice: Option<usize>,
        raw: bool,
        limit: Duration,
    ) -> (usize, Result<(), WriteFault>) {
        let frame = self.transcript.sent(&self.name, line, newline, raw);
        let Some(mut stdin) = self.stdin.borrow_mut().take() else { return (frame, Err(WriteFault::Closed)) };
        let mut bytes = line.to_vec();
        if newline {
            bytes.push(b'\n');
        }
        let writing = async {
            for part in bytes.chunks(slice.unwrap_or(bytes.len()).max(1)) {
                stdin.write_all(part).await?;
                stdin.flush().await?;
            }
            io::Result::Ok(())
        };
        let written = timeout(limit, writing).await;
        *self.stdin.borrow_mut() = Some(stdin);
        let outcome = match written {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(WriteFault::Closed),
            Err(_) => Err(WriteFault::Stuck),
        };
        (frame, outcome)
    }

    pub fn close_stdin(&self) {
        self.stdin.borrow_mut().take();
    }

    pub fn close_stdout(&self) {
        self.stdout_task.abort();
        self.state.stdout_ended.set(true);
    }

    /// Stops reading its stdout, or goes on with it.
    pub fn hold_reading(&self, held: bool) {
        self.state.held.set(held);
        self.state.go_on.notify_waiters();
    }

    pub fn close_stderr(&self) {
        if let Some(task) = self.stderr_task.borrow_mut().take() {
            task.abort();
        }
    }

    pub async fn ended(&self, limit: Duration) -> Result<Exit, Expired> {
        self.transcript.until(limit, || self.exit()).await
    }

    /// Why nothing more comes from it, in words. A process that is just ending gets the moment that it needs.
    pub async fn how_it_ended(&self) -> String {
        match self.ended(Duration::from_secs(1)).await {
            Ok(exit) => format!("the server ended: {exit}"),
            Err(Expired) => "the server closed its stdout, and still runs".into(),
        }
    }

    /// What is known of it, when all is over.
    pub async fn seen(&self) -> ServerSeen {
        // Its last lines may still be in the pipe. A child that it left behind may hold the pipe open: that isn't waited for.
        let _held_open = self.transcript.until(Duration::from_millis(200), || self.is_silent().then_some(())).await;
        let task = self.stderr_task.borrow_mut().take();
        if let Some(mut task) = task
            && timeout(Duration::from_millis(200), &mut task).await.is_err()
        {
            // A child that it left behind still holds its stderr: what was read by now is what counts.
            task.abort();
        }
        let stderr = self.state.stderr.borrow();
        ServerSeen {
            name: self.name.clone(),
            pid: self.pid,
            modern: self.modern,
            stderr: String::from_utf8_lossy(&stderr.0).into_owned(),
            stderr_bytes: stderr.1,
            exit: self.exit(),
            end: self.end.get().unwrap_or(ServerEnd::Early),
            tools: self.tools.get(),
            greeted: self.greeted.get(),
        }
    }
}

/// Runs `spawn` under another umask. Safe because the judge makes files on one thread only.
pub fn with_umask<T>(wanted: Option<u32>, spawn: impl FnOnce() -> T) -> T {
    let Some(wanted) = wanted else { return spawn() };
    let before = umask(Mode::from_raw_mode(wanted));
    let outcome = spawn();
    umask(before);
    outcome
}

pub fn exit_of(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, signal) => Exit::Signal(signal.unwrap_or_default()),
    }
}

fn asynchronous(stream: std::os::unix::net::UnixStream) -> io::Result<UnixStream> {
    stream.set_nonblocking(true)?;
    UnixStream::from_std(stream)
}

async fn wait(mut child: Child, state: Rc<State>, transcript: Rc<Transcript>) {
    if let Ok(status) = child.wait().await {
        state.exit.set(Some(exit_of(status)));
        transcript.wake();
    }
}

async fn read_lines(name: String, stdout: Reader, state: Rc<State>, transcript: Rc<Transcript>) {
    let mut reader = BufReader::with_capacity(64 * 1024, stdout);
    let mut line = Vec::new();
    loop {
        line.clear();
        while state.held.get() {
            state.go_on.notified().await;
        }
        match reader.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => break,
            Ok(_) => {
                let ended = line.pop_if(|last| *last == b'\n').is_some();
                transcript.received(&name, &line, ended);
            }
        }
    }
    state.stdout_ended.set(true);
    transcript.wake();
}

async fn drain(mut stderr: impl AsyncRead + Unpin, state: Rc<State>) {
    let mut part = vec![0; 16 * 1024];
    while let Ok(count @ 1..) = stderr.read(&mut part).await {
        let mut kept = state.stderr.borrow_mut();
        let room = KEPT_STDERR.saturating_sub(kept.0.len());
        kept.0.extend_from_slice(&part[..count.min(room)]);
        kept.1 += count;
    }
}

/// Leaves stderr unread as long as the server lives; what fitted into the pipe is read afterwards.
async fn hold_then_drain(stderr: impl AsyncRead + Unpin, state: Rc<State>, transcript: Rc<Transcript>) {
    const LONGER_THAN_ANY_WORLD: Duration = Duration::from_secs(24 * 3600);
    let _exit = transcript.until(LONGER_THAN_ANY_WORLD, || state.exit.get()).await;
    drain(stderr, state).await;
}

/// Makes an executable's path absolute, so that a world's own working folder doesn't matter.
pub fn absolute(word: &str) -> String {
    if !word.contains('/') {
        return word.to_owned();
    }
    fs::canonicalize(word).map_or_else(|_| word.to_owned(), |path| path.display().to_string())
}
