//! What a person at the computer is told when a world is over: every read-only command, about every run that the wire named.

use std::collections::BTreeSet;
use std::process::Stdio;

use serde_json::Value;
use tokio::process::Command;

use super::world::World;
use crate::evidence::{Exit, OperatorSaw};
use crate::wire::server::exit_of;

/// Scenarios of this area are told of to an operator, too.
pub const AREA: &str = "lifecycle/";
const MOST_RUNS: usize = 12;

pub async fn look(world: &World<'_>) -> Vec<OperatorSaw> {
    let mut saw = Vec::new();
    for words in [["runs", "list", "--json"], ["runs", "counters", "--json"], ["control", "status", "--json"]] {
        saw.push(asked(world, &words, None).await);
    }
    let runs = listed(&saw);
    for run in runs.iter().take(MOST_RUNS) {
        for words in [vec!["runs", "show", run, "--json"], vec!["runs", "show", run], vec!["runs", "events", run]] {
            saw.push(asked(world, &words, Some(run)).await);
        }
    }
    saw
}

fn listed(saw: &[OperatorSaw]) -> BTreeSet<String> {
    let lines = saw.first().into_iter().flat_map(|list| list.stdout.lines());
    let rows = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    rows.filter_map(|row| row.get("run_id").and_then(Value::as_str).map(str::to_owned)).collect()
}

async fn asked(world: &World<'_>, words: &[&str], run: Option<&str>) -> OperatorSaw {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let told =
        |exit, stdout, stderr| OperatorSaw { words: words.clone(), run: run.map(str::to_owned), exit, stdout, stderr };
    let Some((program, own)) = world.subject.agent.split_first() else {
        return told(Exit::Code(-1), String::new(), "no command".to_owned());
    };
    let mut command = Command::new(program);
    command.args(own).args(&words).arg("--runs-dir").arg(&world.folders.runs);
    command.env_clear().envs(world.environment(None)).current_dir(&world.folders.world);
    command.stdin(Stdio::null()).kill_on_drop(true);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match tokio::time::timeout(world.limit(), command.output()).await {
        Ok(Ok(output)) => told(exit_of(output.status), text(&output.stdout), text(&output.stderr)),
        Ok(Err(error)) => told(Exit::Code(-1), String::new(), error.to_string()),
        Err(_) => told(Exit::Code(-1), String::new(), "it still ran".to_owned()),
    }
}
