//! From JSON text to plays. Nothing unknown is accepted: a misspelled key would silently play something else.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{BridgeSpec, Play, Script, ScriptError, Step, When};

pub fn script(text: &[u8]) -> Result<Script, ScriptError> {
    let value: Value = serde_json::from_slice(text).map_err(|error| malformed(error.to_string()))?;
    let Value::Object(mut top) = value else {
        return Err(malformed("it isn't a JSON object"));
    };
    top.remove("$schema");
    let bridge = top.remove("bridge").map(BridgeSpec::parse).transpose()?;
    let certify = top.remove("certify");
    let plays = match (top.remove("plays"), top.remove("steps")) {
        (Some(Value::Array(plays)), None) if !plays.is_empty() => {
            plays.into_iter().enumerate().map(|(at, play)| read_play(at + 1, play)).collect::<Result<_, _>>()?
        }
        (None, None) if bridge.is_some() || certify.is_some() => Vec::new(),
        (None, Some(steps)) => vec![Play { when: When::default(), steps: read_steps(1, steps)? }],
        (Some(_), None) => return Err(malformed("`plays` isn't a list with a play in it")),
        _ => return Err(malformed("it has neither or both of `plays` and `steps`")),
    };
    refuse_leftovers(&top, "the script")?;
    Ok(Script { plays, bridge: bridge.unwrap_or_default(), certify: typed(certify, "`certify`")? })
}

fn read_play(number: usize, value: Value) -> Result<Play, ScriptError> {
    let Value::Object(mut play) = value else {
        return Err(malformed(format!("play {number} isn't an object")));
    };
    let when = typed::<When>(play.remove("when"), &format!("`when` of play {number}"))?;
    let steps = play.remove("steps").ok_or_else(|| malformed(format!("play {number} has no `steps`")))?;
    refuse_leftovers(&play, &format!("play {number}"))?;
    Ok(Play { when, steps: read_steps(number, steps)? })
}

fn read_steps(play: usize, value: Value) -> Result<Vec<Step>, ScriptError> {
    list(play, value, Step::parse)
}

/// A list of steps; `play` is 0 for one of the bridge's.
pub fn list<T>(
    play: usize,
    value: Value,
    parse: impl Fn(&str, Option<Value>) -> Result<T, String>,
) -> Result<Vec<T>, ScriptError> {
    let Value::Array(steps) = value else {
        return Err(malformed(format!("`steps` of play {play} isn't a list")));
    };
    steps
        .into_iter()
        .enumerate()
        .map(|(at, step)| {
            let (name, argument) = split(step).map_err(|(name, problem)| ScriptError::Step {
                play,
                index: at + 1,
                name,
                problem: problem.into(),
            })?;
            parse(&name, argument).map_err(|problem| ScriptError::Step { play, index: at + 1, name, problem })
        })
        .collect()
}

/// The name of a step and its argument; a word has none.
fn split(step: Value) -> Result<(String, Option<Value>), (String, &'static str)> {
    match step {
        Value::String(name) => Ok((name, None)),
        Value::Object(map) if map.len() == 1 => map
            .into_iter()
            .next()
            .map(|(name, argument)| (name, Some(argument)))
            .ok_or(("nothing".into(), "it is empty")),
        other => Err((other.to_string().chars().take(60).collect(), "it is neither a word nor an object with one key")),
    }
}

fn typed<T: DeserializeOwned + Default>(value: Option<Value>, what: &str) -> Result<T, ScriptError> {
    match value {
        None => Ok(T::default()),
        Some(value) => serde_json::from_value(value).map_err(|error| malformed(format!("{what}: {error}"))),
    }
}

fn refuse_leftovers(map: &Map<String, Value>, what: &str) -> Result<(), ScriptError> {
    match map.keys().next() {
        None => Ok(()),
        Some(key) => Err(malformed(format!("{what} has an unknown key `{key}`"))),
    }
}

fn malformed(problem: impl Into<String>) -> ScriptError {
    ScriptError::Malformed { problem: problem.into() }
}
