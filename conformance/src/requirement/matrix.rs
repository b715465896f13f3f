//! Requirements × what a run showed. The denominator is every row that isn't excluded.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::catalogue::{Catalogue, Level, Observable, Reach};
use crate::check::verdict::Judgement;
use crate::scenario::{RequirementId, Scenario, ScenarioId};

/// What is known of one requirement after a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Every scenario that proves it was run and passed.
    Proven,
    /// A scenario that proves it failed.
    Failed,
    /// Scenarios prove it; this run selected none of them, or not all.
    NotRun,
    /// Nothing outside can see it; the project's own tests hold it.
    Checked,
    Excluded,
    /// No scenario proves it.
    Untested,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    pub id: RequirementId,
    pub level: Level,
    pub state: State,
    /// The sentence, and the part of it that the row is.
    pub sentence: String,
    pub source: String,
    /// Why it is excluded, or what it waits for.
    pub why: Option<String>,
    pub scenarios: Vec<ScenarioId>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Matrix {
    pub rows: Vec<Row>,
}

impl Matrix {
    /// `known` are all scenarios of the set, selected or not: a row that only unselected ones prove is not untested.
    pub fn of(catalogue: &Catalogue, known: &[Scenario], judgements: &[Judgement]) -> Self {
        let passed: BTreeMap<&ScenarioId, bool> =
            judgements.iter().map(|judgement| (&judgement.scenario, judgement.passed())).collect();
        let mut proving: BTreeMap<&RequirementId, Vec<&ScenarioId>> = BTreeMap::new();
        for scenario in known {
            for requirement in &scenario.proves {
                proving.entry(requirement).or_default().push(&scenario.id);
            }
        }
        let rows = catalogue.rows().map(|row| {
            let scenarios = proving.remove(&row.id).unwrap_or_default();
            let outcomes: Vec<Option<bool>> = scenarios.iter().map(|id| passed.get(id).copied()).collect();
            let state = match row.excluded {
                Some(_) => State::Excluded,
                None if outcomes.contains(&Some(false)) => State::Failed,
                None if outcomes.is_empty() && row.observable == Observable::None => State::Checked,
                None if outcomes.is_empty() => State::Untested,
                None if outcomes.iter().all(|outcome| *outcome == Some(true)) => State::Proven,
                None => State::NotRun,
            };
            let waits = match &row.reach {
                Reach::Later(what) => Some(what.clone()),
                Reach::Now => None,
            };
            Row {
                id: row.id.clone(),
                level: row.level,
                state,
                sentence: row.sentence(),
                source: row.source.clone(),
                why: row.excluded.clone().or(waits),
                scenarios: scenarios.into_iter().cloned().collect(),
            }
        });
        Self { rows: rows.collect() }
    }

    pub fn count(&self, state: State) -> usize {
        self.rows.iter().filter(|row| row.state == state).count()
    }

    /// Rows that could be proven: all but the excluded and those that the project's own tests hold.
    pub fn denominator(&self) -> usize {
        self.rows.len() - self.count(State::Excluded) - self.count(State::Checked)
    }

    /// MUST rows that are within reach now and that no scenario proves: a hole in the judge.
    pub fn holes(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.state == State::Untested && row.level == Level::Must && row.why.is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::expand::expand;

    fn catalogue(rows: &[(&str, &str, Option<&str>)]) -> Catalogue {
        let text: String = rows
            .iter()
            .map(|(id, reach, excluded)| {
                let excluded = excluded.map(|why| format!("excluded = {why:?}\n")).unwrap_or_default();
                format!(
                    "[[requirement]]\nid = {id:?}\nlevel = \"must\"\ntext = \"t\"\nsource = \"s\"\nsince = \"1\"\nobservable = \"wire\"\nreach = {reach:?}\n{excluded}"
                )
            })
            .collect();
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("requirements")).unwrap();
        std::fs::write(folder.path().join("requirements/a.toml"), text).unwrap();
        Catalogue::read(&crate::scenario::source::Files::in_folder(folder.path()).unwrap()).unwrap()
    }

    fn judged(scenario: &Scenario, passed: bool) -> Judgement {
        let mut evidence = crate::check::sample::saved();
        evidence.scenario = scenario.id.clone();
        let mut judgement = crate::check::judge(&evidence);
        if !passed {
            judgement.failures = vec![crate::check::verdict::Failure {
                check: "x".into(),
                step: None,
                expected: String::new(),
                actual: String::new(),
                cites: Vec::new(),
                blame: crate::check::verdict::Blame::Implementation,
            }];
        }
        judgement
    }

    #[test]
    fn a_row_is_proven_only_when_every_scenario_that_proves_it_passed() {
        let catalogue = catalogue(&[
            ("A-proven", "now", None),
            ("B-failed", "now", None),
            ("C-not-run", "now", None),
            ("D-untested", "now", None),
            ("E-later", "later: real Flow", None),
            ("F-excluded", "now", Some("nobody can see it")),
        ]);
        let scenario = |id: &str, proves: &str| {
            expand("f", &format!("id = \"{id}\"\ntitle = \"t\"\nproves = {proves}")).unwrap().remove(0)
        };
        let known = [
            scenario("one", r#"["A-proven", "B-failed", "C-not-run"]"#),
            scenario("two", r#"["B-failed"]"#),
            scenario("three", r#"["C-not-run"]"#),
        ];
        let matrix = Matrix::of(&catalogue, &known, &[judged(&known[0], true), judged(&known[1], false)]);
        let states: Vec<State> = matrix.rows.iter().map(|row| row.state).collect();
        use State::*;
        assert_eq!(states, [Proven, Failed, NotRun, Untested, Untested, Excluded]);
        assert_eq!(matrix.denominator(), 5);
        let holes: Vec<&str> = matrix.holes().map(|row| row.id.as_str()).collect();
        assert_eq!(holes, ["D-untested"]);
    }
}
