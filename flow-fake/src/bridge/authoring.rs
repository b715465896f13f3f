//! The recording session: its states, and the codes of its refusals, as the real program's session has them.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::serve::Bridge;
use crate::canonical::sha256_hex;
use crate::journal::Journal;
use crate::script::AuthoringSpec;

/// A session, once it was opened.
#[derive(Debug, Default)]
pub struct Session {
    folder: PathBuf,
    kind: String,
    state: State,
    /// Where the last click was: a pause without a node is about that place.
    clicked: bool,
    /// The name of the input that a person types.
    param: Option<Value>,
    recordings: u64,
    draft: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Idle,
    Recording,
    Paused,
    Stopped,
    Halted,
}

/// The smallest picture that a reader takes for one.
const PICTURE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// The body of the response to an operation of the session.
pub fn answer(bridge: &Bridge, spec: &AuthoringSpec, op: &str, request: &Value) -> Value {
    let mut held = bridge.session();
    let body =
        if op == "authoring.open" { opened(&mut held, spec, request) } else { stepped(&mut held, spec, op, request) };
    let state = held.as_ref().map(|session| format!("{:?}", session.state).to_lowercase());
    note(bridge, op, request, &body, state.as_deref());
    if spec.die.as_deref() == Some(op) && body["ok"] == true {
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    }
    body
}

fn opened(held: &mut Option<Session>, spec: &AuthoringSpec, request: &Value) -> Value {
    if let Some(reason) = &spec.not_opened {
        return json!({"ok": false, "kind": "failed", "authoring_reason": reason});
    }
    let (Some(folder), Some(kind)) = (request["folder"].as_str(), request["pin"]["kind"].as_str()) else {
        return json!({"ok": false, "kind": "failed"});
    };
    let kind = if kind == "none" { "windows" } else { kind };
    *held = Some(Session { folder: folder.into(), kind: kind.to_owned(), ..Session::default() });
    let backend = spec.backend.as_deref().unwrap_or(kind);
    json!({"ok": true, "backend": backend, "coach_only": spec.coach_only || request["pin"]["kind"] == "none"})
}

fn stepped(held: &mut Option<Session>, spec: &AuthoringSpec, op: &str, request: &Value) -> Value {
    let Some(session) = held else { return refused("not_recording") };
    if let Some(code) = spec.refuse.get(op) {
        return refused(code);
    }
    if spec.fail.iter().any(|fails| fails == op) {
        return json!({"ok": false, "kind": "failed"});
    }
    match session.step(spec, op, request) {
        Ok(mut body) => {
            body["ok"] = json!(true);
            body
        }
        Err(code) => refused(code),
    }
}

