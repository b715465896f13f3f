//! What holds for every schema file.

use std::collections::BTreeSet;

use schemas::Schema;
use serde_json::{Map, Value, json};

/// Schemas that stand in a tool list, where a client reads them without the rest of the set.
const IN_TOOL_LISTS: [Schema; 5] = [
    Schema::ListWorkflowsInput,
    Schema::RunWorkflowInput,
    Schema::GetRunInput,
    Schema::WorkflowList,
    Schema::RunResult,
];

#[test]
fn every_schema_is_valid_2020_12_and_names_it() {
    for schema in Schema::ALL {
        assert!(schema.value().is_object(), "{schema:?} is not an object");
        assert_eq!(schema.value()["$schema"], "https://json-schema.org/draft/2020-12/schema", "{schema:?}");
        if let Err(error) = jsonschema::draft202012::meta::validate(schema.value()) {
            panic!("{schema:?} {}: {error}", error.instance_path());
        }
    }
}

#[test]
fn every_schema_compiles_and_refuses_a_number() {
    for schema in Schema::ALL {
        let violations = schema.check(&json!(3)).unwrap_err();
        let violation = violations.iter().next().unwrap();
        assert!(violation.schema_path.starts_with(&format!("{}#/", schema.id())), "{schema:?}: {violation}");
    }
}

#[test]
fn every_schema_has_an_id_that_is_a_name_and_its_own() {
    let ids: BTreeSet<&str> = Schema::ALL.iter().map(|schema| schema.id()).collect();
    assert_eq!(ids.len(), Schema::ALL.len());
    for schema in Schema::ALL {
        assert_eq!(schema.value()["$id"], schema.id());
        assert_eq!(Schema::by_id(schema.id()), Some(*schema));
    }
    assert_eq!(Schema::by_id("urn:openadapt:no-such-schema:v1"), None);
}

#[test]
fn every_schema_file_is_in_the_registry_and_short_enough_to_read() {
    let on_disk: BTreeSet<String> = std::fs::read_dir(env!("CARGO_MANIFEST_DIR"))
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().into_string().unwrap().strip_suffix(".json").map(str::to_owned))
        .collect();
    let registered: BTreeSet<String> = Schema::ALL.iter().map(|schema| schema.stem().to_owned()).collect();
    assert_eq!(on_disk, registered);
    for schema in Schema::ALL {
        assert!(schema.text().lines().count() <= 900, "{schema:?}");
    }
}

#[test]
fn every_schema_and_every_declared_property_has_a_description() {
    let mut properties = 0;
    for schema in Schema::ALL {
        for key in ["title", "description"] {
            assert!(is_sentence(&schema.value()[key]), "{schema:?} has no {key}");
        }
        each_declared_property(schema.value(), "", &mut |path, property| {
            properties += 1;
            assert!(is_sentence(&property["description"]), "{schema:?} {path} has no description");
        });
    }
    assert!(properties > 400, "only {properties} properties were looked at");
}

#[test]
fn a_property_without_a_description_would_be_found() {
    let bare = json!({ "items": { "anyOf": [{ "properties": { "bare": { "type": "string" } } }] } });
    let mut found = Vec::new();
    each_declared_property(&bare, "", &mut |path, _| found.push(path.to_owned()));
    assert_eq!(found, ["/items/anyOf/0/properties/bare"]);
}

#[test]
fn no_reference_leaves_the_set() {
    for schema in Schema::ALL {
        each_reference(schema.value(), &mut |reference| {
            let file = reference.split('#').next().unwrap_or_default();
            assert!(file.is_empty() || Schema::by_id(file).is_some(), "{schema:?} refers to {reference}");
        });
    }
}

