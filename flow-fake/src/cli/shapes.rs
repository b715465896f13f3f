//! `shapes`: the report shapes and where each comes from.

use serde_json::{Value, json};

use super::fault;
use crate::output::{self, Pipe};
use crate::report::{Origin, Shape};

pub fn print(args: &[String]) -> u8 {
    match args {
        [] => output::line(Pipe::Stdout, &Shape::ALL.map(row).join("\n")),
        [flag] if flag == "--json" => {
            output::line(Pipe::Stdout, &format!("{:#}", Value::from_iter(Shape::ALL.map(object))))
        }
        _ => return fault("`shapes` takes nothing but --json", "flow-fake shapes --json"),
    }
    0
}

fn row(shape: Shape) -> String {
    let origin = if shape.origin() == Origin::Captured { "captured" } else { "derived" };
    format!("{:<30} {:<24} {origin}", shape.name(), shape.transaction().unwrap_or("-"))
}

fn object(shape: Shape) -> Value {
    json!({
        "shape": shape,
        "transaction_outcome": shape.transaction(),
        "execution_outcome": shape.execution(),
        "origin": shape.origin(),
        "profile": shape.profile_for(None),
    })
}
