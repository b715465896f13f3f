//! The program at a real terminal: what `serve` says to a person who started it by hand, and where colours are.

#![cfg(unix)]
#![expect(clippy::expect_used, reason = "a test says what it expected")]

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

const DEADLINE: Duration = Duration::from_secs(20);

/// A command line that is refused.
const REFUSED: [&str; 3] = ["serve", "--bundles", "/no/such/folder"];

/// A terminal: the side that a person sits at, and the side that a program gets.
fn terminal() -> (OwnedFd, OwnedFd) {
    let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal is made");
    grantpt(&person).and_then(|()| unlockpt(&person)).expect("the terminal is ours");
    let name = ptsname(&person, Vec::new()).expect("the terminal has a name");
    let program = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).expect("the terminal opens");
    (person, program)
}

/// Everything that shows on the terminal, bit by bit.
fn shown(person: OwnedFd) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut screen = File::from(person);
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = screen.read(&mut bytes) {
            if sender.send(String::from_utf8_lossy(&bytes[..count]).into_owned()).is_err() {
                return;
            }
        }
    });
    receiver
}

fn until(screen: &Receiver<String>, words: &str) -> String {
    let mut text = String::new();
    while !text.contains(words) {
        text.push_str(&screen.recv_timeout(DEADLINE).unwrap_or_else(|_| panic!("{words:?} never showed in {text:?}")));
    }
    text
}

fn agent(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_openadapt-agent"));
    command.args(words).env_clear().env("TERM", "xterm");
    command
}

/// stderr and stdout of a call whose two streams are a terminal.
fn at_a_terminal(words: &[&str], variable: Option<(&str, &str)>) -> (ExitStatus, String) {
    let (person, program) = terminal();
    let screen = shown(person);
    let stream = || Stdio::from(program.try_clone().expect("the terminal is named twice"));
    let mut command = agent(words);
    command.stdin(Stdio::null()).stdout(stream()).stderr(stream()).envs(variable);
    let mut child = command.spawn().expect("the program starts");
    drop((command, program));
    let status = child.wait().expect("the program ends");
    (status, screen.iter().collect())
}

#[test]
fn serve_at_a_terminal_says_that_it_waits_for_a_client_and_how_to_name_it_to_one() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let named = folder.path().to_str().expect("a path in UTF-8");
    let (person, program) = terminal();
    let mut typed = File::from(person.try_clone().expect("the terminal is named twice"));
    let screen = shown(person);
    let stream = || Stdio::from(program.try_clone().expect("the terminal is named twice"));
    let mut command = agent(&["serve", "--bundles", named, "--runs-dir", named]);
    command.stdin(stream()).stdout(Stdio::null()).stderr(stream());
    let mut child = command.spawn().expect("the server starts");
    drop((command, program));
    let said = until(&screen, "hint: ");
    assert!(said.contains("waits for a client"), "{said}");
    assert!(!said.contains(named), "what was typed isn't repeated: {said}");
    let (_, block) = said.split_once("\r\n\r\n  {").expect("there is something to copy");
    let (block, _) = block.split_once("\r\n\r\n").expect("it ends");
    let config: serde_json::Value = serde_json::from_str(&format!("{{{block}")).expect("it is JSON");
    assert_eq!(config["mcpServers"]["openadapt"]["args"][0], "serve");
    std::io::Write::write_all(&mut typed, b"\x04").expect("Ctrl-D is typed");
    assert!(child.wait().expect("the server ends").success());
}

#[test]
fn a_server_that_a_client_starts_says_nothing_of_that() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let named = folder.path().to_str().expect("a path in UTF-8");
    let output = agent(&["serve", "--bundles", named, "--runs-dir", named]).stdin(Stdio::null()).output();
    let said = String::from_utf8(output.expect("the server runs").stderr).expect("text");
    assert!(said.contains("only lists") && !said.contains("waits"), "{said}");
}

#[test]
fn colours_are_on_a_terminal_and_nowhere_else() {
    let coloured = |words: &[&str], variable| {
        let (status, said) = at_a_terminal(words, variable);
        assert!(!said.is_empty());
        (status.success(), said.contains('\u{1b}'))
    };
    assert_eq!(coloured(&["--help"], None), (true, true));
    assert_eq!(coloured(&REFUSED, None), (false, true));
    for unwanted in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        assert_eq!(coloured(&["--help"], Some(unwanted)), (true, false), "{unwanted:?}");
        assert_eq!(coloured(&REFUSED, Some(unwanted)), (false, false), "{unwanted:?}");
    }
    assert_eq!(coloured(&REFUSED, Some(("NO_COLOR", ""))), (false, true), "an empty NO_COLOR says nothing");
    let piped = agent(&["--help"]).output().expect("the program runs").stdout;
    assert!(!piped.is_empty() && !piped.contains(&0x1b));
}
