//! Frozen sets: which scenarios a Flow is judged with, by name and by content. What is on the list and wasn't run has failed.

use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::run::variables::hex;
use crate::scenario::{RequirementId, Scenario, ScenarioId};

pub const FROZEN_FORMAT: &str = "openadapt.frozen-set/v1";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrozenSet {
    pub description: String,
    /// Always [`FROZEN_FORMAT`].
    pub format: String,
    pub name: String,
    pub scenarios: Vec<FrozenScenario>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrozenScenario {
    pub id: ScenarioId,
    pub profile: String,
    pub proves: Vec<RequirementId>,
    /// Of the whole scenario, after cases were expanded and before variables have values.
    pub sha256: String,
}

#[derive(Debug, thiserror::Error)]
pub enum FrozenError {
    #[error("{0}")]
    Io(#[from] std::io::Error),
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    #[error("the list is no {FROZEN_FORMAT}")]
    Format,
    #[error("the frozen list names {0}, and there is no such scenario")]
    Missing(ScenarioId),
    #[error("{0} isn't the scenario that was frozen")]
    Changed(ScenarioId),
}

impl FrozenSet {
    /// The list that was built into this binary.
    pub fn embedded() -> Result<Self, FrozenError> {
        Self::parse(include_bytes!("../../frozen/flow-1.35.json"))
    }

    /// The list in a file, or the embedded one.
    pub fn of(file: Option<&Path>) -> Result<Self, FrozenError> {
        file.map_or_else(Self::embedded, |file| Self::parse(&std::fs::read(file)?))
    }

    fn parse(bytes: &[u8]) -> Result<Self, FrozenError> {
        let set: Self = serde_json::from_slice(bytes)?;
        if set.format == FROZEN_FORMAT { Ok(set) } else { Err(FrozenError::Format) }
    }

    /// Every scenario that plays with a real Flow.
    pub fn freeze(name: &str, known: &[Scenario]) -> Self {
        let bodies = known.iter().filter(|scenario| scenario.world.real_flow || scenario.world.is_for_any_engine());
        let frozen = bodies.map(|scenario| FrozenScenario {
            id: scenario.id.clone(),
            profile: scenario.profile.clone(),
            proves: scenario.proves.clone(),
            sha256: digest(scenario),
        });
        Self {
            description: format!(
                "The scenarios that a Flow of the set {name} is judged with; `conformance freeze` makes this list of their bodies."
            ),
            format: FROZEN_FORMAT.to_owned(),
            name: name.to_owned(),
            scenarios: frozen.collect(),
        }
    }

    /// The bodies of this list, in its order, each being the one that was frozen.
    pub fn bodies(&self, known: &[Scenario]) -> Result<Vec<Scenario>, FrozenError> {
        let body = |frozen: &FrozenScenario| {
            let found = known.iter().find(|scenario| scenario.id == frozen.id);
            let scenario = found.ok_or_else(|| FrozenError::Missing(frozen.id.clone()))?;
            let same = digest(scenario) == frozen.sha256;
            if same { Ok(scenario.clone()) } else { Err(FrozenError::Changed(frozen.id.clone())) }
        };
        self.scenarios.iter().map(body).collect()
    }

    pub fn digest(&self) -> String {
        hex(&Sha256::digest(self.to_json()))
    }

    /// As it stands in its file.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}

fn digest(scenario: &Scenario) -> String {
    hex(&Sha256::digest(serde_json::to_vec(scenario).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::source::Files;

    #[test]
    fn the_embedded_list_is_the_one_that_its_bodies_make() {
        let known = Files::embedded().scenarios().unwrap();
        let frozen = FrozenSet::embedded().unwrap();
        assert!(!frozen.scenarios.is_empty());
        frozen.bodies(&known).unwrap();
        assert_eq!(
            frozen,
            FrozenSet::freeze(&frozen.name, &known),
            "`conformance freeze > conformance/frozen/flow-1.35.json` renews it"
        );
    }

    #[test]
    fn a_body_that_is_gone_or_was_changed_is_no_frozen_one() {
        let mut known = Files::embedded().scenarios().unwrap();
        let frozen = FrozenSet::freeze("x", &known);
        let first = frozen.scenarios[0].id.clone();
        let at = known.iter().position(|scenario| scenario.id == first).unwrap();
        known[at].deadline_s += 1;
        assert!(matches!(frozen.bodies(&known), Err(FrozenError::Changed(id)) if id == first));
        known.remove(at);
        assert!(matches!(frozen.bodies(&known), Err(FrozenError::Missing(id)) if id == first));
    }
}
