//! The loop over requests.

use std::io::{self, BufRead};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use serde_json::{Value, json};

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
    writing: Mutex<()>,
}

/// Answers requests until the input ends or `close`. Decisions under way come to their end first.
pub fn serve(bridge: Bridge) -> Result<(), ScriptError> {
    let bridge = Arc::new(bridge);
    let mut acting = Vec::new();
    for line in io::stdin().lock().split(b'\n') {
        let Ok(line) = line else { break };
        let request: Value = serde_json::from_slice(&line).unwrap_or_default();
        let op = request["op"].as_str().unwrap_or_default().to_owned();
        let spec = bridge.spec()?;
        let closing = op == "close";
        if op == "attended.act" {
            let bridge = Arc::clone(&bridge);
            acting.push(thread::spawn(move || handle(&bridge, &spec, &op, &request)));
        } else {
            handle(&bridge, &spec, &op, &request);
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

    /// Continuations come one after another, as a browser has one owner.
    pub fn one_at_a_time(&self) -> MutexGuard<'_, ()> {
        self.acting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn write(&self, bytes: &[u8]) {
        let _whole = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        output::write(Pipe::Stdout, bytes);
    }

    /// The script as it is now, so that a test can change it between two requests.
    fn spec(&self) -> Result<BridgeSpec, ScriptError> {
        match self.script.as_deref().map(std::fs::read) {
            Some(Ok(text)) => Script::parse(&text).map(|script| script.bridge),
            _ => Ok(BridgeSpec::default()),
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
