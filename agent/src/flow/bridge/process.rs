//! One process that speaks the protocol: a line for each request, a line for each answer, matched by id.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value};

use super::command::BridgeCommand;
use crate::flow::bundle_key;

const LONGEST_LINE: u64 = 8 << 20;

/// A bridge process. Dropping it closes its input, which ends it.
#[derive(Debug)]
pub struct BridgeProcess {
    input: Mutex<Input>,
    shared: Arc<Shared>,
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lost {
    /// The process was gone before the request was written.
    NeverSent,
    Ended,
    Late,
    Garbage,
}

#[derive(Debug)]
struct Input {
    pipe: ChildStdin,
    next_id: u64,
}

#[derive(Debug)]
struct Shared {
    child: Mutex<Child>,
    waiting: Mutex<Waiting>,
}

/// Who waits for which answer; no one, and why, once nothing more can come.
#[derive(Debug)]
enum Waiting {
    Open(HashMap<u64, SyncSender<Map<String, Value>>>),
    Over(Lost),
}

impl BridgeProcess {
    /// In a process group of its own, so that an interrupt at the terminal doesn't cut a decision short.
    pub fn start(command: &BridgeCommand) -> io::Result<Self> {
        let (program, arguments) =
            command.words().split_first().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        let mut child = Command::new(program)
            .args(arguments)
            .envs(bundle_key::handed_on())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let (Some(pipe), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::from(io::ErrorKind::BrokenPipe));
        };
        let shared = Arc::new(Shared { child: Mutex::new(child), waiting: Mutex::new(Waiting::Open(HashMap::new())) });
        let reading = Arc::clone(&shared);
        std::thread::Builder::new().name("flow-bridge".to_owned()).spawn(move || reading.read_answers(output))?;
        Ok(Self { input: Mutex::new(Input { pipe, next_id: 1 }), shared })
    }

    pub fn ask(&self, op: &str, fields: Map<String, Value>, within: Duration) -> Result<Map<String, Value>, Lost> {
        let (id, answer) = self.send(op, fields)?;
        match answer.recv_timeout(within) {
            Ok(answer) => Ok(answer),
            Err(RecvTimeoutError::Timeout) => {
                self.shared.stop_waiting(id);
                Err(Lost::Late)
            }
            Err(RecvTimeoutError::Disconnected) => Err(self.shared.why()),
        }
    }

    pub fn is_answering(&self) -> bool {
        matches!(*lock(&self.shared.waiting), Waiting::Open(_))
    }

    /// Ends the process and what it started in its group.
    pub fn end(&self) {
        self.shared.over(Lost::Ended);
        kill_group(&mut lock(&self.shared.child));
    }

    fn send(&self, op: &str, fields: Map<String, Value>) -> Result<(u64, mpsc::Receiver<Map<String, Value>>), Lost> {
        let mut input = lock(&self.input);
        let id = input.next_id;
        input.next_id += 1;
        let mut request = Map::from_iter([("id".to_owned(), id.into()), ("op".to_owned(), op.into())]);
        request.extend(fields);
        let line = format!("{}\n", Value::Object(request));
        let (sender, receiver) = mpsc::sync_channel(1);
        match &mut *lock(&self.shared.waiting) {
            Waiting::Open(waiting) => waiting.insert(id, sender),
            Waiting::Over(_) => return Err(Lost::NeverSent),
        };
        // A pipe without a reader takes nothing; a line that was cut short is answered by nobody.
        match input.pipe.write_all(line.as_bytes()) {
            Ok(()) => Ok((id, receiver)),
            Err(fault) if fault.kind() == io::ErrorKind::BrokenPipe => Err(Lost::NeverSent),
            Err(_) => Err(Lost::Ended),
        }
    }
}

impl Drop for BridgeProcess {
    /// A goodbye, and then the end of its input. What it is doing it may finish.
    fn drop(&mut self) {
        let _ = self.send("close", Map::new());
    }
}

impl Shared {
    fn read_answers(&self, output: ChildStdout) {
        let mut output = BufReader::new(output);
        let why = loop {
            let mut line = Vec::new();
            match output.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => break Lost::Ended,
                Ok(_) => {}
            }
            if !self.deliver(&line) {
                break Lost::Garbage;
            }
        };
        self.over(why);
        let mut child = lock(&self.child);
        kill_group(&mut child);
        let _ = child.wait();
    }

    /// False where the line is no answer to anything that was asked.
    fn deliver(&self, line: &[u8]) -> bool {
        let Ok(Value::Object(mut answer)) = serde_json::from_slice(line) else { return false };
        let Some(id) = answer.remove("id").and_then(|id| id.as_u64()) else { return false };
        match &mut *lock(&self.waiting) {
            Waiting::Open(waiting) => match waiting.remove(&id) {
                // Who has given up waiting doesn't read it.
                Some(asker) => {
                    let _ = asker.send(answer);
                    true
                }
                None => false,
            },
            Waiting::Over(_) => false,
        }
    }

    fn stop_waiting(&self, id: u64) {
        if let Waiting::Open(waiting) = &mut *lock(&self.waiting) {
            waiting.remove(&id);
        }
    }

    /// Nothing more will be answered: whoever waits is told by the loss of their sender.
    fn over(&self, why: Lost) {
        let mut waiting = lock(&self.waiting);
        if matches!(*waiting, Waiting::Open(_)) {
            *waiting = Waiting::Over(why);
        }
    }

    fn why(&self) -> Lost {
        if let Waiting::Over(why) = *lock(&self.waiting) { why } else { Lost::Ended }
    }
}

/// Nothing of a process that was waited for is signalled: its number may be another's.
fn kill_group(child: &mut Child) {
    if !matches!(child.try_wait(), Ok(None)) {
        return;
    }
    if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
