//! The made-up clinic as a process of one world: a second witness of what was saved, besides the stand-in's own journal.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::evidence::ClinicSeen;

const PATIENCE: Duration = Duration::from_secs(5);

/// Ends with its world.
#[derive(Debug)]
pub struct Clinic {
    process: Child,
    pub url: String,
    journal: PathBuf,
}

impl Clinic {
    /// Starts the program beside this one, and waits for the line that says where it listens.
    pub fn start(journal: &Path, seeded: bool) -> io::Result<Self> {
        let mut process = Command::new(program()?)
            .args(["serve", "--port", "0", "--while-stdin-open", "--journal"])
            .arg(journal)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut line = String::new();
        if let Some(stdout) = process.stdout.take() {
            BufReader::new(stdout).read_line(&mut line)?;
        }
        let said: Value = serde_json::from_str(&line).unwrap_or_default();
        let url = said.get("url").and_then(Value::as_str).unwrap_or_default().trim_end_matches('/').to_owned();
        let clinic = Self { process, url, journal: journal.to_owned() };
        if clinic.url.is_empty() {
            return Err(io::Error::other("mockmed didn't say where it listens"));
        }
        if seeded {
            ask(&clinic.url, "POST", "/api/reset", r#"{"seed_concurrent":true}"#)?;
        }
        Ok(clinic)
    }

    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// What it holds once it was emptied.
    pub fn emptied(&self) -> Option<ClinicSeen> {
        ask(&self.url, "POST", "/api/reset", "").ok().and_then(|_| self.seen())
    }

    /// What it holds now; none when it doesn't answer any more.
    pub fn seen(&self) -> Option<ClinicSeen> {
        look(&self.url, &self.journal).ok()
    }
}

/// What a clinic's store and its write journal hold.
fn look(url: &str, journal: &Path) -> io::Result<ClinicSeen> {
    let store = ask(url, "GET", "/api/db", "")?;
    let journal = std::fs::read_to_string(journal)?;
    Ok(ClinicSeen {
        records: store.get("records").and_then(Value::as_array).cloned().unwrap_or_default(),
        rejected: store.get("rejected_writes").and_then(Value::as_u64).unwrap_or_default(),
        journal: journal.lines().map(serde_json::from_str).collect::<Result<_, _>>()?,
    })
}

/// What a clinic that has ended wrote down; its store is what that leads to.
pub fn of_journal(journal: &Path) -> Option<ClinicSeen> {
    let text = std::fs::read_to_string(journal).ok()?;
    let journal = text.lines().map(serde_json::from_str).collect::<Result<Vec<Value>, _>>().ok()?;
    let records = crate::check::clinic::replayed(&journal)?;
    Some(ClinicSeen { records, rejected: 0, journal })
}

fn ask(url: &str, method: &str, path: &str, body: &str) -> io::Result<Value> {
    let host = url.trim_start_matches("http://");
    let mut stream = TcpStream::connect(host)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let length = body.len();
    let head = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\nConnection: close\r\n");
    stream.write_all(format!("{head}\r\n{body}").as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(serde_json::from_str(answer.split_once("\r\n\r\n").map_or("", |(_, body)| body))?)
}

/// The program beside this one.
pub fn program() -> io::Result<PathBuf> {
    Ok(std::env::current_exe()?.with_file_name(format!("mockmed{}", std::env::consts::EXE_SUFFIX)))
}

impl Drop for Clinic {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
