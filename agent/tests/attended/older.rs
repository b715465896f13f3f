//! The tools as every client sees them, kept as snapshots: a word that changes in a schema is seen.

use insta::assert_snapshot;
use openadapt_agent::bridge::host::{ToolHost, ToolSpec};
use openadapt_agent::cli::OlderOptions;
use serde_json::{Value, json};

use crate::world::{ASKS, World};

const WORKFLOW: &str = r#"{"name": "Ward label", "created_at": "2026-01-01T00:00:00+00:00", "params": {"note": "recorded words"},
    "param_specs": {"note": {"name": "note"}}, "steps": [{"id": "s1", "intent": "press the key", "action": "key", "key": "Tab"}]}"#;

fn world() -> World {
    let world = World::new();
    std::fs::create_dir(world.path("bundles").join("ward")).unwrap();
    std::fs::write(world.path("bundles").join("ward/workflow.json"), WORKFLOW).unwrap();
    world
}

fn shown(tools: Vec<ToolSpec>) -> String {
    let row = |tool: ToolSpec| {
        let answer = tool.output_schema.map_or("text", |_| "structured");
        json!({
            "name": tool.name, "title": tool.title, "description": tool.description, "input": tool.input_schema,
            "hints": format!("{:?}", tool.annotations), "answer": answer, "meta": tool.meta,
        })
    };
    format!("{:#}", Value::from(tools.into_iter().map(row).collect::<Vec<_>>()))
}

#[test]
fn every_tool_of_a_server_with_runs_and_decisions() {
    let world = world();
    let bridge = world.attended(&world.bridge_script(true, &Value::Null, "{}"), true);
    let shown = shown(bridge.tools(ASKS));
    assert!(!shown.contains("recorded words") && !shown.contains("Ward label") && !shown.contains("press the key"));
    assert_snapshot!(shown);
}

#[test]
fn the_run_tool_where_an_address_and_recorded_values_are_allowed() {
    let world = world();
    let older = OlderOptions { url_override: true, recorded_defaults: true, protected_export: true };
    let tools = world.with_runs(older).tools(ASKS);
    let shown = shown(tools.into_iter().filter(|tool| tool.meta.is_some()).collect());
    assert!(!shown.contains("recorded words"));
    assert_snapshot!(shown);
}
