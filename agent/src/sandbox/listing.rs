//! What `list_workflows` and the operator are told about the sandbox: which engine, why, and what each case shows.

use serde_json::{Map, Value, json};

use super::room::{Chosen, Sandbox};
use super::{EngineChoice, case, lacking};
use crate::contract::copy::simulated_because;
use crate::contract::sandbox::{SandboxCase, SandboxEngine};

const APP: &str = "MockMed, a made-up clinic";
const PREPARING: &str = "The engine is being prepared. The first run waits for it.";
const STAND_IN: &str =
    "A stand-in for the engine works in a real browser on the made-up app, and reads the app's record store back.";
const REAL: &str = "The real engine works in a real browser on the made-up app, and reads the app's record store back.";
const AS_ASKED: &str = "No app is opened, as the operator asked.";

impl Sandbox {
    /// False where no run can be started.
    pub fn is_available(&self) -> bool {
        !matches!(self.chosen_now(), Some(Chosen::Unavailable(_)))
    }

    /// The `sandbox` block of `list_workflows`.
    pub fn block(&self) -> Map<String, Value> {
        let chosen = self.chosen_now();
        let cases = SandboxCase::ALL.iter().map(|it| {
            json!({
                "case": it.as_str(),
                "outcome": case::outcome(*it).as_str(),
                "what_it_shows": case::what_it_shows(*it),
            })
        });
        let block = [
            ("engine", self.engine_word(chosen.as_ref()).into()),
            ("app", APP.into()),
            ("ready", matches!(chosen, Some(Chosen::Staged(_) | Chosen::Simulated { .. })).into()),
            ("cases", cases.collect()),
            ("engine_detail", chosen.as_ref().map_or_else(|| PREPARING.to_owned(), detail).into()),
        ];
        block.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }

    /// What the operator reads when the server starts.
    pub fn banner(&self) -> String {
        match self.chosen_now().filter(|_| self.was_chosen_at_once()) {
            Some(chosen) => operators_line(&chosen),
            None => "sandbox: the engine is being prepared; the first run waits for it.\n".to_owned(),
        }
    }

    fn engine_word(&self, chosen: Option<&Chosen>) -> &'static str {
        match (chosen.and_then(|chosen| chosen.facts(self.choice()).engine), self.choice()) {
            (Some(engine), _) | (None, EngineChoice::Named(engine)) => engine.as_str(),
            (None, EngineChoice::Auto) => "auto",
        }
    }
}

/// Which engine it is and why, in the operator's words.
pub fn operators_line(chosen: &Chosen) -> String {
    match chosen {
        Chosen::Staged(stage) => format!("sandbox: engine {} is ready on {APP}.\n", stage.engine().as_str()),
        Chosen::Simulated { fallback: None } => "sandbox: simulated, as asked; no app is opened.\n".to_owned(),
        Chosen::Simulated { fallback: Some(why) } => format!(
            "sandbox: simulated, because {}; no app is opened.\n\nhint: {}.\n",
            lacking::sentence(*why),
            lacking::hint(*why)
        ),
        Chosen::Unavailable(why) => {
            format!("sandbox: no run can start: {}.\n\nhint: {}.\n", lacking::sentence(*why), lacking::hint(*why))
        }
    }
}

fn detail(chosen: &Chosen) -> String {
    match chosen {
        Chosen::Staged(stage) if stage.engine() == SandboxEngine::Flow => REAL.to_owned(),
        Chosen::Staged(_) => STAND_IN.to_owned(),
        Chosen::Simulated { fallback: None } => AS_ASKED.to_owned(),
        Chosen::Simulated { fallback: Some(why) } => {
            format!("{} For the operator: {}.", simulated_because(*why), lacking::hint(*why))
        }
        Chosen::Unavailable(why) => {
            format!("No run can start: {}. For the operator: {}.", lacking::sentence(*why), lacking::hint(*why))
        }
    }
}
