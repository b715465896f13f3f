//! Values that exist only while a world runs: `$rid`, `$canary:note`, `$runs`, and what was captured from answers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::leak::Marks;

/// The names that a scenario's strings may use, and their values.
#[derive(Debug, Clone)]
pub struct Variables {
    /// Random, different for each world: makes request ids unique.
    salt: String,
    values: BTreeMap<String, Value>,
    pub marks: Marks,
    folders: Folders,
}

/// The folders of one world.
#[derive(Debug, Clone)]
pub struct Folders {
    pub world: PathBuf,
    pub home: PathBuf,
    pub bundles: PathBuf,
    pub runs: PathBuf,
    pub tmp: PathBuf,
    pub control: PathBuf,
    pub script: PathBuf,
    pub journal: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VariableError {
    #[error("${0} is no variable here")]
    Unknown(String),
    #[error("with variables filled in: {0}")]
    Shape(String),
}

impl Folders {
    pub fn store(&self) -> PathBuf {
        self.runs.join("openadapt-agent")
    }
}

impl Variables {
    pub fn new(folders: Folders, marks: Marks) -> Self {
        let salt = uuid::Uuid::new_v4().simple().to_string()[..12].to_owned();
        Self { salt, values: BTreeMap::new(), marks, folders }
    }

    pub fn folders(&self) -> &Folders {
        &self.folders
    }

    pub fn set(&mut self, name: &str, value: Value) {
        self.values.insert(name.to_owned(), value);
    }

    pub fn unset(&mut self, name: &str) {
        self.values.remove(name);
    }

    /// A typed value of the scenario, with every variable filled in.
    pub fn resolve<T: Serialize + DeserializeOwned>(&mut self, written: &T) -> Result<T, VariableError> {
        let shape = |error: serde_json::Error| VariableError::Shape(error.to_string());
        let value = self.fill(serde_json::to_value(written).map_err(shape)?)?;
        serde_json::from_value(value).map_err(shape)
    }

    pub fn fill(&mut self, value: Value) -> Result<Value, VariableError> {
        Ok(match value {
            Value::String(text) if text.contains('$') => self.fill_text(&text)?,
            Value::Array(items) => {
                Value::Array(items.into_iter().map(|item| self.fill(item)).collect::<Result<_, _>>()?)
            }
            Value::Object(table) => {
                let mut filled = Map::new();
                for (key, inner) in table {
                    let key = if key.contains('$') { as_text(&self.fill_text(&key)?) } else { key };
                    filled.insert(key, self.fill(inner)?);
                }
                Value::Object(filled)
            }
            other => other,
        })
    }

    pub fn text(&mut self, text: &str) -> Result<String, VariableError> {
        Ok(as_text(&self.fill_text(text)?))
    }

    fn fill_text(&mut self, text: &str) -> Result<Value, VariableError> {
        let mut whole = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('$') {
            whole.push_str(before);
            if let Some(after) = after.strip_prefix('$') {
                whole.push('$');
                rest = after;
                continue;
            }
            let name = &after[..name_length(after)];
            if name.is_empty() {
                // A dollar that starts no name, as in a regular expression's end.
                whole.push('$');
                rest = after;
                continue;
            }
            let (value, used) = self.longest(name)?;
            rest = &after[used..];
            if whole.is_empty() && rest.is_empty() {
                return Ok(value);
            }
            whole.push_str(&as_text(&value));
        }
        whole.push_str(rest);
        Ok(Value::String(whole))
    }

    /// The value of the longest prefix of `name` that is a variable: `$sha256:rid:1` is `$sha256:rid` and `:1`.
    fn longest(&mut self, name: &str) -> Result<(Value, usize), VariableError> {
        let ends = name.match_indices(':').map(|(end, _)| end).chain([name.len()]).collect::<Vec<_>>();
        for end in ends.into_iter().rev() {
            if let Some(value) = self.lookup(&name[..end]) {
                return Ok((value, end));
            }
        }
        Err(VariableError::Unknown(name.to_owned()))
    }

