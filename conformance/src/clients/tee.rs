//! Stands between a client and the server that it starts, and writes down every line both ways.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::json;

/// What to start, and where to write.
#[derive(Debug, Clone)]
pub struct Tee {
    pub log: PathBuf,
    /// Made when the server first tells of progress: a run that is held is let go then.
    pub release: PathBuf,
    pub env: Vec<(String, String)>,
    pub command: Vec<String>,
}

impl Tee {
    /// Passes everything on until the server ends; true when it ended well.
    pub fn run(&self) -> io::Result<bool> {
        let (program, words) = self.command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut child = Command::new(program)
            .args(words)
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let missing = || io::Error::other("a pipe is missing");
        let (input, output) = (child.stdin.take().ok_or_else(missing)?, child.stdout.take().ok_or_else(missing)?);
        let log = Arc::new(Mutex::new(OpenOptions::new().create(true).append(true).open(&self.log)?));
        let (inward, server) = (log.clone(), child.id());
        // It may wait for the client for ever: the end of this process ends it.
        std::thread::spawn(move || pass(io::stdin().lock(), input, |line| note(&inward, server, "sent", line)));
        let release = self.release.clone();
        pass(BufReader::new(output), io::stdout().lock(), |line| {
            note(&log, server, "received", line)?;
            if line.windows(PROGRESS.len()).any(|part| part == PROGRESS) {
                File::create(&release)?;
            }
            Ok(())
        })?;
        Ok(child.wait()?.success())
    }
}

const PROGRESS: &[u8] = b"notifications/progress";

/// Line by line, each written down before it is passed on.
fn pass(from: impl BufRead, mut to: impl Write, mut noted: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let mut from = from;
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line)? > 0 {
        noted(&line)?;
        if to.write_all(&line).and_then(|()| to.flush()).is_err() {
            // The other side reads no more; what still comes is written down all the same.
            to.flush().unwrap_or_default();
        }
        line.clear();
    }
    Ok(())
}

fn note(log: &Mutex<File>, server: u32, way: &str, line: &[u8]) -> io::Result<()> {
    let text = String::from_utf8_lossy(line);
    let entry = json!({
        "server": format!("s{server}"), "way": way, "text": text.trim_end_matches('\n'), "ended": line.ends_with(b"\n"),
        "utf8": std::str::from_utf8(line).is_ok(),
    });
    let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
    log.write_all(format!("{entry}\n").as_bytes())
}
