//! MockMed as a child process of this server. It lives as long as its standard input is open, so it never outlives the server.

use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::Value;

use super::programs;

const LISTENS_WITHIN: Duration = Duration::from_secs(10);
const LONGEST_LINE: u64 = 4 << 10;

/// How the app is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppCommand {
    words: Vec<String>,
    port: u16,
}

/// A running app.
#[derive(Debug)]
pub struct App {
    child: Child,
    port: u16,
    /// Its end is the app's.
    _input: ChildStdin,
}

impl AppCommand {
    /// `None` where the program isn't there.
    pub fn find(named: Option<&[String]>, port: u16) -> Option<Self> {
        let words = match named {
            Some(words) => words.first().filter(|program| programs::is_there(program)).map(|_| words.to_vec())?,
            None => vec![programs::ours("mockmed")?.to_string_lossy().into_owned(), "serve".to_owned()],
        };
        Some(Self { words, port })
    }

    /// Starts the app and waits until it says where it listens. In a process group of its own: an interrupt at the terminal is the
    /// server's to handle.
    pub fn start(&self) -> io::Result<App> {
        let (program, arguments) =
            self.words.split_first().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        let mut child = Command::new(program)
            .args(arguments)
            .args(["--while-stdin-open", "--port", &self.port.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let listening = pipes.and_then(|(input, output)| {
            let line = first_line(output).recv_timeout(LISTENS_WITHIN).ok()?;
            Some((input, port_in(&line)?))
        });
        match listening {
            Some((input, port)) => Ok(App { child, port, _input: input }),
            None => {
                end(&mut child);
                Err(io::Error::other("the app didn't say where it listens"))
            }
        }
    }
}

impl App {
    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Ends an app that doesn't answer any more.
    pub fn end(&mut self) {
        end(&mut self.child);
    }
}

/// Always an address of this computer, whatever an app printed.
pub fn url_at(port: u16) -> String {
    format!("http://127.0.0.1:{port}/")
}

fn end(child: &mut Child) {
    // It may have ended by itself; either way it is waited for.
    let _ = child.kill();
    let _ = child.wait();
}

/// Reads on after the first line, so that the app never writes into a pipe that is closed.
fn first_line(output: ChildStdout) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut output = BufReader::new(output);
        let mut line = Vec::new();
        let read = output.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line);
        if read.is_ok_and(|length| length > 0) {
            let _ = sender.send(line);
        }
        drop(sender);
        let _ = io::copy(&mut output, &mut io::sink());
    });
    receiver
}

fn port_in(line: &[u8]) -> Option<u16> {
    let said: Value = serde_json::from_slice(line).ok()?;
    let port = said.get("port").filter(|_| said.get("event") == Some(&Value::from("listening")))?;
    port.as_u64().and_then(|port| u16::try_from(port).ok()).filter(|port| *port != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn app(script: &str) -> AppCommand {
        let words = ["sh", "-c", script, "app"].map(str::to_owned);
        AppCommand::find(Some(&words), 7).expect("there is a shell")
    }

    #[test]
    fn an_app_is_at_the_port_that_it_names_and_ends_with_its_input() {
        let mut app = app(r#"echo "{\"event\":\"listening\",\"port\":$3}"; cat"#).start().expect("it listens");
        assert_eq!(url_at(app.port()), "http://127.0.0.1:7/");
        assert!(!app.has_ended());
        let App { mut child, _input: input, .. } = app;
        drop(input);
        assert!(child.wait().expect("it is waited for").success());
    }

    #[test]
    fn an_app_that_says_nothing_or_something_else_is_no_app() {
        for script in ["exit 1", "echo hello; cat", r#"echo '{"event":"listening","port":0}'; cat"#, "cat >/dev/null"] {
            let script = script.replace("cat >/dev/null", "exec true");
            assert!(app(&script).start().is_err(), "{script}");
        }
    }

    #[test]
    fn a_program_that_is_not_there_is_found_out_before_anything_starts() {
        assert_eq!(AppCommand::find(Some(&["/no/such/app".to_owned()]), 0), None);
    }
}
