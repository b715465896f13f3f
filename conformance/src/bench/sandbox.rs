//! The sandbox's figures: many runs in a row, simulated, and driven where this machine can.

use std::io;

use serde_json::{Value, json};

use super::child::Child;
use super::done;
use super::figures::{Figure, Table, measured};
use super::world::World;

const RUNS: usize = 200;
/// Memory is looked at after these, too: what a server takes once is no growth.
const FIRST_RUNS: usize = 20;

pub fn measure(world: &World, table: &mut Table, sync: &Figure, say: impl Fn(&str)) -> io::Result<()> {
    say(&format!("{RUNS} simulated sandbox runs in a row"));
    let simulated = in_a_row(world, "simulated", table)?;
    table.row("run_workflow in the simulated sandbox", &simulated, sync);
    if engine_of(world, "auto")? == "driven" {
        say(&format!("{RUNS} driven sandbox runs in a row"));
        let driven = in_a_row(world, "driven", table)?;
        table.row("run_workflow in the driven sandbox", &driven, &simulated);
    }
    Ok(())
}

fn in_a_row(world: &World, engine: &str, table: &mut Table) -> io::Result<Figure> {
    let mut agent = Child::start_with(&world.sandbox(engine), &world.sandbox_environment())?;
    agent.greet()?;
    let run = |number: usize, agent: &mut Child| done(&agent.call("run_workflow", arguments(engine, number))?);
    for number in 0..FIRST_RUNS {
        run(number, &mut agent)?;
    }
    let before = agent.resident_kilobytes()?;
    let figure = measured(RUNS, |number| run(FIRST_RUNS + number, &mut agent))?;
    table.fact(&format!("resident memory before {RUNS} {engine} runs"), before);
    table.fact("and after them", agent.resident_kilobytes()?);
    Ok(figure)
}

fn engine_of(world: &World, choice: &str) -> io::Result<String> {
    let mut agent = Child::start_with(&world.sandbox(choice), &world.sandbox_environment())?;
    agent.greet()?;
    let result = agent.call("run_workflow", arguments("which", 0))?;
    Ok(result.pointer("/sandbox/engine").and_then(Value::as_str).unwrap_or_default().to_owned())
}

fn arguments(of: &str, number: usize) -> Value {
    let request_id = format!("bench-{of}-{number}");
    json!({"workflow": "add_triage_note", "request_id": request_id, "inputs": {"note": format!("note {number}")}, "wait_seconds": 600})
}
