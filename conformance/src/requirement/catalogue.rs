//! Requirements: sentences of the design, each with a name for ever. `scenarios/requirements/README.md` explains the keys.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::scenario::expand::json_object;
use crate::scenario::source::Files;
use crate::scenario::{RequirementId, Scenario};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Requirement {
    pub id: RequirementId,
    pub level: Level,
    /// The sentence as its source has it.
    pub text: String,
    /// Which part of the sentence this row is.
    pub fact: Option<String>,
    pub source: String,
    /// The frozen set that it came with.
    pub since: String,
    pub observable: Observable,
    /// `now`, or `later: what it waits for`.
    pub reach: Reach,
    /// Why nothing outside can prove it.
    pub excluded: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    Must,
    Should,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Observable {
    Wire,
    Record,
    Effect,
    Process,
    Ui,
    None,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Reach {
    Now,
    Later(String),
}

/// Every requirement, by id.
#[derive(Debug, Clone, Default)]
pub struct Catalogue(BTreeMap<RequirementId, Requirement>);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CatalogueError {
    #[error("{file}: {problem}")]
    Bad { file: String, problem: String },
    #[error("{0} is the id of two requirements")]
    Twice(RequirementId),
    #[error("{scenario} proves {requirement}, which is no requirement")]
    Unknown { scenario: String, requirement: RequirementId },
    #[error("{scenario} proves {requirement}, which is excluded: {why}")]
    Excluded { scenario: String, requirement: RequirementId, why: String },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RequirementFile {
    requirement: Vec<Requirement>,
}

impl Catalogue {
    pub fn read(files: &Files) -> Result<Self, CatalogueError> {
        let mut rows = BTreeMap::new();
        for (file, text) in files.requirements() {
            let bad = |problem: String| CatalogueError::Bad { file: file.to_owned(), problem };
            let table: toml::Table = toml::from_str(text).map_err(|error| bad(error.to_string()))?;
            let json = json_object(table).map_err(&bad)?;
            let file: RequirementFile = serde_json::from_value(json.into()).map_err(|error| bad(error.to_string()))?;
            for row in file.requirement {
                if let Some(first) = rows.insert(row.id.clone(), row) {
                    return Err(CatalogueError::Twice(first.id));
                }
            }
        }
        Ok(Self(rows))
    }

    /// Every id that a scenario says it proves is a row that can be proved.
    pub fn covers(&self, scenarios: &[Scenario]) -> Result<(), CatalogueError> {
        for scenario in scenarios {
            for requirement in &scenario.proves {
                let (id, name) = (requirement.clone(), scenario.id.to_string());
                match self.get(requirement) {
                    None => return Err(CatalogueError::Unknown { scenario: name, requirement: id }),
                    Some(Requirement { excluded: Some(why), .. }) => {
                        let why = why.clone();
                        return Err(CatalogueError::Excluded { scenario: name, requirement: id, why });
                    }
                    Some(_) => {}
                }
            }
        }
        Ok(())
    }

    pub fn get(&self, id: &RequirementId) -> Option<&Requirement> {
        self.0.get(id)
    }

    pub fn rows(&self) -> impl Iterator<Item = &Requirement> {
        self.0.values()
    }
}

impl Requirement {
    /// The sentence, and the part of it that this row is.
    pub fn sentence(&self) -> String {
        match &self.fact {
            Some(fact) => format!("{} [{fact}]", self.text),
            None => self.text.clone(),
        }
    }
}

impl TryFrom<String> for Reach {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "now" => Ok(Self::Now),
            Some(("later", what)) if !what.trim().is_empty() => Ok(Self::Later(what.trim().to_owned())),
            _ => Err(format!("{text:?} is neither \"now\" nor \"later: what it waits for\"")),
        }
    }
}

impl From<Reach> for String {
    fn from(reach: Reach) -> Self {
        match reach {
            Reach::Now => "now".into(),
            Reach::Later(what) => format!("later: {what}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_catalogue_is_well_formed_and_covers_the_embedded_scenarios() {
        let files = Files::embedded();
        let catalogue = Catalogue::read(&files).unwrap();
        assert!(catalogue.rows().count() > 0);
        catalogue.covers(&files.scenarios().unwrap()).unwrap();
    }

    #[test]
    fn reach_is_now_or_says_what_it_waits_for() {
        assert_eq!(Reach::try_from("now".to_owned()), Ok(Reach::Now));
        assert_eq!(Reach::try_from("later: real Flow".to_owned()), Ok(Reach::Later("real Flow".into())));
        assert!(Reach::try_from("later".to_owned()).is_err());
    }
}
