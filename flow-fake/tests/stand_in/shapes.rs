//! The table of shapes: it names every document that the stand-in writes, and each captured one is like the real program's.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use flow_fake::report::{Origin, Shape};
use serde_json::{Value, json};

use super::world::World;

const TABLE: &str = include_str!("../../shapes/table.json");
/// What stands in a run folder without being a document of Flow's.
const NO_DOCUMENT: [&str; 3] = [".attended_capability.key", ".durable_state.lock", "REPORT.md"];
/// Written only with checked postconditions and found targets, which a played run has none of.
const OF_A_SCREEN: [&str; 3] = [
    "/outcome_envelope/workflow_contract_sha256",
    "/outcome_envelope/postcondition_evidence",
    "/rung_counts/structural",
];
/// What only a screen gives is left null, or open, where a report is played and no page was seen.
const LEFT_OPEN: [&str; 6] = [
    "/results/*/after_png",
    "/results/*/before_png",
    "/results/*/resolution",
    "/results/*/risk_explanation",
    "/results/*/safety_refusal_evidence",
    "/results/*/starting_state_settled",
];

type Outline = BTreeMap<String, BTreeSet<String>>;

fn table() -> Vec<Value> {
    serde_json::from_str(TABLE).unwrap()
}

fn text<'v>(row: &'v Value, key: &str) -> &'v str {
    row[key].as_str().unwrap_or_default()
}

#[test]
fn every_report_shape_has_a_row_that_says_what_the_program_says() {
    for shape in Shape::ALL {
        let table = table();
        let row = table.iter().find(|row| text(row, "shape") == shape.name()).unwrap_or_else(|| panic!("{shape}"));
        assert_eq!(text(row, "file"), "report.json");
        assert_eq!(text(row, "origin") == "captured", shape.origin() == Origin::Captured, "{shape}");
    }
}

#[test]
fn a_captured_row_names_its_bodies_and_a_derived_one_its_reason() {
    let bodies = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios");
    for row in table() {
        let from: Vec<&str> =
            row["from"].as_array().map_or(Vec::new(), |from| from.iter().filter_map(Value::as_str).collect());
        match text(&row, "origin") {
            "captured" => {
                assert!(!from.is_empty(), "{row}");
                for body in from {
                    let file = body.split('/').take(2).collect::<Vec<_>>().join("/");
                    assert!(bodies.join(format!("{file}.toml")).is_file(), "{body}");
                }
            }
            "derived" => assert!(text(&row, "why").len() > 20 && from.is_empty(), "{row}"),
            other => panic!("{other}"),
        }
    }
}

#[test]
fn every_document_that_is_left_in_a_run_folder_has_a_row() {
    let known: BTreeSet<String> = table().iter().map(|row| text(row, "file").to_owned()).collect();
    for world in [halted(), approved(), rejected(), asked()] {
        for name in names(&world.run_dir(), "") {
            assert!(known.contains(&name) || NO_DOCUMENT.contains(&name.as_str()), "{name} has no row");
        }
    }
}

#[test]
fn a_captured_report_has_the_keys_and_types_of_the_real_one() {
    for row in table().iter().filter(|row| text(row, "origin") == "captured" && text(row, "file") == "report.json") {
        let world = World::new();
        let script = json!({"steps": ["run_dir", {"report": text(row, "shape")}]});
        std::fs::write(world.path("script.json"), script.to_string()).unwrap();
        let profile = if text(row, "shape") == "completed_unverified" { "demo" } else { "standard" };
        let launch = ["run", "alpha", "--profile", profile, "--run-dir", "run", "--url", "http://127.0.0.1:1/"];
        let played = world.command(&launch).env("FLOW_FAKE_SCRIPT", world.path("script.json")).output().unwrap();
        assert!(world.run_dir().join("report.json").is_file(), "{played:?}");
        held_against(row, &world.report());
    }
}

