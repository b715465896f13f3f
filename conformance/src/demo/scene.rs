//! What was seen of the cases: data, from which terminal and page are made.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::Case;
use crate::check::verdict::Judgement;
use crate::evidence::ClinicSeen;

/// Everything that was seen.
#[derive(Debug)]
pub struct Demo {
    /// What the agent calls itself.
    pub agent: String,
    pub scenes: Vec<Scene>,
    /// What the judge's own checks say of all that crossed the wire meanwhile.
    pub judgement: Judgement,
    pub took: Duration,
}

/// One case, played.
#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    pub case: Case,
    pub screen: Screen,
    /// As the judge read it at the app itself; none where no app was there.
    pub before: Option<Store>,
    pub after: Option<Store>,
    /// Every save that came in at the app meanwhile.
    pub writes: Vec<Write>,
    pub said: Said,
    pub pictures: Vec<Picture>,
    pub took: Duration,
}

/// What the screen came to, as the engine's checks of it have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Screen {
    /// No browser was opened.
    Nothing,
    /// The run stopped before it saved.
    Stopped,
    /// Save was clicked, and everything was seen that follows a save.
    Saved,
    /// Save was clicked, and something else was seen.
    NotSaved,
}

/// What the app's record store held at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Store {
    pub records: Vec<Value>,
    pub rejected: u64,
}

/// A save that came in at the app, from the app's own journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Write {
    pub stored: bool,
    /// The status that its client was told; none where the client had left.
    pub told: Option<u64>,
}

/// The agent's answer, as far as it is shown. The judge believes none of it.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Said {
    pub outcome: String,
    pub label: String,
    pub reason: String,
    pub what_happened: String,
    pub record_changed: String,
    pub proof: String,
    pub safe_to_retry: bool,
    pub run_id: String,
    pub sandbox: Sandbox,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Sandbox {
    pub engine: Engine,
    pub fallback: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    Flow,
    Driven,
    Simulated,
    #[default]
    #[serde(other)]
    Unnamed,
}

/// A picture that the engine took of its browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// The step after which it was taken, as the engine's report names it.
    pub step: String,
    pub png: Vec<u8>,
}

impl Demo {
    /// What played; the same for all scenes.
    pub fn engine(&self) -> Engine {
        self.scenes.first().map(|scene| scene.said.sandbox.engine).unwrap_or_default()
    }

    pub fn fallback(&self) -> Option<&str> {
        self.scenes.first()?.said.sandbox.fallback.as_deref()
    }
}

impl Scene {
    pub fn is_simulated(&self) -> bool {
        self.said.sandbox.engine == Engine::Simulated
    }

    /// How often the store holds this case's note that it didn't hold before.
    pub fn stored(&self) -> usize {
        let before = self.before.as_ref().map_or(0, |store| store.count(self.case.note));
        self.after.as_ref().map_or(0, |store| store.count(self.case.note)).saturating_sub(before)
    }
}

impl Store {
    fn count(&self, note: &str) -> usize {
        self.records.iter().filter(|row| row.get("note").and_then(Value::as_str) == Some(note)).count()
    }
}

impl From<&ClinicSeen> for Store {
    fn from(seen: &ClinicSeen) -> Self {
        Self { records: seen.records.clone(), rejected: seen.rejected }
    }
}

impl Write {
    /// The saves that these lines of the app's journal tell of.
    pub fn all_in(journal: &[Value]) -> Vec<Self> {
        let of = |line: &Value, event: &str| line.get("event").and_then(Value::as_str) == Some(event);
        let attempts = journal.iter().filter(|line| of(line, "attempt")).filter_map(|line| line.get("write"));
        attempts
            .map(|write| {
                let about = |event: &'static str| {
                    journal.iter().find(move |line| of(line, event) && line.get("write") == Some(write))
                };
                let changed = |line: &Value| line.get("effect").and_then(Value::as_str) == Some("inserted");
                Self {
                    stored: about("stored").is_some_and(changed),
                    told: about("told").and_then(|line| line.get("status")?.as_u64()),
                }
            })
            .collect()
    }
}

impl Engine {
    /// For a person.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Flow => "openadapt-flow in a real browser",
            Self::Driven => "a stand-in for openadapt-flow in a real browser",
            Self::Simulated => "simulated: no app was opened",
            Self::Unnamed => "an engine without a name",
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_save_is_told_of_by_the_apps_own_journal() {
        let journal = [
            json!({"event": "reset", "records": []}),
            json!({"event": "attempt", "write": 1}),
            json!({"event": "stored", "write": 1, "effect": "inserted"}),
            json!({"event": "told", "write": 1, "status": null}),
            json!({"event": "attempt", "write": 2}),
            json!({"event": "stored", "write": 2, "effect": "nothing"}),
            json!({"event": "told", "write": 2, "status": 409}),
        ];
        let expected = [Write { stored: true, told: None }, Write { stored: false, told: Some(409) }];
        assert_eq!(Write::all_in(&journal), expected);
        assert_eq!(Write::all_in(&journal[..1]), []);
    }

    #[test]
    fn an_answer_without_the_sandboxs_part_names_no_engine() {
        let said: Said = serde_json::from_value(json!({"outcome": "done"})).unwrap();
        assert_eq!((said.sandbox.engine, said.outcome.as_str()), (Engine::Unnamed, "done"));
        let said: Said = serde_json::from_value(json!({"sandbox": {"case": "normal", "engine": "driven"}})).unwrap();
        assert_eq!(said.sandbox.engine, Engine::Driven);
    }
}
