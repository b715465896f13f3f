//! The engine over its bridge: what it says of itself, and what it prepares. Source: docs/flow-bridge.md.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::leash::Leash;
use crate::contract::sandbox::{Lacking, SandboxEngine};
use crate::flow::bridge::command::BridgeCommand;
use crate::flow::bridge::process::BridgeProcess;

const HELLO_WITHIN: Duration = Duration::from_secs(60);
/// A real engine records the workflow first.
const PREPARED_WITHIN: Duration = Duration::from_secs(900);

/// A bridge that can prepare a sandbox. Dropping it ends the bridge.
pub struct Engine {
    bridge: Arc<BridgeProcess>,
    is: SandboxEngine,
}

/// What runs are started with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared {
    /// The engine's command line, before its verb.
    pub command: Vec<String>,
    pub bundle: PathBuf,
}

impl Engine {
    /// Starts the bridge and hears what it says of itself.
    pub fn greet(command: &BridgeCommand, leash: &Leash) -> Result<Self, Lacking> {
        let bridge = Arc::new(BridgeProcess::start(command).map_err(|_| Lacking::NoEngine)?);
        leash.hold(&bridge);
        let hello = match bridge.ask("hello", Map::new(), HELLO_WITHIN) {
            Ok(hello) => hello,
            Err(_) => return Err(failed(&bridge)),
        };
        match engine_of(&hello) {
            Ok(is) => Ok(Self { bridge, is }),
            Err(lacking) => Err(lacking),
        }
    }

    pub fn is(&self) -> SandboxEngine {
        self.is
    }

    /// Has the workflow prepared below `folder`, for an app at `url`.
    pub fn prepare(&self, folder: &Path, url: &str, headed: bool) -> Result<Prepared, Lacking> {
        let fields = json!({"folder": folder.to_string_lossy(), "url": url, "headed": headed});
        let Value::Object(fields) = fields else { return Err(Lacking::EngineFailed) };
        let answer = self.bridge.ask("sandbox.prepare", fields, PREPARED_WITHIN).map_err(|_| failed(&self.bridge))?;
        prepared(&answer, self.is)
    }
}

fn failed(bridge: &BridgeProcess) -> Lacking {
    bridge.end();
    Lacking::EngineFailed
}

/// Which engine answers. One that knows nothing of sandboxes has none built in.
fn engine_of(hello: &Map<String, Value>) -> Result<SandboxEngine, Lacking> {
    if hello.get("ok") != Some(&Value::Bool(true)) {
        return Err(match hello.get("kind").and_then(Value::as_str) {
            Some("no_flow" | "other_version") => Lacking::NoEngine,
            _ => Lacking::EngineFailed,
        });
    }
    let says = |key| hello.get(key).and_then(Value::as_bool).unwrap_or_default();
    match (says("sandbox"), says("stand_in")) {
        (true, true) => Ok(SandboxEngine::Driven),
        (true, false) => Ok(SandboxEngine::Flow),
        (false, _) if !hello.contains_key("sandbox_reason") => Err(Lacking::NotBuilt),
        (false, _) => Err(why(hello).unwrap_or(Lacking::EngineFailed)),
    }
}

/// The closed word for what is missing, where the engine says one that is known here.
fn why(answer: &Map<String, Value>) -> Option<Lacking> {
    answer.get("sandbox_reason").and_then(Value::as_str).and_then(Lacking::parse)
}

/// The answer names the engine that said hello, a bundle that is there and a command line.
fn prepared(answer: &Map<String, Value>, is: SandboxEngine) -> Result<Prepared, Lacking> {
    let text = |key| answer.get(key).and_then(Value::as_str);
    let read = || {
        let words = answer.get("command")?.as_array()?;
        let command: Vec<String> = words.iter().map(|word| word.as_str().map(str::to_owned)).collect::<Option<_>>()?;
        let bundle = PathBuf::from(text("bundle")?);
        let sound = answer.get("ok") == Some(&Value::Bool(true))
            && text("engine") == Some(is.as_str())
            && !command.is_empty()
            && bundle.is_absolute()
            && bundle.is_dir();
        sound.then_some(Prepared { command, bundle })
    };
    read().ok_or_else(|| why(answer).unwrap_or(Lacking::EngineFailed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        if let Value::Object(object) = value { object } else { panic!("an object was expected") }
    }

    #[test]
    fn an_engine_is_what_it_says_of_itself() {
        let of = |hello: Value| engine_of(&object(hello));
        assert_eq!(of(json!({"ok": true, "stand_in": true, "sandbox": true})), Ok(SandboxEngine::Driven));
        assert_eq!(of(json!({"ok": true, "stand_in": false, "sandbox": true})), Ok(SandboxEngine::Flow));
        assert_eq!(of(json!({"ok": true, "sandbox": true})), Ok(SandboxEngine::Flow));
        assert_eq!(of(json!({"ok": true, "attended": true, "live": false})), Err(Lacking::NotBuilt));
        let lacks =
            |reason: &str| of(json!({"ok": true, "stand_in": true, "sandbox": false, "sandbox_reason": reason}));
        assert_eq!(lacks("no_browser"), Err(Lacking::NoBrowser));
        assert_eq!(lacks("no_driver"), Err(Lacking::NoDriver));
        assert_eq!(lacks("a sentence of its own"), Err(Lacking::EngineFailed));
        assert_eq!(of(json!({"ok": false, "kind": "failed"})), Err(Lacking::EngineFailed));
        assert_eq!(of(json!({"ok": false, "kind": "other_version", "flow_version": "2.4.0"})), Err(Lacking::NoEngine));
    }

    #[test]
    fn only_a_whole_answer_of_the_same_engine_prepares_anything() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let bundle = folder.path().to_string_lossy().into_owned();
        let sound = json!({"ok": true, "engine": "driven", "bundle": bundle, "command": ["flow-fake"]});
        let is = |answer: &Value| prepared(&object(answer.clone()), SandboxEngine::Driven);
        assert_eq!(is(&sound).map(|it| it.command), Ok(vec!["flow-fake".to_owned()]));
        for (key, value) in [
            ("ok", json!(false)),
            ("engine", json!("flow")),
            ("bundle", json!("bundle")),
            ("bundle", json!("/no/such/folder")),
            ("bundle", json!(null)),
            ("command", json!([])),
            ("command", json!(["flow-fake", 1])),
            ("command", json!("flow-fake")),
        ] {
            let mut broken = sound.clone();
            broken[key] = value;
            assert_eq!(is(&broken), Err(Lacking::EngineFailed), "{key}");
        }
        let refused = |why: &str| is(&json!({"ok": false, "kind": "failed", "sandbox_reason": why}));
        assert_eq!(refused("no_browser"), Err(Lacking::NoBrowser));
        assert_eq!(refused("browser_failed"), Err(Lacking::BrowserFailed));
        assert_eq!(refused("folder_failed"), Err(Lacking::EngineFailed));
    }
}
