//! A fake bridge, and a client that writes and reads raw lines.

use std::future::pending;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use openadapt_agent::bridge::host::{
    Annotations, AnswerFuture, CallContext, ClientTraits, Form, FormAnswer, FormOutcome, ToolAnswer, ToolHost, ToolSpec,
};
use openadapt_agent::mcp::{Ended, ServerFace, Wire, serve};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Everything that is waited for has come by then, or never will.
pub const DEADLINE: Duration = Duration::from_secs(10);

/// The end takes less than a second; a busy machine gets more, but less than the five seconds that rmcp alone takes.
const PATIENCE: Duration = Duration::from_secs(3);

#[derive(Default)]
pub struct FakeHost {
    /// Calls of `wait` that were begun and are neither answered nor dropped.
    pub waiting: Arc<AtomicUsize>,
    pub waiting_changed: Arc<Notify>,
    /// Lets every call of `wait` answer.
    pub release: Arc<Notify>,
    /// What the tools that ask were told, in order.
    answers: Mutex<Vec<FormAnswer>>,
    /// The arguments of each call that a person said yes to.
    submitted: Mutex<Vec<Value>>,
}

struct Waiting(Arc<AtomicUsize>, Arc<Notify>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
        self.1.notify_waiters();
    }
}

impl FakeHost {
    pub async fn until_waiting(&self, calls: usize) {
        let reached = async {
            loop {
                let changed = self.waiting_changed.notified();
                if self.waiting.load(Ordering::SeqCst) == calls {
                    return;
                }
                changed.await;
            }
        };
        timeout(DEADLINE, reached).await.expect("the number of waiting calls is reached");
    }

    pub fn given(&self) -> Vec<FormOutcome> {
        self.answers.lock().expect("no panic").iter().map(|answer| answer.given).collect()
    }

    pub fn bindings(&self) -> Vec<String> {
        self.answers.lock().expect("no panic").iter().map(|answer| answer.binding.clone()).collect()
    }

    pub fn submitted(&self) -> Vec<Value> {
        self.submitted.lock().expect("no panic").clone()
    }

    fn told(&self, arguments: Map<String, Value>, answer: FormAnswer) -> ToolAnswer {
        let given = answer.given;
        self.answers.lock().expect("no panic").push(answer);
        match given {
            FormOutcome::Confirmed => {
                self.submitted.lock().expect("no panic").push(Value::Object(arguments));
                ToolAnswer::Object(Map::from_iter([("decided".to_owned(), json!(true))]))
            }
            FormOutcome::NotConfirmed => ToolAnswer::Refused("Not confirmed."),
            FormOutcome::Declined => ToolAnswer::Refused("Declined."),
            FormOutcome::Cancelled => ToolAnswer::Refused("Cancelled."),
            FormOutcome::Unanswered => ToolAnswer::Refused("Unanswered."),
        }
    }
}

fn spec(name: &str, output_schema: Option<Value>) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        title: "A tool",
        description: format!("The tool {name}."),
        input_schema: json!({ "type": "object", "additionalProperties": false, "x-odd": [1, null] }),
        output_schema,
        annotations: Annotations { read_only: true, destructive: false, idempotent: true, open_world: false },
        meta: None,
    }
}

impl ToolHost for FakeHost {
    fn instructions(&self) -> String {
        "List, then run.".to_owned()
    }

    fn tools(&self, client: ClientTraits) -> Vec<ToolSpec> {
        let mut echo = spec("echo", Some(json!({ "type": "object", "required": ["b", "a"], "x-kept": {} })));
        echo.meta = Some(Map::from_iter([("deprecated".to_owned(), json!(true))]));
        let mut tools = vec![echo, spec("plain", None), spec("wait", None)];
        if client.form_elicitation {
            tools.push(spec("ask", None));
        }
        tools
    }

    fn call<'a>(&'a self, name: &'a str, arguments: Map<String, Value>, cx: CallContext) -> AnswerFuture<'a> {
        Box::pin(async move {
            match name {
                "ask" | "ask-too" => match cx.answer {
                    None => ToolAnswer::Ask(form(&arguments)),
                    Some(answer) => self.told(arguments, answer),
                },
                "ask-for-ever" => ToolAnswer::Ask(form(&arguments)),
                "ask-and-panic" => match cx.answer {
                    None => ToolAnswer::Ask(form(&arguments)),
                    Some(_) => panic!("a value that nobody may see"),
                },
                "echo" | "plain" => ToolAnswer::Object(arguments),
                "refuse" => ToolAnswer::Refused("No such thing today."),
                "panic" => panic!("a value that nobody may see"),
                "wait" => {
                    self.waiting.fetch_add(1, Ordering::SeqCst);
                    self.waiting_changed.notify_waiters();
                    let _waiting = Waiting(Arc::clone(&self.waiting), Arc::clone(&self.waiting_changed));
                    self.release.notified().await;
                    ToolAnswer::Object(arguments)
                }
                "never" => pending().await,
                "big" => {
                    let bytes = arguments.get("bytes").and_then(Value::as_u64).unwrap_or_default() as usize;
                    ToolAnswer::Object(Map::from_iter([("big".to_owned(), json!("x".repeat(bytes)))]))
                }
                _ => ToolAnswer::UnknownTool,
            }
        })
    }
}