    fn lookup(&mut self, name: &str) -> Option<Value> {
        if let Some(value) = self.values.get(name) {
            return Some(value.clone());
        }
        let (word, rest) = name.split_once(':').map_or((name, None), |(word, rest)| (word, Some(rest)));
        let folders = &self.folders;
        let store = folders.store();
        let path = |path: &Path| Some(Value::from(path.display().to_string()));
        match (word, rest) {
            ("world", None) => path(&folders.world),
            ("home", None) => path(&folders.home),
            ("bundles", None) => path(&folders.bundles),
            ("runs", None) => path(&folders.runs),
            ("tmp", None) => path(&folders.tmp),
            ("store", None) => path(&store),
            ("ledger", None) => path(&store.join("ledger.sqlite")),
            ("key", None) => path(&store.join("fingerprint.key")),
            ("rid", None) => Some(format!("req-{}", self.salt).into()),
            ("rid", Some(which)) if plain(which) => Some(format!("req-{which}-{}", self.salt).into()),
            ("canary", Some(which)) if plain(which) => Some(self.marks.canary(which).into()),
            ("record", Some(run)) => path(&store.join("runs").join(format!("{}.json", self.own_text(run)?))),
            ("rundir", Some(run)) => path(&folders.runs.join(self.own_text(run)?)),
            ("attention", Some(run)) => Some(hex(&Sha256::digest(self.own_text(run)?.as_bytes()))[..24].into()),
            ("dispatch", Some(run)) => path(&store.join("dispatch").join(self.own_text(run)?)),
            ("index", Some(id)) => path(&store.join("requests").join(format!("{}.json", self.digest(id)?))),
            ("index40", Some(id)) => path(&store.join("requests").join(format!("{}.json", &self.digest(id)?[..40]))),
            ("sha256", Some(id)) => Some(self.digest(id)?.into()),
            ("sha40", Some(id)) => Some(self.digest(id)?[..40].into()),
            _ => None,
        }
    }

    fn own_text(&self, name: &str) -> Option<String> {
        self.values.get(name).and_then(Value::as_str).map(str::to_owned)
    }

    fn digest(&mut self, name: &str) -> Option<String> {
        let text = as_text(&self.lookup(name)?);
        Some(hex(&Sha256::digest(text.as_bytes())))
    }
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn name_length(text: &str) -> usize {
    let named = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b':' || byte == b'-';
    match text.as_bytes().first() {
        Some(first) if first.is_ascii_alphabetic() => {}
        _ => return 0,
    }
    let end = text.bytes().position(|byte| !named(byte)).unwrap_or(text.len());
    // A dash belongs to a name only after a colon: `$rid-2` is `$rid` and `-2`, `$workflow:no-card` is one name.
    let end = match (text[..end].find('-'), text[..end].find(':')) {
        (Some(dash), Some(colon)) if colon < dash => end,
        (Some(dash), _) => dash,
        (None, _) => end,
    };
    text[..end].trim_end_matches([':', '-']).len()
}

/// A name of a request id or a canary: starts with a letter, so that `$sha256:rid:1` ends before the 1.
fn plain(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic()) && !name.contains(':')
}

fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use serde_json::json;

    pub(crate) fn some_folders(world: &Path) -> Folders {
        Folders {
            world: world.into(),
            home: world.join("home"),
            bundles: world.join("bundles"),
            runs: world.join("runs"),
            tmp: world.join("tmp"),
            control: world.join("control"),
            script: world.join("script.json"),
            journal: world.join("journal.jsonl"),
        }
    }

    fn variables() -> Variables {
        let mut variables = Variables::new(some_folders(Path::new("/w")), Marks::random());
        variables.set("run", json!("run-1"));
        variables.set("seconds", json!(3));
        variables.set("workflow:no-card", json!("workflow_ab"));
        variables
    }

    #[test]
    fn a_lone_variable_keeps_its_type_and_others_become_text() {
        let mut variables = variables();
        assert_eq!(
            variables.fill(json!(["$seconds", "$seconds s", "$$5", "^a$"])).unwrap(),
            json!([3, "3 s", "$5", "^a$"])
        );
    }

    #[test]
    fn names_end_where_the_longest_known_one_ends() {
        let mut variables = variables();
        assert_eq!(variables.text("$runs/$run.json").unwrap(), "/w/runs/run-1.json");
        assert_eq!(variables.text("$record:run").unwrap(), "/w/runs/openadapt-agent/runs/run-1.json");
        assert_eq!(variables.text("run_$workflow:no-card").unwrap(), "run_workflow_ab");
        let rid = variables.text("$rid").unwrap();
        assert_eq!(variables.text("$rid-2").unwrap(), format!("{rid}-2"));
        let key = variables.text("$sha256:rid:1").unwrap();
        assert_eq!(key, format!("{}:1", hex(&Sha256::digest(rid.as_bytes()))));
        assert_ne!(variables.text("$rid:other").unwrap(), rid);
    }

    #[test]
    fn canaries_are_stable_within_a_world_and_different_across_worlds() {
        let (mut one, mut other) = (variables(), variables());
        let canary = one.text("$canary:note").unwrap();
        assert_eq!(one.text("$canary:note").unwrap(), canary);
        assert_ne!(other.text("$canary:note").unwrap(), canary);
        assert_eq!(one.marks.handed_out()["note"], canary);
    }

    #[test]
    fn an_unknown_name_is_an_error_and_never_empty_text() {
        assert_eq!(variables().text("$nothing"), Err(VariableError::Unknown("nothing".into())));
    }
}