#[test]
fn a_captured_document_of_a_pause_has_the_keys_and_types_of_the_real_one() {
    let (halted, approved, rejected) = (halted(), approved(), rejected());
    for row in table().iter().filter(|row| text(row, "origin") == "captured") {
        let file = text(row, "file");
        let world = match file {
            "report.json" | "checkpoints/step_0000_step_000.json" => continue,
            "attended_decisions.json" => &rejected,
            "approval.json" | "approval_history/HEX.json" => &approved,
            _ => &halted,
        };
        let found = files(&world.run_dir(), "").into_iter().find(|(name, _)| name == file);
        let (_, bytes) = found.unwrap_or_else(|| panic!("{file}"));
        held_against(row, &serde_json::from_slice(&bytes).unwrap());
    }
}

/// Ours has no key that the real one lacks, each value is of a type that the real one had, and of each object that both have every
/// key is there.
fn held_against(row: &Value, document: &Value) {
    let name = text(row, "shape");
    let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("shapes/{name}.json"));
    let stored = std::fs::read(&stored).unwrap_or_else(|_| panic!("{name} was never captured"));
    let stored: BTreeMap<String, Value> = serde_json::from_slice(&stored).unwrap();
    let real: Outline = stored
        .into_iter()
        .map(|(at, seen)| {
            (at, seen["types"].as_array().unwrap().iter().map(|one| one.as_str().unwrap().to_owned()).collect())
        })
        .collect();
    let mut ours = Outline::new();
    look(document, "", &mut ours);
    for (at, types) in &ours {
        let theirs = real.get(at).unwrap_or_else(|| panic!("{name}: the real one has no {at}"));
        let open = LEFT_OPEN.contains(&at.as_str());
        assert!(open || types.is_subset(theirs), "{name} {at}: {types:?}, the real one {theirs:?}");
    }
    for at in real.keys() {
        let optional = OF_A_SCREEN.iter().any(|optional| at.starts_with(optional));
        let parent = at.rsplit_once('/').map_or("", |(parent, _)| parent);
        let member = !at.ends_with("/*") && ours.get(parent).is_some_and(|types| types.contains("object"));
        assert!(optional || !member || ours.contains_key(at), "{name}: ours lacks {at}");
    }
}

fn look(value: &Value, at: &str, found: &mut Outline) {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    found.entry(at.to_owned()).or_default().insert(kind.to_owned());
    match value {
        Value::Array(items) => items.iter().for_each(|item| look(item, &format!("{at}/*"), found)),
        Value::Object(table) => table.iter().for_each(|(key, inner)| look(inner, &format!("{at}/{key}"), found)),
        _ => {}
    }
}

fn halted() -> World {
    let world = World::new();
    world.play(json!(["run_dir", {"report": "halted_before_effect"}, {"pause": {"category": "identity"}}, {"pause": {"category": "identity"}}]));
    world
}

fn approved() -> World {
    let world = halted();
    assert_eq!(world.call(&["approve", "run"]).code, Some(0));
    world
}

fn rejected() -> World {
    let world = halted();
    assert_eq!(world.call(&["pause", "run", "--set", "reject"]).code, Some(0));
    world
}

fn asked() -> World {
    let world = World::new();
    world.play(json!(["run_dir", {"approval": {"request": {"expires_in_s": 900}}}, {"approval": "answer_approve"}, {"approval": "consume"}]));
    world
}

/// Every file below a folder, what is random in its name left out.
fn names(folder: &Path, below: &str) -> Vec<String> {
    files(folder, below).into_iter().map(|(name, _)| name).collect()
}

fn files(folder: &Path, below: &str) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{below}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            found.extend(files(&entry.path(), &format!("{name}/")));
        } else if !name.starts_with(".flow-fake-") && !name.ends_with(".png") && !name.contains("/consumed-") {
            found.push((without_randomness(&name), std::fs::read(entry.path()).unwrap()));
        }
    }
    found
}

fn without_randomness(name: &str) -> String {
    let hex = |stem: &str| stem.len() >= 32 && stem.bytes().all(|byte| byte.is_ascii_hexdigit());
    let (folder, file) = name.rsplit_once('/').map_or(("", name), |(folder, file)| (folder, file));
    let stem = file.trim_end_matches(".json");
    let told = match stem.split_once('-') {
        _ if hex(stem) => file.replace(stem, "HEX"),
        Some((word, id)) if hex(id) => format!("{word}-ID.json"),
        _ => file.to_owned(),
    };
    if folder.is_empty() { told } else { format!("{folder}/{told}") }
}
