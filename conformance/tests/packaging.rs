//! What registries and hosts read of this project, held against the schemas that they published.

#![expect(clippy::expect_used, reason = "a test says what it expected")]

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").to_owned()
}

fn text(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap_or_else(|fault| panic!("{name}: {fault}"))
}

fn json(name: &str) -> Value {
    serde_json::from_str(&text(name)).unwrap_or_else(|fault| panic!("{name}: {fault}"))
}

fn problems(schema: &str, value: &Value) -> Vec<String> {
    let validator = jsonschema::draft7::new(&json(schema)).expect("the published schema compiles");
    validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

const REGISTRY: &str = "schemas/published/mcp-registry-server-2025-12-11.json";
const BUNDLE: &str = "schemas/published/mcpb-manifest-0.3.json";

#[test]
fn the_published_schemas_are_the_ones_that_the_table_names() {
    let table = text("schemas/published/README.md");
    for file in [REGISTRY, BUNDLE] {
        let sum = Sha256::digest(text(file).as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let name = file.rsplit('/').next().expect("a name");
        let row = table.lines().find(|line| line.starts_with(&format!("| `{name}`"))).expect("a row");
        assert!(row.contains(&sum), "{name} is {sum}");
    }
}

#[test]
fn the_registry_s_entry_is_valid_and_runs_over_stdio_with_a_bundles_folder_that_has_to_be_given() {
    let entry = json("server.json");
    assert_eq!(problems(REGISTRY, &entry), Vec::<String>::new());
    assert_eq!(entry["$schema"], json(REGISTRY)["$id"]);
    let packages = entry["packages"].as_array().expect("packages");
    assert!(!packages.is_empty());
    for package in packages {
        assert_eq!(package["transport"], json!({ "type": "stdio" }));
        let arguments = package["packageArguments"].as_array().expect("arguments");
        let bundles = arguments.iter().find(|argument| argument["name"] == "--bundles").expect("--bundles");
        assert_eq!(bundles["isRequired"], true);
        assert_eq!(arguments[0], json!({ "type": "positional", "value": "serve" }));
    }
    assert!(entry.get("remotes").is_none(), "this server is on no network");
}

#[test]
fn the_bundle_s_manifest_is_valid_and_every_choice_gets_to_the_server() {
    let manifest = json("mcpb/manifest.json");
    assert_eq!(problems(BUNDLE, &manifest), Vec::<String>::new());
    let environment = manifest["server"]["mcp_config"]["env"].as_object().expect("variables");
    let choices = manifest["user_config"].as_object().expect("choices");
    for choice in choices.keys() {
        let placeholder = format!("${{user_config.{choice}}}");
        assert!(environment.values().any(|value| value == &placeholder), "{choice} gets nowhere");
    }
    for (name, value) in environment {
        let choice = value.as_str().and_then(|value| value.strip_prefix("${user_config.")?.strip_suffix('}'));
        assert!(choice.is_some_and(|choice| choices.contains_key(choice)), "{name} has no choice");
        assert!(text("docs/command-line.md").contains(&format!("`{name}`")), "{name} is documented");
    }
    let required: Vec<_> =
        choices.iter().filter(|(_, choice)| choice["required"] == true).map(|(name, _)| name).collect();
    assert_eq!(required, ["bundles_dir"]);
    assert_eq!(choices["bundle_key"]["sensitive"], true);
    for permission in ["allow_run", "allow_attended_actions"] {
        assert_eq!(choices[permission]["default"], false, "{permission} is off until somebody says yes");
    }
}

#[test]
fn what_a_schema_refuses_is_refused() {
    let mut entry = json("server.json");
    entry["description"] = "x".repeat(101).into();
    assert!(!problems(REGISTRY, &entry).is_empty());
    let mut manifest = json("mcpb/manifest.json");
    manifest["server"]["mcp_config"]["port"] = 80.into();
    assert!(!problems(BUNDLE, &manifest).is_empty());
}

#[test]
fn every_file_that_names_the_version_names_the_same() {
    let cargo: toml::Table = text("Cargo.toml").parse().expect("TOML");
    let version = cargo["workspace"]["package"]["version"].as_str().expect("a version");
    let (entry, manifest) = (json("server.json"), json("mcpb/manifest.json"));
    assert_eq!((entry["version"].as_str(), manifest["version"].as_str()), (Some(version), Some(version)));
    for package in entry["packages"].as_array().expect("packages") {
        assert_eq!(package["version"], version);
        let identifier = package["identifier"].as_str().expect("an identifier");
        assert!(identifier.contains(&format!("/v{version}/")) && identifier.ends_with(".mcpb"), "{identifier}");
    }
}
