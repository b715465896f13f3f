//! A child that answers each line with one line, spoken to without anything that would take time itself.

use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{self, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use super::world::World;

pub struct Child {
    process: process::Child,
    /// Nothing once it was closed.
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    next_id: u64,
}

impl Child {
    pub fn start(command: &[String], world: &World) -> io::Result<Self> {
        Self::start_with(command, &world.environment())
    }

    pub fn start_with(command: &[String], environment: &[(&'static str, PathBuf)]) -> io::Result<Self> {
        let (program, arguments) = command.split_first().ok_or_else(|| io::Error::other("no command"))?;
        let mut process = Command::new(program)
            .args(arguments)
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let gone = || io::Error::other("the child has no pipes");
        let (stdin, stdout) = (process.stdin.take().ok_or_else(gone)?, process.stdout.take().ok_or_else(gone)?);
        Ok(Self { process, stdin: Some(stdin), stdout: BufReader::new(stdout), next_id: 0 })
    }

    pub fn greet(&mut self) -> io::Result<()> {
        let client = json!({"name": "bench", "version": "1"});
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        self.ask("initialize", params)?;
        self.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
    }

    /// The answer, whatever it is.
    pub fn ask(&mut self, method: &str, params: Value) -> io::Result<Value> {
        self.next_id += 1;
        self.write(&json!({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params}))?;
        let mut line = String::new();
        match self.stdout.read_line(&mut line)? {
            0 => Err(io::Error::other("the child ended before it answered")),
            _ => Ok(serde_json::from_str(&line)?),
        }
    }

    /// The result object of a tool.
    pub fn call(&mut self, tool: &str, arguments: Value) -> io::Result<Value> {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments}))?;
        let result = answer.pointer("/result/structuredContent").cloned();
        result.ok_or_else(|| io::Error::other(format!("{tool} was not answered with a result: {answer}")))
    }

    /// The results of several calls that were all sent before any was answered; in the order of the answers.
    pub fn call_all(&mut self, tool: &str, calls: Vec<Value>) -> io::Result<Vec<Value>> {
        let count = calls.len();
        for arguments in calls {
            self.next_id += 1;
            let params = json!({"name": tool, "arguments": arguments});
            self.write(&json!({"jsonrpc": "2.0", "id": self.next_id, "method": "tools/call", "params": params}))?;
        }
        let read = |_| {
            let mut line = String::new();
            self.stdout.read_line(&mut line)?;
            let answer: Value = serde_json::from_str(&line)?;
            let result = answer.pointer("/result/structuredContent").cloned();
            result.ok_or_else(|| io::Error::other(format!("{tool} was not answered with a result: {answer}")))
        };
        (0..count).map(read).collect()
    }

    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    pub fn resident_kilobytes(&self) -> io::Result<u64> {
        resident_kilobytes(self.process.id())
    }

    /// Closes its input, and waits for it to end by itself.
    pub fn end(mut self) -> io::Result<()> {
        self.stdin = None;
        match self.process.wait()?.success() {
            true => Ok(()),
            false => Err(io::Error::other("the server didn't end in an orderly way")),
        }
    }

    fn write(&mut self, message: &Value) -> io::Result<()> {
        let closed = || io::Error::from(io::ErrorKind::BrokenPipe);
        self.stdin.as_mut().ok_or_else(closed)?.write_all(format!("{message}\n").as_bytes())
    }
}

pub fn resident_kilobytes(pid: u32) -> io::Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|text| text.split_whitespace().next()?.parse().ok())
        .ok_or_else(|| io::Error::other("this system doesn't tell a process's memory"))
}

impl Drop for Child {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
