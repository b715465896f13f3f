//! Start lines: what a client's configuration, an MCP bundle and a registry entry make a client run. Each is started as it
//! stands, in an empty home, and asked for a first result.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::{Map, Value, json};

use super::client::Client;
use super::place::Place;

/// One way to start the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartLine {
    pub command: String,
    pub arguments: Vec<String>,
    pub environment: BTreeMap<String, String>,
}

/// Starts every server of a client's configuration in `value`, and says how many there were.
pub fn run_all(value: &Value, place: &Place) -> Result<usize, String> {
    let servers = value.get("mcpServers").and_then(Value::as_object);
    let lines: Vec<StartLine> =
        servers.into_iter().flatten().map(|(_, server)| configured(server)).collect::<Result<_, _>>()?;
    lines.iter().try_for_each(|line| first_result(line, place))?;
    Ok(lines.len())
}

/// The start line of a client's configuration, or of a bundle's `mcp_config`.
pub fn configured(server: &Value) -> Result<StartLine, String> {
    let command = server.get("command").and_then(Value::as_str).ok_or("a server without a command")?;
    let list = server.get("args").and_then(Value::as_array).cloned().unwrap_or_default();
    let texts: Option<Vec<_>> = list.iter().map(|word| word.as_str().map(str::to_owned)).collect();
    let table = server.get("env").and_then(Value::as_object).cloned().unwrap_or_default();
    let pairs: Option<_> = table.iter().map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect();
    Ok(StartLine {
        command: command.to_owned(),
        arguments: texts.ok_or("an argument that isn't text")?,
        environment: pairs.ok_or("a variable that isn't text")?,
    })
}

/// The start line of an MCP bundle with what its user chose; choices that nobody made are left as a host leaves them.
pub fn of_bundle(manifest: &Value, chosen: &BTreeMap<&str, String>, folder: &str) -> Result<StartLine, String> {
    let filled = |text: &str| {
        let text = text.replace("${__dirname}", folder);
        chosen.iter().fold(text, |text, (name, value)| text.replace(&format!("${{user_config.{name}}}"), value))
    };
    let line = configured(manifest.pointer("/server/mcp_config").ok_or("a bundle without a start line")?)?;
    Ok(StartLine {
        command: filled(&line.command),
        arguments: line.arguments.iter().map(|word| filled(word)).collect(),
        environment: line.environment.iter().map(|(name, value)| (name.clone(), filled(value))).collect(),
    })
}

/// The arguments of a registry entry's package, with an answer for each that has to be given.
pub fn of_package(package: &Value, command: &str, answers: &BTreeMap<&str, String>) -> Result<StartLine, String> {
    let mut arguments = Vec::new();
    for argument in package.get("packageArguments").and_then(Value::as_array).into_iter().flatten() {
        let text = |key: &str| argument.get(key).and_then(Value::as_str);
        let name = text("name");
        let required = argument.get("isRequired") == Some(&Value::Bool(true));
        let value = text("value").map(str::to_owned).or_else(|| name.and_then(|name| answers.get(name).cloned()));
        match value {
            Some(value) => arguments.extend(name.map(str::to_owned).into_iter().chain([value])),
            None if required => return Err(format!("{name:?} has to be given")),
            None => {}
        }
    }
    Ok(StartLine { command: command.to_owned(), arguments, environment: BTreeMap::new() })
}

/// Starts the server in an empty home, lists its workflows, and runs the first where it may: that run has to be done.
pub fn first_result(line: &StartLine, place: &Place) -> Result<(), String> {
    let room = place.room().map_err(|error| error.to_string())?;
    let mut command = Command::new(place.program(&place.filled(&line.command)));
    command.args(line.arguments.iter().map(|word| place.filled(word)));
    command.env_clear().envs(place.environment(&room)).current_dir(room.here());
    command.envs(line.environment.iter().map(|(name, value)| (name, place.filled(value))));
    let mut client = Client::greet(command)?;
    let listed = client.call("list_workflows", &json!({}))?;
    let workflow = listed.pointer("/workflows/0").ok_or("the server has no workflow")?;
    if listed.get("run_tools_enabled") == Some(&Value::Bool(true)) {
        let result = client.call("run_workflow", &piece_of_work(workflow))?;
        if result.get("outcome") != Some(&"done".into()) {
            return Err(format!("the first result is {result}"));
        }
    }
    client.leave()
}

/// A value of the right type for each input that is asked for.
fn piece_of_work(workflow: &Value) -> Value {
    let properties = workflow.pointer("/inputs/properties").and_then(Value::as_object).cloned().unwrap_or_default();
    let asked = workflow.pointer("/inputs/required").and_then(Value::as_array).cloned().unwrap_or_default();
    let value = |schema: &Value| match (schema.pointer("/enum/0"), schema.get("type").and_then(Value::as_str)) {
        (Some(choice), _) => choice.clone(),
        (None, Some("number")) => 1.into(),
        (None, Some("boolean")) => true.into(),
        _ => "made up".into(),
    };
    let inputs: Map<String, Value> = asked
        .iter()
        .filter_map(|name| Some((name.as_str()?.to_owned(), value(properties.get(name.as_str()?)?))))
        .collect();
    json!({ "workflow": workflow["name"], "request_id": "docs-first-result", "inputs": inputs })
}
