//! The program: its address line, its ends, its sentences.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::desk::{encounter, read_journal};
use crate::wire;

struct Program {
    child: Child,
    stdin: Option<ChildStdin>,
    line: Value,
}

impl Program {
    fn serve(arguments: &[&str]) -> Self {
        let mut child = command(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let stdin = child.stdin.take();
        Self { child, stdin, line: serde_json::from_str(&line).unwrap() }
    }

    fn address(&self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], self.line["port"].as_u64().unwrap().try_into().unwrap()))
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    fn end(&mut self) -> ExitStatus {
        let status = self.child.wait().unwrap();
        let mut rest = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "", "more than the address line was printed");
        status
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mockmed"));
    command.arg("serve").args(arguments);
    command
}

fn refused(arguments: &[&str]) -> (Option<i32>, String) {
    let Output { status, stderr, stdout } = command(arguments).stdin(Stdio::null()).output().unwrap();
    assert!(stdout.is_empty());
    (status.code(), String::from_utf8(stderr).unwrap())
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn it_prints_its_address_as_one_json_line_and_answers_there() {
    let program = Program::serve(&["--port", "0"]);
    assert_eq!(program.line["event"], "listening");
    assert_eq!(program.line["pid"], program.child.id());
    assert_eq!(program.line["url"], format!("http://{}/", program.address()));
    assert_eq!(wire::get(program.address(), "/").status, 200);
}

#[test]
fn sigterm_and_sigint_end_it_with_0_and_a_complete_journal() {
    for signal in [Signal::TERM, Signal::INT] {
        let folder = tempfile::tempdir().unwrap();
        let journal = folder.path().join("journal.jsonl");
        let mut program = Program::serve(&["--journal", text(&journal)]);
        wire::post(program.address(), "/api/encounter", &encounter("x", None).to_string());
        program.signal(signal);
        assert_eq!(program.end().code(), Some(0));
        assert_eq!(read_journal(&journal).last().unwrap()["event"], "stopped");
        assert!(wire::open(program.address()).is_err());
    }
}

#[test]
fn an_idle_connection_does_not_hold_up_the_end() {
    let mut program = Program::serve(&[]);
    let _idle = wire::open(program.address()).unwrap();
    assert_eq!(wire::get(program.address(), "/api/db").status, 200);
    program.signal(Signal::TERM);
    assert_eq!(program.end().code(), Some(0));
}

#[test]
fn a_killed_program_has_noted_every_write_that_it_answered() {
    let folder = tempfile::tempdir().unwrap();
    let (journal, db) = (folder.path().join("journal.jsonl"), folder.path().join("clinic.sqlite"));
    let arguments = ["--journal", text(&journal), "--db", text(&db)];
    let mut program = Program::serve(&arguments);
    for turn in 0..5 {
        wire::post(program.address(), "/api/encounter", &encounter(&format!("{turn}"), None).to_string());
    }
    program.signal(Signal::KILL);
    assert_eq!(program.end().code(), None);
    let told =
        read_journal(&journal).into_iter().filter(|line| line["event"] == "told" && line["status"] == 200).count();
    assert_eq!(told, 5);
    let again = Program::serve(&arguments);
    assert_eq!(wire::get(again.address(), "/api/db").json()["records"].as_array().unwrap().len(), 5);
}

#[test]
fn with_while_stdin_open_the_end_of_stdin_ends_it() {
    let mut program = Program::serve(&["--while-stdin-open"]);
    assert_eq!(wire::get(program.address(), "/api/db").status, 200);
    program.stdin = None;
    assert_eq!(program.end().code(), Some(0));
}

#[test]
fn without_it_stdin_may_end() {
    let mut program = Program::serve(&[]);
    program.stdin = None;
    assert_eq!(wire::get(program.address(), "/api/db").status, 200);
    program.signal(Signal::TERM);
    assert_eq!(program.end().code(), Some(0));
}

#[test]
fn a_taken_port_is_a_sentence_and_a_hint() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let (code, stderr) = refused(&["--port", &port]);
    assert_eq!(code, Some(1));
    assert!(stderr.starts_with(&format!("serve: port {port} on 127.0.0.1 can't be used: ")), "{stderr}");
    assert!(stderr.ends_with("\n\nhint: leave --port out, and a free one is taken\n"), "{stderr}");
}

#[test]
fn a_journal_in_no_folder_is_a_sentence_and_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    let (code, stderr) = refused(&["--journal", text(&folder.path().join("missing/j.jsonl"))]);
    assert_eq!(code, Some(1));
    assert!(stderr.contains("can't be opened: "), "{stderr}");
    assert!(stderr.contains("\n\nhint: name a file in a folder that exists"), "{stderr}");
}

#[test]
fn a_wrong_command_line_ends_with_2() {
    assert_eq!(refused(&["--port", "many"]).0, Some(2));
    assert_eq!(refused(&["--prot", "1"]).0, Some(2));
    let none = Command::new(env!("CARGO_BIN_EXE_mockmed")).output().unwrap();
    assert_eq!(none.status.code(), Some(2));
}

#[test]
fn help_tells_the_exit_codes() {
    let help = command(&["--help"]).output().unwrap();
    assert_eq!(help.status.code(), Some(0));
    assert!(String::from_utf8(help.stdout).unwrap().contains("Exit codes: 0 stopped as asked, 1 "));
}
