//! The mailbox of a hosted chat app, as a scenario scripts it: a server on this computer that answers four calls, rightly or wrongly, and
//! writes each down in the journal.

use std::fs::OpenOptions;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use crate::scenario::mailbox::{MailboxAnswer, MailboxFault};

/// More than any answer may be that is read.
const HUGE: usize = 300 << 10;

/// Ends with its world.
#[derive(Debug)]
pub struct Mailbox {
    pub origin: String,
    address: std::net::SocketAddr,
    ends: Arc<AtomicBool>,
}

struct Desk {
    answers: Mutex<Vec<MailboxAnswer>>,
    journal: PathBuf,
    lease: String,
    ends: Arc<AtomicBool>,
}

/// One request, as far as it matters.
struct Asked {
    line: String,
    bearer: Option<String>,
    body: Value,
}

impl Mailbox {
    pub fn start(answers: Vec<MailboxAnswer>, journal: &Path) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let ends = Arc::new(AtomicBool::new(false));
        let hex = || uuid::Uuid::new_v4().simple().to_string();
        let desk = Arc::new(Desk {
            answers: Mutex::new(answers),
            journal: journal.to_owned(),
            lease: format!("oals_{}{}", hex(), hex()),
            ends: Arc::clone(&ends),
        });
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if desk.ends.load(Ordering::SeqCst) {
                    break;
                }
                let desk = Arc::clone(&desk);
                // A client that goes away in the middle of an answer is its own business.
                std::thread::spawn(move || stream.and_then(|stream| desk.serve(stream)));
            }
        });
        Ok(Self { origin: format!("http://{address}"), address, ends })
    }
}

impl Drop for Mailbox {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::SeqCst);
        let _woken = TcpStream::connect(self.address);
    }
}

impl Desk {
    fn serve(&self, mut stream: TcpStream) -> io::Result<()> {
        let asked = read(&stream)?;
        if asked.line.is_empty() {
            // Nobody asked: a client that went away, or the world's own end.
            return Ok(());
        }
        let call = asked.line.split(' ').nth(1).and_then(|path| path.rsplit('/').next()).unwrap_or_default().to_owned();
        let answer = self.next(&call);
        let authorized = asked.bearer.as_deref() == Some(&*format!("Bearer {}", self.lease));
        let status = answer.status.unwrap_or_else(|| usual_status(&call, &answer));
        let body = self.body(&call, &answer, status);
        self.note(&call, &asked, (authorized, status, &answer))?;
        match answer.fault {
            Some(MailboxFault::HangUp) => return Ok(()),
            // Held open until the client gives up.
            Some(MailboxFault::Silent) => return stream.read(&mut [0; 16]).map(|_| ()),
            _ => {}
        }
        let mut head = format!("HTTP/1.1 {status} -\r\nConnection: close\r\n");
        if !answer.kept {
            head.push_str("Cache-Control: no-store\r\n");
        }
        if let Some(location) = &answer.location {
            head.push_str(&format!("Location: {location}\r\n"));
        }
        if status != 204 {
            head.push_str(&format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len()));
        }
        stream.write_all(format!("{head}\r\n").as_bytes())?;
        let sent = if answer.fault == Some(MailboxFault::Half) { &body[..body.len() / 2] } else { &body[..] };
        stream.write_all(sent.as_bytes())?;
        stream.flush()
    }

    /// The next answer that is written down for this call.
    fn next(&self, call: &str) -> MailboxAnswer {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        match answers.iter().position(|answer| answer.to == call) {
            Some(position) => answers.remove(position),
            None => MailboxAnswer { to: call.to_owned(), ..MailboxAnswer::default() },
        }
    }

    fn body(&self, call: &str, answer: &MailboxAnswer, status: u16) -> String {
        if answer.fault == Some(MailboxFault::Huge) {
            return json!({ "filling": "x".repeat(HUGE) }).to_string();
        }
        match (&answer.text, &answer.body) {
            (Some(text), _) => text.clone(),
            (None, Some(body)) => body.to_string(),
            (None, None) if call == "claim" && status == 201 => {
                json!({ "leaseSecret": self.lease, "lease_s": 900 }).to_string()
            }
            (None, None) => "{}".to_owned(),
        }
    }

    fn note(
        &self,
        call: &str,
        asked: &Asked,
        (authorized, status, answer): (bool, u16, &MailboxAnswer),
    ) -> io::Result<()> {
        let mut body = asked.body.clone();
        if let Some(bind) = body.get_mut("bind") {
            *bind = "…".into();
        }
        let me = std::process::id();
        let line = json!({
            "at": "0000-00-00T00:00:00.000000Z", "event": "mailbox", "name": call, "pid": me, "ppid": null, "pgid": me, "sid": me, "bundle": "", "launch": 1,
            "run_dir": null, "asked": asked.line, "authorized": authorized, "anonymous": asked.bearer.is_none(), "sent": body, "answered": status,
            "handed": if call == "poll" { answer.body.clone() } else { None },
        });
        let mut journal = OpenOptions::new().append(true).create(true).open(&self.journal)?;
        journal.write_all(format!("{line}\n").as_bytes())
    }
}

fn usual_status(call: &str, answer: &MailboxAnswer) -> u16 {
    match call {
        "claim" => 201,
        "poll" if answer.body.is_none() && answer.text.is_none() && answer.fault.is_none() => 204,
        _ => 200,
    }
}

fn read(stream: &TcpStream) -> io::Result<Asked> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let (mut length, mut bearer) = (0, None);
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        let Some((name, value)) = header.trim_end().split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().unwrap_or(0),
            "authorization" => bearer = Some(value.to_owned()),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Asked { line: line.trim_end().to_owned(), bearer, body: serde_json::from_slice(&body).unwrap_or_default() })
}
