//! The plainest MCP client: asks one thing after the other over a program's standard streams.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

const DEADLINE: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub struct Client {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    next_id: u64,
}

impl Client {
    /// Starts the program and greets it.
    pub fn greet(mut command: Command) -> Result<Self, String> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| format!("the server can't be started: {error}"))?;
        let (sender, lines) = channel();
        if let Some(stdout) = child.stdout.take() {
            std::thread::spawn(move || {
                BufReader::new(stdout).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
            });
        }
        let mut client = Self { input: child.stdin.take(), child, lines, next_id: 0 };
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "docs", "version": "1" } });
        client.ask("initialize", &hello)?;
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(client)
    }

    pub fn ask(&mut self, method: &str, params: &Value) -> Result<Value, String> {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        loop {
            let line = self.lines.recv_timeout(DEADLINE).map_err(|_| format!("{method} wasn't answered"))?;
            let frame: Value = serde_json::from_str(&line).map_err(|_| format!("{line:?} isn't a frame"))?;
            if frame.get("id") == Some(&id.into()) {
                return frame.get("result").cloned().ok_or_else(|| format!("{method} was answered with {line}"));
            }
        }
    }

    /// The structured result of a tool.
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value, String> {
        let answer = self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }))?;
        answer.get("structuredContent").cloned().ok_or_else(|| format!("{tool} answered {answer}"))
    }

    /// Closes the server's input, and waits for its end.
    pub fn leave(mut self) -> Result<(), String> {
        drop(self.input.take());
        let status = self.child.wait().map_err(|error| error.to_string())?;
        if status.success() { Ok(()) } else { Err(format!("the server ended with {status}")) }
    }

    fn send(&mut self, frame: &Value) -> Result<(), String> {
        let input = self.input.as_mut().ok_or("the server's input is closed")?;
        writeln!(input, "{frame}").and_then(|()| input.flush()).map_err(|error| format!("the server is gone: {error}"))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
