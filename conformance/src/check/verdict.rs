//! What a check says: what it looked at, and what was wrong, with the lines that decided it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::evidence::Evidence;
use crate::scenario::{RequirementId, ScenarioId};

/// Who is at fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Blame {
    Implementation,
    Claims,
    Engine,
    Harness,
    Environment,
}

/// A piece of evidence that a verdict rests on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cite {
    Frame(usize),
    Journal(usize),
    File(PathBuf),
    Server(String),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    pub check: String,
    /// Index of the action; none for what holds for the whole scenario.
    pub step: Option<usize>,
    pub expected: String,
    pub actual: String,
    pub cites: Vec<Cite>,
    pub blame: Blame,
}

/// What one check found.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    check: &'static str,
    /// The scenario was made so that there is something to look at.
    due: bool,
    seen: usize,
    failures: Vec<Failure>,
}

/// A check: pure, and the same for stored evidence as for fresh.
pub struct Check {
    pub id: &'static str,
    /// What holds, in one sentence.
    pub sentence: &'static str,
    pub judge: fn(&Evidence, Verdict) -> Verdict,
}

/// The end of one scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    pub scenario: ScenarioId,
    pub title: String,
    pub proves: Vec<RequirementId>,
    pub failures: Vec<Failure>,
    /// How many pieces of evidence each check looked at.
    pub looked: BTreeMap<String, usize>,
    pub seconds: f64,
}

impl Judgement {
    pub fn passed(&self) -> bool {
        self.failures.is_empty()
    }
}

impl Verdict {
    pub fn of(check: &'static str) -> Self {
        Self { check, due: false, seen: 0, failures: Vec::new() }
    }

    /// There must be something to look at, or the check fails.
    pub fn due(mut self, due: bool) -> Self {
        self.due = due;
        self
    }

    /// One more piece of evidence was looked at.
    pub fn saw(&mut self) {
        self.seen += 1;
    }

    pub fn fails(
        &mut self,
        expected: impl Into<String>,
        actual: impl Into<String>,
        cites: impl IntoIterator<Item = Cite>,
    ) {
        self.fails_at(None, expected, actual, cites);
    }

    pub fn fails_at(
        &mut self,
        step: Option<usize>,
        expected: impl Into<String>,
        actual: impl Into<String>,
        cites: impl IntoIterator<Item = Cite>,
    ) {
        self.blames(Blame::Implementation, step, expected, actual, cites);
    }

    pub fn blames(
        &mut self,
        blame: Blame,
        step: Option<usize>,
        expected: impl Into<String>,
        actual: impl Into<String>,
        cites: impl IntoIterator<Item = Cite>,
    ) {
        let mut cites: Vec<Cite> = cites.into_iter().collect();
        cites.sort();
        cites.dedup();
        self.failures.push(Failure {
            check: self.check.to_owned(),
            step,
            expected: expected.into(),
            actual: actual.into(),
            cites,
            blame,
        });
    }

    /// The failures, one of them for having seen nothing, and the count of what was seen.
    pub fn finish(mut self) -> (Vec<Failure>, usize) {
        if self.due && self.seen == 0 && self.failures.is_empty() {
            self.blames(Blame::Harness, None, "something to judge", "the check observed nothing", []);
        }
        (self.failures, self.seen)
    }
}

impl fmt::Display for Blame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Implementation => "implementation",
            Self::Claims => "claims",
            Self::Engine => "engine",
            Self::Harness => "harness",
            Self::Environment => "environment",
        })
    }
}
