//! The made-up clinic as a process of one world: a second witness of what was saved, besides the stand-in's own journal.

use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

/// Ends with its world.
#[derive(Debug)]
pub struct Clinic {
    process: Child,
    pub url: String,
}

impl Clinic {
    /// Starts the program beside this one, and waits for the line that says where it listens.
    pub fn start(journal: &Path) -> io::Result<Self> {
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
        let clinic = Self { process, url };
        if clinic.url.is_empty() { Err(io::Error::other("mockmed didn't say where it listens")) } else { Ok(clinic) }
    }
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