impl Session {
    fn step(&mut self, spec: &AuthoringSpec, op: &str, request: &Value) -> Result<Value, &'static str> {
        if self.state == State::Halted && op != "authoring.halt" {
            return Err("halted");
        }
        let recording = matches!(self.state, State::Recording | State::Paused);
        let node = request["node_id"].as_str();
        let stale = node.is_some_and(|id| !spec.tree.iter().any(|node| node["node_id"] == id));
        let acts = match (recording, self.state) {
            (false, _) => Err("not_recording"),
            (true, State::Paused) => Err("paused"),
            _ if stale => Err("stale_node"),
            _ => Ok(()),
        };
        match op {
            "authoring.observe" => return Ok(json!({"observe": self.seen(spec)})),
            "authoring.screen" if request["scrubbed"] == true && !spec.scrubs => return Err("scrubbing_failed"),
            "authoring.screen" => return Ok(json!({"scrubbed": request["scrubbed"], "screen_png_base64": PICTURE})),
            "authoring.start_record" if recording => return Err("already_recording"),
            "authoring.start_record" => {
                (self.state, self.clicked) = (State::Recording, false);
                self.recordings += 1;
            }
            "authoring.click" => {
                acts?;
                self.clicked = true;
            }
            "authoring.type" => {
                acts?;
                self.clicked |= node.is_some();
            }
            "authoring.pause_for_input" => {
                acts?;
                if node.is_none() && !self.clicked {
                    return Err("missing_pause_target");
                }
                self.state = State::Paused;
                self.param = Some(request["param"].clone());
            }
            "authoring.continue_input" if !recording => return Err("not_recording"),
            "authoring.continue_input" if self.state != State::Paused => return Err("not_paused"),
            "authoring.continue_input" => {
                let param = self.param.clone().unwrap_or_default();
                if let Some(reason) = &spec.unrecorded {
                    return Ok(json!({"recorded": false, "param": param, "reason": reason}));
                }
                self.state = State::Recording;
                return Ok(json!({"recorded": true, "param": param}));
            }
            "authoring.stop_record" if !recording => return Err("not_recording"),
            "authoring.stop_record" => self.state = State::Stopped,
            "authoring.compile" if self.state == State::Idle => return Err("not_recording"),
            "authoring.compile" => return Ok(json!({"workflow_id": self.compiled()?})),
            "authoring.admit" if spec.no_admit => return Err("admit_unavailable"),
            "authoring.admit" => return Ok(json!({"workflow_id": self.admitted()?})),
            "authoring.halt" => self.state = State::Halted,
            _ => return Err("other"),
        }
        Ok(json!({}))
    }

    fn compiled(&mut self) -> Result<String, &'static str> {
        self.state = State::Stopped;
        let id = format!("wf_{}", &sha256_hex(format!("recording {}", self.recordings))[..32]);
        let bundle = self.folder.join("bundle");
        let written = fs::create_dir_all(&bundle).and_then(|()| {
            fs::write(bundle.join("workflow.json"), json!({"name": "authoring", "draft": id}).to_string())
        });
        self.draft = Some(id.clone());
        written.map(|()| id).map_err(|_| "other")
    }

    fn admitted(&self) -> Result<String, &'static str> {
        let id = self.draft.clone().ok_or("not_compiled")?;
        let accepted = json!({"status": "accepted", "workflow_id": id}).to_string();
        fs::write(self.folder.join("bundle/admit.json"), accepted).map(|()| id).map_err(|_| "other")
    }

    /// What the session shows: besides the tree also what a careless one would show, and nobody may see.
    fn seen(&self, spec: &AuthoringSpec) -> Value {
        if let Some(whole) = &spec.observe {
            return whole.clone();
        }
        json!({
            "schema_version": "openadapt.authoring.observe/v1",
            "backend": self.kind,
            "provider": if self.kind == "web" { "playwright_ax" } else { "none" },
            "mode": "authoring",
            "agent_drive": true,
            "coach_only": false,
            "recording": self.state == State::Recording,
            "tree": spec.tree,
            "truncated": false,
            "node_count": spec.tree.len(),
            "window": {
                "process_name": "Chromium", "role": "window", "title": crate::SCREEN_CANARY, "bounds": {"x": 0.0, "y": 0.0, "w": 1.0, "h": 1.0}
            },
            "url": crate::SCREEN_CANARY,
            "ocr": crate::SCREEN_CANARY,
        })
    }
}

/// A line in the journal for each operation, with the way in which a text got into the recording.
fn note(bridge: &Bridge, op: &str, request: &Value, body: &Value, state: Option<&str>) {
    let Ok(mut journal) = Journal::open(bridge.journal.as_deref()) else { return };
    let done = body["ok"] == true;
    let mut facts = json!({"op": op, "done": done, "state": state});
    match op {
        "authoring.type" if done => {
            facts["how"] = json!("type_text");
            facts["text"] = request["text"].clone();
        }
        "authoring.continue_input" if body["recorded"] == true => facts["how"] = json!("record_observed"),
        "authoring.pause_for_input" if done => facts["secret"] = json!(request["secret"] == true),
        "authoring.open" => facts["pin"] = request["pin"].clone(),
        _ => {}
    }
    for key in ["param", "node_id"] {
        if !request[key].is_null() {
            facts[key] = request[key].clone();
        }
    }
    let _ = journal.about_nothing("authoring", facts);
}

fn refused(code: &str) -> Value {
    json!({"ok": false, "kind": "refused", "code": code})
}
