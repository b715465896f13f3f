//! `console` blocks: commands as a person types them, and what they print.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use super::cargo::{self, Cargo};
use super::expected;
use super::place::{Place, Room};

/// A command of a page takes seconds; cargo may have to build first.
const DEADLINE: Duration = Duration::from_secs(900);

/// One command of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub command: String,
    pub expected: Vec<String>,
    /// Below the opening fence, from 1.
    pub line: usize,
}

/// The commands of a block. Lines above the first command belong to nobody.
pub fn steps(block: &str) -> Result<Vec<Step>, (usize, String)> {
    let mut steps: Vec<Step> = Vec::new();
    let mut goes_on = false;
    for (index, line) in block.lines().enumerate() {
        match (line.strip_prefix("$ "), steps.last_mut()) {
            (None, Some(step)) if goes_on => {
                step.command.push('\n');
                step.command.push_str(line);
            }
            (Some(command), _) => {
                steps.push(Step { command: command.to_owned(), expected: Vec::new(), line: index + 1 });
            }
            (None, Some(step)) => step.expected.push(line.to_owned()),
            (None, None) => return Err((index + 1, "a console block begins with `$ `".to_owned())),
        }
        goes_on = line.ends_with('\\');
    }
    if steps.is_empty() { Err((0, "a console block without a command".to_owned())) } else { Ok(steps) }
}

/// One page's shell: what one block exports or changes to holds in the next.
#[derive(Debug)]
pub struct Shell<'a> {
    place: &'a Place,
    room: Room,
    before: String,
}

impl<'a> Shell<'a> {
    pub fn new(place: &'a Place) -> std::io::Result<Self> {
        Ok(Self { place, room: place.room()?, before: String::new() })
    }

    /// How many commands were run.
    pub fn run(&mut self, block: &str, serves: bool) -> Result<usize, (usize, String)> {
        let steps = steps(block)?;
        for (index, step) in steps.iter().enumerate() {
            let last = index + 1 == steps.len();
            self.step(step, serves && last).map_err(|problem| (step.line, format!("`{}` {problem}", step.command)))?;
        }
        Ok(steps.len())
    }

    fn step(&mut self, step: &Step, serves: bool) -> Result<(), String> {
        let text = with_a_free_port(&self.place.filled(&step.command));
        let command = match cargo::read(&text, self.place)? {
            Cargo::NotCargo => self.sh(&text),
            Cargo::Program(text) => self.sh(&text),
            Cargo::Real(words) => {
                let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
                command.args(words).current_dir(&self.place.root);
                command
            }
            Cargo::RunByCi => return Ok(()),
        };
        let printed = run(command, &step.expected, serves)?;
        if let Some(line) = expected::missing(&step.expected, &printed) {
            return Err(format!("should have printed {line}\nand printed:\n{printed}"));
        }
        if ["export ", "cd "].iter().any(|word| text.starts_with(word)) {
            self.before.push_str(&text);
            self.before.push('\n');
        }
        Ok(())
    }

    fn sh(&self, text: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-e", "-c", &format!("exec 2>&1\n{}{text}", self.before)]);
        command.env_clear().envs(self.place.environment(&self.room)).current_dir(self.room.here());
        command
    }
}

/// A page names a port that may be taken here.
fn with_a_free_port(text: &str) -> String {
    let Some((before, after)) = text.split_once("--port ") else { return text.to_owned() };
    format!("{before}--port 0{}", after.trim_start_matches(|digit: char| digit.is_ascii_digit()))
}

/// What the command printed. It has to end well, or, where it serves, to print what it should before it is ended.
fn run(mut command: Command, wanted: &[String], serves: bool) -> Result<String, String> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| format!("can't be started: {error}"))?;
    let (sender, lines) = channel();
    if let Some(stdout) = child.stdout.take() {
        std::thread::spawn(move || {
            BufReader::new(stdout).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
    }
    let complaints = child.stderr.take().map(|mut stderr| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = stderr.read_to_end(&mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        })
    });
    let until = Instant::now() + DEADLINE;
    let mut printed = String::new();
    loop {
        if serves && !wanted.is_empty() && expected::missing(wanted, &printed).is_none() {
            end(&mut child);
            return Ok(printed);
        }
        match lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(line) => {
                printed.push_str(&line);
                printed.push('\n');
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                end(&mut child);
                return Err("never ended".to_owned());
            }
        }
    }
    let status = child.wait().map_err(|error| error.to_string())?;
    let complaints = complaints.and_then(|reader| reader.join().ok()).unwrap_or_default();
    if status.success() { Ok(printed) } else { Err(format!("ended with {status}:\n{printed}{complaints}")) }
}

fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}