fn form(arguments: &Map<String, Value>) -> Form {
    Form {
        message: "Stop this run for good?".to_owned(),
        field_title: "Yes, stop it",
        binding: format!("stop {}", arguments.get("item").unwrap_or(&Value::Null)),
    }
}

pub struct Client {
    pub host: Arc<FakeHost>,
    pub input: Option<Box<dyn AsyncWrite + Send + Unpin>>,
    pub output: Option<BufReader<Box<dyn AsyncRead + Send + Unpin>>>,
    pub shutdown: Option<oneshot::Sender<()>>,
    pub served: JoinHandle<Ended>,
}

impl Client {
    /// A connection that nothing was said on.
    pub fn connect() -> Self {
        Self::with_buffers(1024 * 1024)
    }

    pub fn with_buffers(size: usize) -> Self {
        let (input, reader) = tokio::io::duplex(size);
        let (writer, output) = tokio::io::duplex(size);
        Self::over(Wire::new(reader, writer), input, output)
    }

    pub fn over(
        wire: Wire,
        input: impl AsyncWrite + Send + Unpin + 'static,
        output: impl AsyncRead + Send + Unpin + 'static,
    ) -> Self {
        let host = Arc::new(FakeHost::default());
        let (shutdown, asked) = oneshot::channel();
        let asked = async {
            if asked.await.is_err() {
                pending::<()>().await;
            }
        };
        let served = tokio::spawn(serve(Arc::clone(&host), ServerFace::default(), wire, asked));
        let output: Box<dyn AsyncRead + Send + Unpin> = Box::new(output);
        Self {
            host,
            input: Some(Box::new(input)),
            output: Some(BufReader::new(output)),
            shutdown: Some(shutdown),
            served,
        }
    }

    /// After the handshake of a legacy version.
    pub async fn legacy(version: &str) -> Self {
        let mut client = Self::connect();
        client.initialize(version, json!({})).await;
        client
    }

    pub async fn initialize(&mut self, version: &str, capabilities: Value) -> Value {
        self.send(&initialize(version, capabilities)).await;
        let answer = self.receive().await;
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        answer
    }

    pub async fn send(&mut self, message: &Value) {
        self.send_raw(message.to_string().as_bytes()).await;
    }

    /// Adds the newline.
    pub async fn send_raw(&mut self, line: &[u8]) {
        let input = self.input.as_mut().expect("input is open");
        let sent = async {
            input.write_all(line).await.expect("input is read");
            input.write_all(b"\n").await.expect("input is read");
            input.flush().await.expect("input is read");
        };
        timeout(DEADLINE, sent).await.expect("the server reads on");
    }

    pub async fn receive(&mut self) -> Value {
        self.receive_or_end().await.expect("the output goes on")
    }

    /// The next line, or none at the end.
    pub async fn receive_or_end(&mut self) -> Option<Value> {
        let mut line = String::new();
        let output = self.output.as_mut().expect("output is open");
        let read = timeout(DEADLINE, output.read_line(&mut line)).await.expect("an answer in time");
        if read.expect("UTF-8") == 0 {
            return None;
        }
        Some(serde_json::from_str(&line).unwrap_or_else(|_| panic!("one line of JSON: {line}")))
    }

    pub async fn ask(&mut self, message: &Value) -> Value {
        self.send(message).await;
        self.receive().await
    }

    /// Everything before the answer to this ping has been answered, or never will be.
    pub async fn nothing_else_comes(&mut self) {
        let id = "nothing-else";
        assert_eq!(
            self.ask(&request(id, "ping", json!({}))).await,
            json!({ "jsonrpc": "2.0", "id": id, "result": {} })
        );
    }

    pub async fn error_of(&mut self, line: &[u8]) -> (Option<Value>, i64) {
        self.send_raw(line).await;
        let answer = self.receive().await;
        (answer.get("id").cloned(), answer["error"]["code"].as_i64().expect("an error"))
    }

    pub fn end_input(&mut self) {
        self.input = None;
    }

    /// How it ended, before a client would lose patience.
    pub async fn ended(self) -> Ended {
        timeout(PATIENCE, self.served).await.expect("gone in time").expect("no panic")
    }
}

pub fn request(id: impl Into<Value>, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })
}

pub fn call(id: impl Into<Value>, tool: &str, arguments: Value) -> Value {
    request(id, "tools/call", json!({ "name": tool, "arguments": arguments }))
}

pub fn initialize(version: &str, capabilities: Value) -> Value {
    let client = json!({ "name": "test", "version": "1" });
    request(
        "init",
        "initialize",
        json!({ "protocolVersion": version, "capabilities": capabilities, "clientInfo": client }),
    )
}

/// `params` with the `_meta` of 2026-07-28.
pub fn modern(mut params: Value, capabilities: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    });
    params
}

pub fn cancel(id: impl Into<Value>) -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id.into() } })
}
