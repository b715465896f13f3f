//! The loop over requests.

use std::io::{self, BufRead};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use serde_json::{Value, json};

use super::authoring::Session;
use super::{answer, fault};
use crate::output::{self, Pipe};
use crate::script::{BridgeSpec, Script, ScriptError};

/// One bridge process.
#[derive(Debug, Default)]
pub struct Bridge {
    pub script: Option<PathBuf>,
    pub journal: Option<PathBuf>,
    pub control: Option<PathBuf>,
    pub deployment: Option<PathBuf>,
    /// Given on the command line, in the place of the deployment's.
    pub url: Option<String>,
    acting: Mutex<()>,
    session: Mutex<Option<Session>>,
    writing: Mutex<()>,
    caller: Mutex<Caller>,
}

/// Whether anybody is there for whom something is prepared.
#[derive(Debug, Default)]
struct Caller {
    gone: bool,
    /// Something is being prepared, and no decision is under way beside it.
    only_preparing: bool,
}

/// Answers requests until the input ends or `close`. Decisions under way come to their end first; what is only being prepared is for
/// nobody once the caller is gone, and ends with it at once.
pub fn serve(bridge: Bridge) -> Result<(), ScriptError> {
    let bridge = Arc::new(bridge);
    let mut acting: Vec<thread::JoinHandle<()>> = Vec::new();
    for line in requests(&bridge) {
        let request: Value = serde_json::from_slice(&line).unwrap_or_default();
        let op = request["op"].as_str().unwrap_or_default().to_owned();
        let spec = bridge.spec()?;
        let closing = op == "close";
        acting.retain(|decision| !decision.is_finished());
        if op == "attended.act" {
            let bridge = Arc::clone(&bridge);
            acting.push(thread::spawn(move || handle(&bridge, &spec, &op, &request)));
        } else {
            bridge.only_preparing(op == "sandbox.prepare" && acting.is_empty());
            handle(&bridge, &spec, &op, &request);
            bridge.only_preparing(false);
        }
        if closing {
            break;
        }
    }
    for thread in acting {
        let _ = thread.join();
    }
    Ok(())
}

/// Read on a thread of its own, so that the end of the input is seen whatever is being done.
fn requests(bridge: &Arc<Bridge>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    let bridge = Arc::clone(bridge);
    thread::spawn(move || {
        for line in io::stdin().lock().split(b'\n').map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
        bridge.caller_is_gone();
    });
    receiver
}

impl Bridge {
    pub fn new(
        script: Option<PathBuf>,
        journal: Option<PathBuf>,
        control: Option<PathBuf>,
        deployment: Option<PathBuf>,
        url: Option<String>,
    ) -> Self {
        Self { script, journal, control, deployment, url, ..Self::default() }
    }

    /// Where the live session is: as given, else the quoted text after `url:` in the deployment file.
    pub fn url(&self) -> Option<String> {
        self.url.clone().or_else(|| {
            let text = std::fs::read_to_string(self.deployment.as_ref()?).ok()?;
            Some(text.split_once("url: \"")?.1.split('"').next()?.to_owned())
        })
    }

    pub fn is_live(&self, spec: &BridgeSpec) -> bool {
        spec.live.unwrap_or(self.deployment.is_some())
    }

    fn only_preparing(&self, now: bool) {
        let mut caller = self.caller.lock().unwrap_or_else(PoisonError::into_inner);
        caller.only_preparing = now;
        caller.end_if_for_nobody();
    }

    fn caller_is_gone(&self) {
        let mut caller = self.caller.lock().unwrap_or_else(PoisonError::into_inner);
        caller.gone = true;
        caller.end_if_for_nobody();
    }

    /// Continuations come one after another, as a browser has one owner.
    pub fn one_at_a_time(&self) -> MutexGuard<'_, ()> {
        self.acting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The recording session, if one was opened.
    pub fn session(&self) -> MutexGuard<'_, Option<Session>> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn write(&self, bytes: &[u8]) {
        let _whole = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        output::write(Pipe::Stdout, bytes);
    }

    /// The script as it is now, so that a test can change it between two requests.
    fn spec(&self) -> Result<BridgeSpec, ScriptError> {
        match self.script.as_deref().map(std::fs::read) {
            Some(Ok(text)) => Script::parse(&text).map(|script| {
                let drives = script.drives();
                let mut spec = script.bridge;
                spec.drives = drives;
                spec
            }),
            _ => Ok(BridgeSpec::default()),
        }
    }
}

impl Caller {
    /// A browser that was being opened goes with the pipe to its driver.
    fn end_if_for_nobody(&self) {
        if self.gone && self.only_preparing {
            std::process::exit(0);
        }
    }
}

fn handle(bridge: &Bridge, spec: &BridgeSpec, op: &str, request: &Value) {
    fault::hang(bridge, spec, op);
    let body = if request.is_object() {
        answer::answer(bridge, spec, op, request)
    } else {
        json!({"ok": false, "kind": "failed"})
    };
    fault::respond(bridge, spec, op, &request["id"], body);
}