#[test]
fn schemas_in_tool_lists_are_plain_enough_for_every_client() {
    for schema in IN_TOOL_LISTS {
        let shown = schema.for_tool_list();
        assert_eq!(shown["type"], "object", "{schema:?}");
        for key in ["$schema", "$id", "$ref", "$defs", "oneOf", "anyOf", "allOf", "not", "if"] {
            assert_eq!(shown.get(key), None, "{schema:?} has {key} at its root");
        }
        each_reference(&shown, &mut |reference| panic!("{schema:?} refers to {reference}"));
        assert_eq!(shown["properties"], schema.value()["properties"]);
    }
}

#[test]
fn inputs_take_nothing_that_is_not_declared() {
    for schema in [Schema::ListWorkflowsInput, Schema::RunWorkflowInput, Schema::GetRunInput] {
        assert_eq!(schema.value()["additionalProperties"], false, "{schema:?}");
    }
    let workflow = &Schema::RunWorkflowInput.value()["properties"]["workflow"];
    assert_eq!(workflow.get("enum"), None, "an unknown name must reach the contract, not fail as an argument");
}

#[test]
fn the_cards_of_a_list_are_workflow_cards() {
    let listed = &Schema::WorkflowList.value()["properties"]["workflows"]["items"]["properties"];
    assert_eq!(*listed, Schema::WorkflowCard.value()["properties"]);
}

#[test]
fn both_result_schemas_declare_the_same_keys_and_closed_values() {
    let (open, strict) = (Schema::RunResult.value(), Schema::RunResultStrict.value());
    assert_eq!(open["required"], strict["required"]);
    let keys = |schema: &Value| schema["properties"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(open), keys(strict));
    for key in keys(open) {
        for pointer in ["/enum", "/items/enum", "/const"] {
            let at = format!("/properties/{key}{pointer}");
            if let Some(values) = open.pointer(&at) {
                assert_eq!(Some(values), strict.pointer(&at), "{at}");
            }
        }
    }
}

fn is_sentence(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.len() > 3)
}

/// Properties that a schema declares. What stands under `if`, `then`, `else`, `not` and `allOf` only narrows them.
fn each_declared_property(schema: &Value, path: &str, visit: &mut impl FnMut(&str, &Value)) {
    let Some(object) = schema.as_object() else { return };
    for (key, inner) in object {
        let at = format!("{path}/{key}");
        match (key.as_str(), inner) {
            ("properties", Value::Object(declared)) => {
                each_member(declared, &at, &mut |at, property| {
                    visit(at, property);
                    each_declared_property(property, at, visit);
                });
            }
            ("$defs", Value::Object(shapes)) => {
                each_member(shapes, &at, &mut |at, shape| each_declared_property(shape, at, visit));
            }
            ("items" | "additionalProperties" | "contains", Value::Object(_)) => {
                each_declared_property(inner, &at, visit);
            }
            ("anyOf" | "oneOf" | "prefixItems", Value::Array(branches)) => {
                for (index, branch) in branches.iter().enumerate() {
                    each_declared_property(branch, &format!("{at}/{index}"), visit);
                }
            }
            _ => {}
        }
    }
}

fn each_member(object: &Map<String, Value>, path: &str, visit: &mut impl FnMut(&str, &Value)) {
    for (key, value) in object {
        visit(&format!("{path}/{key}"), value);
    }
}

fn each_reference(schema: &Value, visit: &mut impl FnMut(&str)) {
    match schema {
        Value::Object(object) => {
            for (key, inner) in object {
                match inner.as_str() {
                    Some(reference) if key == "$ref" => visit(reference),
                    _ => each_reference(inner, visit),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| each_reference(item, visit)),
        _ => {}
    }
}

#[test]
fn a_sentence_quotes_a_scalar_shortly_and_never_a_whole_object() {
    let quoted = |value: Value| Schema::RunResult.check(&value).unwrap_err().to_string();
    assert!(quoted(json!({ "mode": "sideways" })).contains("\"sideways\""));
    assert!(quoted(json!({ "mode": "x".repeat(1000) })).len() < 2000);
    assert!(!quoted(json!({ "input": "secret" })).contains("secret"));
}
