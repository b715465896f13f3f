//! A case as a scenario: the same words that a person would write, run by the same runner and judged by the same checks.

use serde_json::{Value, json};

use super::case::{Case, Ending, Op};
use super::reference::State;
use crate::scenario::Scenario;

/// A scenario, and which of its actions stands for which operation.
pub struct Written {
    pub document: Value,
    pub scenario: Scenario,
    pub steps: Vec<(Op, usize)>,
}

/// What can't be done in any of the ways in which everything may stand by then is left out.
pub fn write(case: &Case, id: &str, title: &str) -> Result<Written, String> {
    let mut actions = Vec::new();
    let mut steps = Vec::new();
    let mut captured = [false; super::case::REQUESTS];
    let mut states = vec![State::first()];
    for (number, op) in case.ops.iter().enumerate() {
        let possible = match op {
            Op::Get { request, .. } => captured[*request],
            Op::KillKeeper { request } => captured[*request] && states.iter().all(|state| state.is_held(*request)),
            _ => true,
        };
        if !possible {
            continue;
        }
        if let Op::KillKeeper { request } = op {
            actions.push(json!({"await": format!("held r{request}"), "run": format!("$run{request}")}));
        }
        let at = actions.len();
        let tells = tells_the_run(case, op, &states);
        actions.extend(actions_of(case, op, number, tells));
        steps.push((*op, at));
        states = after(case, states, op);
        if let Op::Call { request, .. } | Op::Storm { request } = op {
            captured[*request] |= tells;
        }
    }
    for request in 0..super::case::REQUESTS {
        actions.push(json!({"release": format!("r{request}")}));
    }
    let document = json!({
        "id": id, "title": title, "proves": ["LIFE-model-interleavings"], "deadline_s": 30,
        "world": {"servers": 2},
        "flow": {"plays": plays(case)},
        "do": actions,
        "after": {"launches": 0, "unanswered": case.ops.len()},
    });
    let scenario = serde_json::from_value(document.clone()).map_err(|error| error.to_string())?;
    Ok(Written { document, scenario, steps })
}

/// Everything that may stand after an operation, whatever is answered.
fn after(case: &Case, states: Vec<State>, op: &Op) -> Vec<State> {
    let mut later: Vec<State> = Vec::new();
    for state in states {
        let ways: Vec<State> = match *op {
            Op::Call { request, other, .. } => ways(state.call(case, request, other)),
            Op::Storm { request } => ways(state.call(case, request, false)),
            Op::Get { request, .. } => ways(state.looked(request, false)),
            Op::Switch { off, all } => vec![state.switch(off, all)],
            Op::KillCalling { request, .. } => state.call_cut_short(case, request),
            Op::KillKeeper { request } => vec![state.keeper_is_gone(request)],
            Op::Release { request } => vec![state.release(request)],
            Op::Kill { .. } => vec![state],
        };
        for way in ways {
            if !later.contains(&way) {
                later.push(way);
            }
        }
    }
    later
}

fn ways(told: Vec<(State, super::reference::Told)>) -> Vec<State> {
    told.into_iter().map(|(state, _)| state).collect()
}

/// The call is told of the run that stands for its request, in every way; a refusal has a run id of its own.
fn tells_the_run(case: &Case, op: &Op, states: &[State]) -> bool {
    let (request, other) = match *op {
        Op::Call { request, other, .. } => (request, other),
        Op::Storm { request } => (request, false),
        _ => return false,
    };
    let refused = ["request_id_conflict", "runs_disabled", "retry_limit"];
    let told = |state: &State| state.call(case, request, other);
    case.endings[request] != Ending::Refused
        && states.iter().flat_map(told).all(|(_, told)| !refused.contains(&told.reason))
}

