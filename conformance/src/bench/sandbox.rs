//! The sandbox's figures and its endurance: many runs in a row and many at once, simulated, and driven where this machine can.

use std::fs;
use std::io;

use serde_json::{Value, json};

use super::child::Child;
use super::done;
use super::figures::{Figure, Table, measured};
use super::world::World;
use crate::evidence::JournalLine;
use crate::run::process;

/// Memory is looked at after these, too: what a server takes once is no growth.
const FIRST_RUNS: usize = 20;
const AT_ONCE: usize = 20;
/// Between two looks at the processes that are there.
const STRETCH: usize = 20;

pub fn measure(world: &World, table: &mut Table, sync: &Figure, runs: usize, say: impl Fn(&str)) -> io::Result<()> {
    say(&format!("{runs} simulated sandbox runs in a row"));
    let simulated = Server::start(world, "simulated")?.in_a_row(runs, table, &say)?;
    table.row("run_workflow in the simulated sandbox", &simulated, sync);
    if engine_of(world)? == "driven" {
        say(&format!("{runs} driven sandbox runs in a row, then {AT_ONCE} calls at once"));
        let mut server = Server::start(world, "driven")?;
        let driven = server.in_a_row(runs, table, &say)?;
        table.row("run_workflow in the driven sandbox", &driven, &simulated);
        server.at_once()?;
        table.count(&format!("of {AT_ONCE} driven calls at once, done one after the other"), AT_ONCE);
        server.leave()?;
        table.count(&format!("processes left by {} driven runs and their server", FIRST_RUNS + runs + AT_ONCE), 0);
    }
    Ok(())
}

struct Server<'a> {
    world: &'a World,
    engine: &'static str,
    agent: Child,
}

impl<'a> Server<'a> {
    fn start(world: &'a World, engine: &'static str) -> io::Result<Self> {
        let mut agent = Child::start_with(&world.sandbox(engine), &world.sandbox_environment(engine))?;
        agent.greet()?;
        Ok(Self { world, engine, agent })
    }

    fn in_a_row(&mut self, runs: usize, table: &mut Table, say: &impl Fn(&str)) -> io::Result<Figure> {
        for number in 0..FIRST_RUNS {
            self.run(number)?;
        }
        let engine = self.engine;
        let (before, app) = (self.agent.resident_kilobytes()?, self.app_kilobytes()?);
        let figure = measured(runs, |number| {
            if number > 0 && number.is_multiple_of(STRETCH) {
                say(&format!("{number} of {runs}"));
            }
            self.run(FIRST_RUNS + number)
        })?;
        self.nothing_else_lives()?;
        table.fact(&format!("the server's memory before {runs} {engine} runs"), before);
        table.fact("and after them", self.agent.resident_kilobytes()?);
        if let (Some(before), Some(after)) = (app, self.app_kilobytes()?) {
            table.fact(&format!("the clinic's memory before {runs} {engine} runs"), before);
            table.fact("and after them", after);
        }
        Ok(figure)
    }

    fn run(&mut self, number: usize) -> io::Result<()> {
        done(&self.agent.call("run_workflow", arguments(self.engine, number))?)?;
        if number.is_multiple_of(STRETCH) { self.nothing_else_lives() } else { Ok(()) }
    }

    /// All are asked for before any is answered; each is done, and the engine's journal never has two of them open.
    fn at_once(&mut self) -> io::Result<()> {
        let calls = (0..AT_ONCE).map(|number| arguments("at-once", number)).collect();
        for result in self.agent.call_all("run_workflow", calls)? {
            done(&result)?;
        }
        let journal = fs::read_to_string(self.world.sandbox_journal(self.engine))?;
        let lines = journal.lines().map(JournalLine::parse);
        match most_at_once(lines) {
            1 => self.nothing_else_lives(),
            other => Err(io::Error::other(format!("{other} runs used the app at the same time"))),
        }
    }

    /// The client leaves; then nothing of the world lives any more.
    fn leave(self) -> io::Result<()> {
        let Self { world, agent, .. } = self;
        agent.end()?;
        world.ended_but(&[])
    }

    /// Of all that a run starts, only the server and its app are left.
    fn nothing_else_lives(&self) -> io::Result<()> {
        let app: Vec<u32> = self.app().into_iter().collect();
        self.world.ended_but(&[&[self.agent.pid()][..], &app].concat())
    }

    fn app(&self) -> Option<u32> {
        let all = process::of_world(&self.world.home());
        all.iter().find(|process| process.command.contains("mockmed")).map(|process| process.pid)
    }

    fn app_kilobytes(&self) -> io::Result<Option<u64>> {
        self.app().map(super::child::resident_kilobytes).transpose()
    }
}

/// How many launches were ever open together.
fn most_at_once(lines: impl Iterator<Item = JournalLine>) -> usize {
    let (mut open, mut most) = (0_usize, 0);
    for line in lines {
        match line.event() {
            "launch" => open += 1,
            "exit" => open = open.saturating_sub(1),
            _ => {}
        }
        most = most.max(open);
    }
    most
}

fn engine_of(world: &World) -> io::Result<String> {
    let mut agent = Child::start_with(&world.sandbox("auto"), &world.sandbox_environment("auto"))?;
    agent.greet()?;
    let result = agent.call("run_workflow", arguments("which", 0))?;
    agent.end()?;
    Ok(result.pointer("/sandbox/engine").and_then(Value::as_str).unwrap_or_default().to_owned())
}

fn arguments(of: &str, number: usize) -> Value {
    let request_id = format!("bench-{of}-{number}");
    json!({"workflow": "add_triage_note", "request_id": request_id, "inputs": {"note": format!("note {number}")}, "wait_seconds": 600})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launches_that_were_open_together_are_counted() {
        let line = |event: &str| JournalLine(json!({"event": event}));
        let of = |events: &[&str]| most_at_once(events.iter().map(|event| line(event)));
        assert_eq!(of(&["launch", "effect", "exit", "launch", "exit"]), 1);
        assert_eq!(of(&["launch", "launch", "exit", "exit"]), 2);
        assert_eq!(of(&[]), 0);
    }
}
