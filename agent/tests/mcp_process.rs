//! The MCP adapter as a process: signals, standard streams in odd states, memory. Without arguments this program starts
//! itself as the server, once for each test.

#![cfg(unix)]
#![expect(clippy::expect_used, clippy::print_stdout, reason = "a test says what it expected, and its own name")]

use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use openadapt_agent::bridge::host::{
    Annotations, AnswerFuture, CallContext, ClientTraits, ToolAnswer, ToolHost, ToolSpec,
};
use openadapt_agent::mcp::{ServerFace, log, process};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Map, Value, json};
use tracing::level_filters::LevelFilter;

const DEADLINE: Duration = Duration::from_secs(10);
/// The end takes less than a second; a busy machine gets more, but less than the five seconds that rmcp alone takes.
const PATIENCE: Duration = Duration::from_secs(3);
const SECRET: &str = "value-that-nobody-may-see";

type Test = (&'static str, fn());

const TESTS: &[Test] = &[
    ("a_signal_ends_the_process_with_0", a_signal_ends_the_process_with_0),
    ("the_end_of_input_ends_the_process_with_0", the_end_of_input_ends_the_process_with_0),
    ("a_socketpair_serves_like_pipes", a_socketpair_serves_like_pipes),
    ("a_stderr_that_nobody_reads_stalls_nothing", a_stderr_that_nobody_reads_stalls_nothing),
    ("a_closed_stderr_harms_nothing", a_closed_stderr_harms_nothing),
    ("no_log_line_quotes_a_message_or_a_panic", no_log_line_quotes_a_message_or_a_panic),
    ("a_blocked_stdout_holds_neither_memory_nor_the_end", a_blocked_stdout_holds_neither_memory_nor_the_end),
];

fn main() {
    if std::env::var_os("MCP_TEST_SERVER").is_some() {
        return serve();
    }
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    for (name, test) in TESTS.iter().filter(|(name, _)| name.contains(&wanted)) {
        println!("test {name} ...");
        test();
    }
}

fn serve() {
    log::install(LevelFilter::TRACE);
    process::serve_stdio(ServerFace::default(), || Arc::new(Host)).expect("the standard streams can be set up");
    log::flush();
}

struct Host;

impl ToolHost for Host {
    fn instructions(&self) -> String {
        String::new()
    }

    fn tools(&self, _: ClientTraits) -> Vec<ToolSpec> {
        vec![ToolSpec {
            name: "big".to_owned(),
            title: "Big",
            description: String::new(),
            input_schema: json!({ "type": "object" }),
            output_schema: None,
            annotations: Annotations { read_only: true, destructive: false, idempotent: true, open_world: false },
            meta: None,
        }]
    }

    fn call<'a>(&'a self, name: &'a str, _: Map<String, Value>, _: CallContext) -> AnswerFuture<'a> {
        Box::pin(async move {
            match name {
                "big" => ToolAnswer::Object(Map::from_iter([("x".to_owned(), json!("x".repeat(20_000)))])),
                "noise" => {
                    for _ in 0..20_000 {
                        tracing::warn!("a line of a log that fills the pipe to standard error in no time at all");
                    }
                    ToolAnswer::Object(Map::new())
                }
                "panic" => panic!("{SECRET}"),
                "never" => std::future::pending().await,
                _ => ToolAnswer::UnknownTool,
            }
        })
    }
}

struct Server {
    child: Child,
    input: Option<Box<dyn Write>>,
    lines: Receiver<String>,
}

impl Server {
    fn start(stderr: Stdio) -> Self {
        let mut child = command(stderr).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a process");
        let (input, output) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
        Self { child, input: Some(Box::new(input)), lines: read_lines(output) }
    }

    fn initialized(stderr: Stdio) -> Self {
        let mut server = Self::start(stderr);
        server.initialize();
        server
    }

    fn initialize(&mut self) {
        let client = json!({ "name": "test", "version": "1" });
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        assert_eq!(self.ask(&request(0, "initialize", params))["result"]["protocolVersion"], "2025-11-25");
    }

    fn send(&mut self, line: &str) {
        let input = self.input.as_mut().expect("input is open");
        input.write_all(format!("{line}\n").as_bytes()).expect("the server reads");
    }

    fn ask(&mut self, message: &Value) -> Value {
        self.send(&message.to_string());
        let line = self.lines.recv_timeout(DEADLINE).expect("an answer in time");
        serde_json::from_str(&line).expect("one line of JSON")
    }

    fn end_in_time(mut self) -> ExitStatus {
        let pid = self.pid();
        let (done, ended) = channel();
        let waiting = thread::spawn(move || {
            let status = self.child.wait().expect("a status");
            // The test has failed already if nobody listens.
            let _ = done.send(());
            status
        });
        let in_time = ended.recv_timeout(PATIENCE).is_ok();
        if !in_time {
            kill_process(pid, Signal::KILL).expect("it is still there");
        }
        let status = waiting.join().expect("a status");
        assert!(in_time, "still alive");
        status
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }
}

fn command(stderr: Stdio) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("a path"));
    command.env("MCP_TEST_SERVER", "1").stderr(stderr);
    command
}

