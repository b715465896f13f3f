//! Figures: how long the agent takes, beside what the machine itself takes in the same minute. Never a verdict.

mod child;
mod clinic;
mod figures;
pub mod history;
mod sandbox;
mod world;

use std::io;
use std::time::Instant;

use serde_json::{Value, json};

use crate::run::subject::Subject;
use child::Child;
pub use figures::Table;
use figures::{Figure, measured};
use world::World;

const STARTS: usize = 30;
const CALLS: usize = 1000;
const RUNS: usize = 100;
const FEW_RECORDS: usize = 10;
const MANY_RECORDS: usize = 100_000;
const PAUSED_RUNS: usize = 10_000;
const LOOKS: usize = 20;

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The agent on an instant Flow, and then the rest.
    All,
    /// Many sandbox runs in a row, and many at once.
    Sandbox,
    /// What MockMed itself can.
    Clinic,
}

/// Measures, saying before each part what comes. `runs` is how many sandbox runs there are in a row.
pub fn measure(subject: &Subject, part: Part, runs: usize, say: impl Fn(&str)) -> io::Result<Table> {
    let world = World::new(subject)?;
    let mut table = Table::default();
    if part == Part::All {
        agent(&world, &mut table, &say)?;
    }
    if part != Part::Clinic {
        let sync = measured(RUNS, |_| world.write_and_sync())?;
        table.baseline("one small file, written and synced", &sync);
        sandbox::measure(&world, &mut table, &sync, runs, &say)?;
    }
    if part != Part::Sandbox {
        clinic::measure(&world, &mut table, &say)?;
    }
    Ok(table)
}

fn agent(world: &World, table: &mut Table, say: &impl Fn(&str)) -> io::Result<()> {
    say("starting and greeting");
    let echo = measured(STARTS, |_| greeting(Child::start(&["cat".to_owned()], world)?))?;
    table.baseline("a bare echo child: start to the first line back", &echo);
    let start = measured(STARTS, |_| greeting(Child::start(&world.serve(), world)?))?;
    table.row("start to an answered initialize", &start, &echo);

    say("listing");
    let mut bare = Child::start(&["cat".to_owned()], world)?;
    let line = measured(CALLS, |_| bare.ask("ping", json!({})).map(drop))?;
    table.baseline("a bare echo child: one line there and back", &line);
    let mut agent = Child::start(&world.serve(), world)?;
    agent.greet()?;
    table.row("tools/list", &measured(CALLS, |_| agent.ask("tools/list", json!({})).map(drop))?, &line);
    let list = measured(CALLS, |_| agent.call("list_workflows", json!({})).map(drop))?;
    table.row("list_workflows", &list, &line);
    table.fact("resident memory after that", agent.resident_kilobytes()?);

    say("running");
    let sync = measured(RUNS, |_| world.write_and_sync())?;
    table.baseline("one small file, written and synced", &sync);
    let flow = measured(RUNS, |number| world.bare_flow(number))?;
    table.baseline("the stand-in for Flow alone, one run", &flow);
    let mut latest = Value::Null;
    let run = measured(RUNS, |number| {
        latest = agent.call("run_workflow", world.run(number))?;
        done(&latest)
    })?;
    table.row("run_workflow on an instant Flow", &run, &flow);
    let refused = json!({"workflow": "triage", "request_id": "bench-refused", "inputs": {}});
    let refusal = measured(RUNS, |_| agent.call("run_workflow", refused.clone()).map(drop))?;
    table.row("run_workflow, refused before anything is started", &refusal, &sync);
    let replay = measured(RUNS, |_| agent.call("run_workflow", world.run(0)).map(drop))?;
    table.row("run_workflow again, with the same request_id", &replay, &line);

    let run_id = latest.get("run_id").and_then(Value::as_str).unwrap_or_default().to_owned();
    for records in [FEW_RECORDS, MANY_RECORDS] {
        say(&format!("looking up among {records} records"));
        world.fill(&run_id, records)?;
        let look_up = measured(CALLS, |_| agent.call("get_run", json!({"run_id": run_id})).map(drop))?;
        table.row(&format!("get_run among {records} records"), &look_up, &line);
    }
    say(&format!("looking at {PAUSED_RUNS} paused runs"));
    world.pause(PAUSED_RUNS)?;
    let queue =
        |agent: &mut Child| agent.ask("tools/call", json!({"name": "list_needs_attention", "arguments": {}})).map(drop);
    let cold = measured(1, |_| queue(&mut agent))?;
    table.row(&format!("list_needs_attention among {PAUSED_RUNS} paused runs, the first time"), &cold, &line);
    let warm = measured(LOOKS, |_| queue(&mut agent))?;
    table.row("the same again", &warm, &line);
    table.fact("resident memory at the end", agent.resident_kilobytes()?);
    Ok(())
}

/// A figure counts only for a run that did its work.
fn done(result: &Value) -> io::Result<()> {
    match result.get("outcome").and_then(Value::as_str) {
        Some("done") => Ok(()),
        _ => Err(io::Error::other(format!("a run wasn't done: {result}"))),
    }
}

fn greeting(mut child: Child) -> io::Result<()> {
    child.greet()
}

/// One measurement of something that takes time.
fn timed(work: impl FnOnce() -> io::Result<()>) -> io::Result<f64> {
    let began = Instant::now();
    work()?;
    Ok(began.elapsed().as_secs_f64() * 1e6)
}

impl Figure {
    /// The middle and the slow end of several measurements, in microseconds.
    pub fn of(mut micros: Vec<f64>) -> Self {
        micros.sort_by(f64::total_cmp);
        let at = |share: f64| {
            micros.get(((micros.len() as f64 - 1.0) * share).round() as usize).copied().unwrap_or_default()
        };
        Self { median: at(0.5), slow: at(0.99), count: micros.len() }
    }
}
