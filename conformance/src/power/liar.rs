//! Stands between the judge and a real agent, and lies in one way.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use clap::ValueEnum;
use serde_json::{Value, json};

/// In which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Whatever happened, it is told as done.
    AlwaysDone,
    /// Nothing is ever started, and everything is refused in the contract's own words.
    AlwaysRefuse,
    /// Tells what the scenario expects, and does nothing.
    EchoesExpected,
    /// A result without a fault in its shape, and nothing behind it.
    ShapeWithoutEffect,
    /// Does its work and says nothing of it.
    Silent,
    /// Talks on stdout before it begins.
    Chatty,
    /// Takes each call for a new piece of work.
    ForgetsRequests,
    /// Tries again by itself when it isn't done.
    RetriesByItself,
    /// Whatever isn't done may be tried again.
    Optimist,
    /// Tells an unproven save as stopped before saving.
    Soother,
    /// Repeats what it was given in its own sentence.
    Repeater,
    /// Doesn't wait for the end: what runs is done.
    Hasty,
}

/// The liar, and whom it lies about.
#[derive(Debug, Clone)]
pub struct Liar {
    pub kind: Kind,
    /// What the scenario expects of the call, for the one who echoes it.
    pub expect: Value,
    pub command: Vec<String>,
}

/// Calls that wait for their answer: by their id, the message as the client sent it, and how often it was sent on.
type Calls = Arc<Mutex<HashMap<String, (Value, u32)>>>;

impl Liar {
    /// Passes everything on, but for its lie, until the server ends; true when it ended well.
    pub fn run(self) -> io::Result<bool> {
        let (program, words) = self.command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut child = Command::new(program).args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let missing = || io::Error::other("a pipe is missing");
        let input = Arc::new(Mutex::new(Some(child.stdin.take().ok_or_else(missing)?)));
        let output = child.stdout.take().ok_or_else(missing)?;
        if self.kind == Kind::Chatty {
            say("openadapt-agent is ready.")?;
        }
        let calls = Calls::default();
        let (inward, asked, liar) = (input.clone(), calls.clone(), self.clone());
        std::thread::spawn(move || {
            for line in io::stdin().lock().lines().map_while(Result::ok) {
                if liar.asked(&line, &asked, &inward).is_err() {
                    break;
                }
            }
            drop(locked(&inward).take());
        });
        for line in BufReader::new(output).lines() {
            self.answered(&line?, &calls, &input)?;
        }
        Ok(child.wait()?.success())
    }

    /// A line of the client: passed on, or answered here.
    fn asked(&self, line: &str, calls: &Calls, server: &Mutex<Option<impl Write>>) -> io::Result<()> {
        let mut message: Value = serde_json::from_str(line).unwrap_or_default();
        let starts = message["method"] == "tools/call" && message["params"]["name"] == "run_workflow";
        if !starts {
            return write(server, line);
        }
        let made_up = match self.kind {
            Kind::AlwaysRefuse => Some(lawful("policy_refused")),
            Kind::ShapeWithoutEffect => Some(lawful("saved_and_checked")),
            Kind::EchoesExpected => Some(echoed(&self.expect)),
            _ => None,
        };
        if let Some(mut object) = made_up {
            for key in ["workflow", "request_id"] {
                object[key] = message["params"]["arguments"][key].clone();
            }
            return say(&answer(&message["id"], &object).to_string());
        }
        locked(calls).insert(message["id"].to_string(), (message.clone(), 1));
        if self.kind == Kind::ForgetsRequests {
            again(&mut message, uuid::Uuid::new_v4().simple());
        }
        write(server, &message.to_string())
    }

    /// A line of the server: passed on, changed, or swallowed.
    fn answered(&self, line: &str, calls: &Calls, server: &Mutex<Option<impl Write>>) -> io::Result<()> {
        let mut message: Value = serde_json::from_str(line).unwrap_or_default();
        let id = message["id"].to_string();
        let known = if message.get("method").is_none() { locked(calls).get(&id).cloned() } else { None };
        let (Some((call, times)), true) = (known, message["result"]["structuredContent"].is_object()) else {
            return say(line);
        };
        let mut object = message["result"]["structuredContent"].clone();
        let done = object["outcome"] == "done";
        match self.kind {
            Kind::Silent => return Ok(()),
            Kind::RetriesByItself if !done && times < 3 => {
                locked(calls).insert(id, (call.clone(), times + 1));
                let mut call = call;
                again(&mut call, times);
                return write(server, &call.to_string());
            }
            Kind::AlwaysDone => become_lawful(&mut object, "saved_and_checked"),
            Kind::Hasty if object["outcome"] == "running" => become_lawful(&mut object, "saved_and_checked"),
            Kind::Soother if object["outcome"] == "not_sure_if_saved" => {
                become_lawful(&mut object, "stopped_for_review")
            }
            Kind::Optimist if !done => object["safe_to_retry"] = true.into(),
            Kind::Repeater => object["what_happened"] = call["params"]["arguments"]["inputs"].to_string().into(),
            Kind::ForgetsRequests | Kind::RetriesByItself => {
                object["request_id"] = call["params"]["arguments"]["request_id"].clone();
            }
            _ => {}
        }
        message["result"]["content"][0]["text"] = object.to_string().into();
        message["result"]["structuredContent"] = object;
        say(&message.to_string())
    }
}

/// The same call under another request id.
fn again(call: &mut Value, mark: impl std::fmt::Display) {
    let own = call["params"]["arguments"]["request_id"].as_str().unwrap_or("again").to_owned();
    call["params"]["arguments"]["request_id"] = format!("{own}-{mark}").into();
}

fn answer(id: &Value, object: &Value) -> Value {
    let content = json!([{"type": "text", "text": object.to_string()}]);
    json!({"jsonrpc": "2.0", "id": id, "result": {"content": content, "structuredContent": object, "isError": false}})
}

/// A result that the contract allows, of a run that never was.
fn lawful(reason: &str) -> Value {
    let mut object = json!({
        "outcome": "", "label": "Result", "safe_to_retry": false, "what_happened": "It is as the outcome says.",
        "next_action": "See the next step.", "next_step": "none", "reason": "", "record_changed": "no", "proof": "none",
        "run_id": "run-0123456789abcdef01234567", "request_id": null, "workflow": null, "mode": "production",
        "contract_version": "openadapt.run-result/v1",
    });
    become_lawful(&mut object, reason);
    object
}

fn become_lawful(object: &mut Value, reason: &str) {
    let Some(row) = super::mutants::row(reason) else { return };
    super::mutants::tell(object, row);
}

/// What the scenario wants to hear, as far as it says so in plain values.
fn echoed(expect: &Value) -> Value {
    let mut object = lawful(expect["reason"].as_str().unwrap_or("saved_and_checked"));
    for (key, value) in
        expect.as_object().into_iter().flatten().filter(|(_, value)| !value.is_object() && !value.is_array())
    {
        object[key] = value.clone();
    }
    object
}

fn say(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(line.as_bytes())?;
    out.write_all(b"\n")?;
    out.flush()
}

fn write(to: &Mutex<Option<impl Write>>, line: &str) -> io::Result<()> {
    let mut to = locked(to);
    let to = to.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
    to.write_all(line.as_bytes())?;
    to.write_all(b"\n")?;
    to.flush()
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
