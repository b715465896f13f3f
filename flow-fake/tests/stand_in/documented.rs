//! The guide is held against the program.

use flow_fake::report::Shape;
use flow_fake::script::{STEP_NAMES, Script};
use schemas::Schema;
use serde_json::Value;

use super::world::World;

const GUIDE: &str = include_str!("../../../docs/flow-fake.md");

/// The code blocks of the guide in one language.
fn blocks(language: &str) -> Vec<&'static str> {
    GUIDE.split("```").skip(1).step_by(2).filter_map(|block| block.strip_prefix(language)?.strip_prefix('\n')).collect()
}

#[test]
fn every_script_in_the_guide_is_valid_and_can_be_parsed() {
    let scripts = blocks("json");
    assert!(!scripts.is_empty());
    for text in scripts {
        let script: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert!(Script::parse(text.as_bytes()).is_ok(), "{text}: {:?}", Script::parse(text.as_bytes()));
        assert!(Schema::FlowScript.check(&script).is_ok(), "{text}: {:?}", Schema::FlowScript.check(&script));
    }
}

#[test]
fn every_step_has_an_example_that_can_be_parsed() {
    let rows: Vec<&str> =
        GUIDE.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` |")).map(|(step, _)| step).collect();
    for name in STEP_NAMES {
        let example =
            rows.iter().find(|row| **row == format!("\"{name}\"") || row.starts_with(&format!("{{\"{name}\":")));
        let example = example.unwrap_or_else(|| panic!("no example of {name}"));
        let script = format!("{{\"steps\":[{example}]}}");
        assert!(Script::parse(script.as_bytes()).is_ok(), "{example}: {:?}", Script::parse(script.as_bytes()));
    }
}

#[test]
fn the_table_of_shapes_is_what_the_program_lists() {
    let listed: Vec<Value> = serde_json::from_str(&World::new().call(&["shapes", "--json"]).stdout).unwrap();
    assert_eq!(listed.len(), Shape::ALL.len());
    for shape in listed {
        let text = |key: &str| shape[key].as_str().unwrap_or("none").to_owned();
        let row = format!(
            "| `{}` | {} | {} | {} |",
            text("shape"),
            text("transaction_outcome"),
            text("execution_outcome"),
            text("origin")
        );
        assert!(GUIDE.contains(&row), "{row}");
    }
}
