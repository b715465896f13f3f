//! What may be known of a window: an allow-list by construction, made of places, kinds and guarded labels. Whatever the session says
//! besides has no field to stand in. Source: agent, 9.2; the design, *Recording tools*.

mod node;

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::contract::outcome::closed_words;
use node::{Bounds, Node};

pub use node::NodeId;

const SCHEMA_VERSION: &str = "openadapt.authoring.observe/v1";
/// So many nodes are told of.
const NODES: usize = 200;
/// So large may the whole be, as JSON without white space.
const BYTES: usize = 32 * 1024;
/// More than these are not even looked at.
const LOOKED_AT: usize = 20_000;

closed_words! {
    /// What kind of window is pinned.
    Backend {
        Web = "web",
        Macos = "macos",
        Linux = "linux",
        Windows = "windows",
        Rdp = "rdp",
        Citrix = "citrix",
    }
}

closed_words! {
    /// Who told of the window.
    Provider {
        PlaywrightAx = "playwright_ax",
        MacosAx = "macos_ax",
        WindowsUia = "windows_uia",
        LinuxAtspi = "linux_atspi",
        None = "none",
    }
}

/// What the server knows by itself of the session whose window is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    pub backend: Backend,
    pub coach_only: bool,
    pub recording: bool,
}

/// A window as it is told of.
#[derive(Debug, Clone, PartialEq)]
pub struct Observed {
    backend: Backend,
    provider: Provider,
    agent_drive: bool,
    coach_only: bool,
    recording: bool,
    window: Option<Window>,
    tree: Vec<Node>,
    truncated: bool,
}

/// The window itself, without its title.
#[derive(Debug, Clone, PartialEq)]
struct Window {
    process_name: String,
    bounds: Bounds,
}

impl Backend {
    /// Screens of remote windows are pictures, and a native Windows app has no tree yet.
    const fn has_tree(self) -> bool {
        matches!(self, Self::Web | Self::Macos | Self::Linux)
    }
}

impl Observed {
    /// Takes of what a session says the fields that there are here, each by its own rule.
    pub fn project(said: &Value, known: Known) -> Self {
        let word = |key| said.get(key).and_then(Value::as_str);
        let agrees = word("backend") == Some(known.backend.as_str());
        let coach_only = known.coach_only || !agrees || said.get("coach_only") == Some(&Value::Bool(true));
        let backend = if agrees || known.coach_only { known.backend } else { Backend::Windows };
        let window = if agrees { said.get("window").and_then(Window::read) } else { None };
        let empty = Self {
            backend,
            provider: Provider::None,
            agent_drive: !coach_only && window.is_some(),
            coach_only,
            recording: known.recording,
            window,
            tree: Vec::new(),
            truncated: false,
        };
        if coach_only || !backend.has_tree() {
            return empty;
        }
        let mut observed =
            Self { provider: word("provider").and_then(Provider::parse).unwrap_or(Provider::None), ..empty };
        observed.plant(said.get("tree").and_then(Value::as_array).map_or(&[][..], Vec::as_slice));
        observed.truncated |= said.get("truncated") == Some(&Value::Bool(true));
        observed.fit();
        observed
    }

    pub fn to_object(&self) -> Map<String, Value> {
        let mut object = Map::new();
        let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
        put("schema_version", SCHEMA_VERSION.into());
        put("backend", self.backend.as_str().into());
        put("provider", self.provider.as_str().into());
        put("mode", "authoring".into());
        put("agent_drive", self.agent_drive.into());
        put("coach_only", self.coach_only.into());
        put("recording", self.recording.into());
        if let Some(Window { process_name, bounds }) = &self.window {
            put("window", json!({ "process_name": process_name, "role": "window", "bounds": bounds.to_value() }));
        }
        put("tree", self.tree.iter().map(Node::to_value).collect());
        put("truncated", self.truncated.into());
        put("node_count", self.tree.len().into());
        if self.tree.is_empty() {
            put("reason", "empty_projection".into());
        }
        object
    }

    /// A node without a sound place, state or name is left out; so is a second one of the same name.
    fn plant(&mut self, said: &[Value]) {
        let mut taken: BTreeSet<NodeId> = BTreeSet::new();
        self.truncated = said.len() > LOOKED_AT;
        for node in said.iter().take(LOOKED_AT).filter_map(Node::read) {
            if self.tree.len() == NODES {
                self.truncated = true;
                return;
            }
            if taken.insert(node.id) {
                self.tree.push(node);
            }
        }
    }

    /// Lets go of nodes from the end until the whole is small enough.
    fn fit(&mut self) {
        let with_truncated = Self { truncated: true, ..self.clone() };
        let frame = Self { tree: Vec::new(), ..with_truncated };
        let mut size = Value::Object(frame.to_object()).to_string().len();
        let mut kept = 0;
        for node in &self.tree {
            size += node.to_value().to_string().len() + 1;
            if size > BYTES {
                break;
            }
            kept += 1;
        }
        self.truncated |= kept < self.tree.len();
        self.tree.truncate(kept);
    }
}

impl Window {
    fn read(said: &Value) -> Option<Self> {
        let process_name = said.get("process_name")?.as_str()?.to_owned();
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b" ._-".contains(&byte);
        let sound = (1..=64).contains(&process_name.len()) && process_name.bytes().all(plain);
        let digits = process_name.bytes().filter(u8::is_ascii_digit).count();
        let bounds = Bounds::read(said.get("bounds")?)?;
        (sound && digits < 6).then_some(Self { process_name, bounds })
    }
}

#[cfg(test)]
mod tests;
