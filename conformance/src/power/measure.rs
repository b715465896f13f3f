//! Every mutant on the evidence that it fits, and what came of it.

use std::collections::{BTreeMap, BTreeSet};

use super::mutant::{Fate, Mutant};
use crate::evidence::Evidence;
use crate::scenario::{RequirementId, ScenarioId};

/// On how many pieces of evidence one mutant is tried.
const TRIALS: usize = 6;

/// One line of the kill matrix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub id: String,
    pub said: String,
    pub end: End,
    pub trials: usize,
    /// Where it was tried.
    pub scenarios: Vec<ScenarioId>,
    /// What these scenarios prove: the sentences that this change would break.
    pub requirements: BTreeSet<RequirementId>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    Killed,
    Survived {
        on: ScenarioId,
        red: BTreeSet<String>,
    },
    Overkilled {
        on: ScenarioId,
        more: BTreeSet<String>,
    },
    /// No evidence holds such a fact, or the change is none.
    Void,
}

pub fn measure(mutants: &[Mutant], green: &[Evidence], mut seen: impl FnMut(&Row)) -> Vec<Row> {
    let mut rows = Vec::new();
    for mutant in mutants {
        let row = row_of(mutant, green);
        seen(&row);
        rows.push(row);
    }
    rows
}

fn row_of(mutant: &Mutant, green: &[Evidence]) -> Row {
    let mut row = Row {
        id: mutant.id.clone(),
        said: mutant.said.clone(),
        end: End::Void,
        trials: 0,
        scenarios: Vec::new(),
        requirements: BTreeSet::new(),
    };
    let tried = green.iter().filter_map(|evidence| Some((evidence, mutant.try_on(evidence)?)));
    for (evidence, fate) in tried.take(TRIALS) {
        row.trials += 1;
        row.scenarios.push(evidence.scenario.clone());
        row.requirements.extend(evidence.proves.iter().cloned());
        let on = evidence.scenario.clone();
        row.end = match fate {
            Fate::Killed => End::Killed,
            Fate::Survived(red) => End::Survived { on, red },
            Fate::Overkilled(more) => End::Overkilled { on, more },
            Fate::Void => End::Void,
        };
        if row.end != End::Killed {
            break;
        }
    }
    row
}

impl End {
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Killed => "killed",
            Self::Survived { .. } => "survived",
            Self::Overkilled { .. } => "seen by others, too",
            Self::Void => "void",
        }
    }
}

/// Of each requirement, how many mutants broke what proves it, and were killed.
pub fn by_requirement(rows: &[Row]) -> BTreeMap<RequirementId, usize> {
    let mut counts = BTreeMap::new();
    for row in rows.iter().filter(|row| row.end == End::Killed) {
        for requirement in &row.requirements {
            *counts.entry(requirement.clone()).or_default() += 1;
        }
    }
    counts
}