fn actions_of(case: &Case, op: &Op, number: usize, tells: bool) -> Vec<Value> {
    let name = |server: &usize| format!("s{}", server + 1);
    match op {
        Op::Call { server, request, other } => {
            vec![json!({"call": "run_workflow", "server": name(server), "args": arguments(case, *request, *other),
                "capture": captured(tells, *request)})]
        }
        Op::Storm { request } => {
            vec![json!({"call": "run_workflow", "servers": "all", "times": 4, "args": arguments(case, *request, false),
                "capture": captured(tells, *request)})]
        }
        Op::Get { server, request } => {
            vec![
                json!({"call": "get_run", "server": name(server), "args": {"run_id": format!("$run{request}"), "wait_seconds": 0}}),
            ]
        }
        Op::Switch { off, all } => {
            let verb = if *off { "disable-runs" } else { "enable-runs" };
            let mut words = vec!["control", verb, "--runs-dir", "$runs"];
            if !all {
                words.extend(["--workflow", "triage"]);
            }
            vec![json!({"cli": words, "exit": 0})]
        }
        Op::Kill { server } => killed(&name(server), 0),
        Op::KillCalling { server, request, after_us } => {
            let mut actions =
                vec![json!({"call": "run_workflow", "server": name(server), "args": arguments(case, *request, false),
                "as": format!("lost{number}")})];
            actions.extend(killed(&name(server), *after_us));
            actions
        }
        Op::KillKeeper { request } => {
            let run = format!("$run{request}");
            vec![json!({"signal": "KILL", "to": "keeper", "run": run}), json!({"gone": "keeper", "run": run})]
        }
        Op::Release { request } => vec![json!({"release": format!("r{request}")})],
    }
}

fn captured(tells: bool, request: usize) -> Value {
    if tells { json!({format!("run{request}"): "/run_id"}) } else { json!({}) }
}

fn killed(server: &str, after_us: u64) -> Vec<Value> {
    vec![
        json!({"signal": "KILL", "to": "server", "server": server, "after_us": after_us, "exit": "signal"}),
        json!({"start": server}),
    ]
}

fn arguments(case: &Case, request: usize, other: bool) -> Value {
    let wait = if case.endings[request] == Ending::Held { 0 } else { 25 };
    json!({"workflow": "triage", "request_id": format!("$rid:r{request}"), "inputs": {"note": note(request, other)}, "wait_seconds": wait})
}

fn note(request: usize, other: bool) -> String {
    format!("$canary:n{request}{}", if other { "other" } else { "first" })
}

fn plays(case: &Case) -> Vec<Value> {
    let mut plays = Vec::new();
    for (request, ending) in case.endings.iter().enumerate() {
        for other in [false, true] {
            let when = json!({"param": {"name": "note", "equals": note(request, other)}});
            plays.push(json!({"when": when, "steps": ending.steps(&format!("r{request}"))}));
        }
    }
    plays
}

/// A scenario file: plain keys, then a table for each part and each action.
pub fn in_toml(document: &Value) -> String {
    let mut text = String::new();
    let Some(members) = document.as_object() else { return text };
    for (name, value) in members.iter().filter(|(name, value)| !value.is_object() && *name != "do") {
        text.push_str(&format!("{name} = {}\n", inline(value)));
    }
    let mut table = |head: String, value: &Value| {
        text.push_str(&format!("\n{head}\n"));
        for (name, value) in value.as_object().into_iter().flatten() {
            text.push_str(&format!("{name} = {}\n", inline(value)));
        }
    };
    for (name, value) in members.iter().filter(|(_, value)| value.is_object()) {
        table(format!("[{name}]"), value);
    }
    for action in members.get("do").and_then(Value::as_array).into_iter().flatten() {
        table("[[do]]".to_owned(), action);
    }
    text
}

/// JSON's numbers, booleans, lists and plain strings are TOML's, too.
fn inline(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members: Vec<String> =
                members.iter().map(|(name, value)| format!("{name} = {}", inline(value))).collect();
            format!("{{ {} }}", members.join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::expand::expand;

    #[test]
    fn what_is_written_is_the_scenario_that_was_run() {
        let ops = vec![
            Op::Call { server: 0, request: 0, other: false },
            Op::KillKeeper { request: 0 },
            Op::KillCalling { server: 1, request: 1, after_us: 700 },
            Op::Get { server: 1, request: 2 },
            Op::Switch { off: true, all: false },
        ];
        let case = Case { endings: [Ending::Held, Ending::Refused, Ending::Saved], ops };
        let written = write(&case, "regressions/explored-1", "A world").unwrap();
        let read = expand("explored-1", &in_toml(&written.document)).unwrap();
        assert_eq!(read, [written.scenario]);
        let kept: Vec<Op> = written.steps.iter().map(|(op, _)| *op).collect();
        assert!(kept.contains(&Op::KillKeeper { request: 0 }), "a run that is held has a keeper to kill");
        assert!(!kept.contains(&Op::Get { server: 1, request: 2 }), "a run that nobody was told of can't be asked for");
    }
}