fn read_lines(output: impl Read + Send + 'static) -> Receiver<String> {
    let (lines, received) = channel();
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if lines.send(line).is_err() {
                return;
            }
        }
    });
    received
}

fn request(id: u64, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

fn call(id: u64, tool: &str) -> Value {
    request(id, "tools/call", json!({ "name": tool }))
}

fn a_signal_ends_the_process_with_0() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let mut server = Server::initialized(Stdio::null());
        server.send(&call(1, "never").to_string());
        server.ask(&request(2, "ping", json!({})));
        kill_process(server.pid(), signal).expect("it is there");
        assert_eq!(server.end_in_time().code(), Some(0));
    }
}

fn the_end_of_input_ends_the_process_with_0() {
    let mut server = Server::initialized(Stdio::null());
    server.send(&call(1, "never").to_string());
    server.input = None;
    assert_eq!(server.end_in_time().code(), Some(0));
}

/// One socketpair for each stream, and one for both.
fn a_socketpair_serves_like_pipes() {
    for shared in [false, true] {
        let (near_in, far_in) = UnixStream::pair().expect("a socketpair");
        let (near_out, far_out) = UnixStream::pair().expect("a socketpair");
        let (output, far_out) = if shared {
            (near_in.try_clone().expect("a clone"), OwnedFd::from(far_in.try_clone().expect("a clone")))
        } else {
            (near_out, OwnedFd::from(far_out))
        };
        let child = command(Stdio::null()).stdin(OwnedFd::from(far_in)).stdout(far_out).spawn().expect("a process");
        let shutdown = near_in.try_clone().expect("a clone");
        let mut server = Server { child, input: Some(Box::new(near_in)), lines: read_lines(output) };
        server.initialize();
        assert_eq!(server.ask(&request(1, "ping", json!({})))["id"], 1);
        shutdown.shutdown(std::net::Shutdown::Write).expect("it is open");
        assert_eq!(server.end_in_time().code(), Some(0));
    }
}

fn a_stderr_that_nobody_reads_stalls_nothing() {
    let mut server = Server::initialized(Stdio::piped());
    assert!(server.ask(&call(1, "noise"))["result"].is_object());
    assert_eq!(server.ask(&request(2, "ping", json!({})))["id"], 2);
    server.input = None;
    assert_eq!(server.end_in_time().code(), Some(0));
}

fn a_closed_stderr_harms_nothing() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut server = Server::initialized(writer.into());
    assert!(server.ask(&call(1, "noise"))["result"].is_object());
    assert_eq!(server.ask(&call(2, "panic"))["result"]["isError"], true);
    server.input = None;
    assert_eq!(server.end_in_time().code(), Some(0));
}

fn no_log_line_quotes_a_message_or_a_panic() {
    let mut server = Server::initialized(Stdio::piped());
    for method in [SECRET, "tools/call", "tools/list", "initialize"] {
        server.ask(&request(1, method, json!({ "cursor": SECRET, "name": SECRET, "arguments": { SECRET: SECRET } })));
    }
    server.ask(&json!({ "jsonrpc": SECRET, "id": 1, "method": SECRET }));
    server.send(&json!({ "jsonrpc": "2.0", "method": SECRET, "params": { SECRET: SECRET } }).to_string());
    server.send(&json!({ "jsonrpc": "2.0", "id": 5, "result": { "action": SECRET } }).to_string());
    server.send(&format!(r#"{{"jsonrpc":"2.0","id":"{SECRET}","method":"{SECRET}",NaN}}"#));
    server.ask(&call(1, "panic"));
    server.input = None;
    let mut logged = String::new();
    server.child.stderr.take().expect("a pipe").read_to_string(&mut logged).expect("UTF-8");
    assert!(logged.contains("internal fault"), "the panic is logged: {logged}");
    assert!(!logged.contains(SECRET), "{logged}");
    assert_eq!(server.end_in_time().code(), Some(0));
}

fn a_blocked_stdout_holds_neither_memory_nor_the_end() {
    let (unread, output) = std::io::pipe().expect("a pipe");
    let mut child = command(Stdio::null()).stdin(Stdio::piped()).stdout(output).spawn().expect("a process");
    let mut input = child.stdin.take().expect("a pipe");
    let (progress, written) = channel();
    thread::spawn(move || {
        for id in 0..100_000 {
            if input.write_all(format!("{}\n", call(id, "big")).as_bytes()).is_err() || progress.send(id).is_err() {
                return;
            }
        }
    });
    let mut taken = 0;
    while let Ok(id) = written.recv_timeout(Duration::from_millis(500)) {
        taken = id;
    }
    assert!(taken < 99_999, "the server stopped reading");
    #[cfg(target_os = "linux")]
    {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).expect("its status");
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("its peak");
        let peak: u64 = peak.trim().trim_end_matches(" kB").parse().expect("a number of kB");
        assert!(peak < 40_000, "{peak} kB at most");
    }
    kill_process(Pid::from_child(&child), Signal::TERM).expect("it is there");
    let server = Server { child, input: None, lines: read_lines(std::io::empty()) };
    assert_eq!(server.end_in_time().code(), Some(0));
    drop(unread);
}
