//! Stored evidence: a header, one line for each scenario, and a last line without which nothing of it counts.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::header::{CERTIFICATE_FORMAT, Header};
use crate::evidence::Evidence;
use crate::scenario::ScenarioId;

#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    pub header: Header,
    /// In the order of their names.
    pub evidence: Vec<Evidence>,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "kebab-case")]
enum Line {
    Header(Box<Header>),
    Evidence { evidence: Box<Evidence> },
    Footer { scenarios: usize },
}

#[derive(Debug, thiserror::Error)]
pub enum StoredError {
    #[error("line {line} can't be read: {problem}")]
    Line { line: usize, problem: String },
    #[error("it doesn't begin with the header of a {CERTIFICATE_FORMAT}")]
    NoHeader,
    #[error("its last line is missing")]
    NoFooter,
    #[error("its last line says that it holds {said} scenarios, and it holds {held}")]
    Count { said: usize, held: usize },
    #[error("it holds {0} twice")]
    Twice(ScenarioId),
}

impl Stored {
    pub fn new(header: Header, mut evidence: Vec<Evidence>) -> Self {
        evidence.sort_by(|one, other| one.scenario.cmp(&other.scenario));
        Self { header, evidence }
    }

    pub fn to_jsonl(&self) -> Result<String, serde_json::Error> {
        let mut text = line(&Line::Header(Box::new(self.header.clone())))?;
        for evidence in &self.evidence {
            text.push_str(&line(&Line::Evidence { evidence: Box::new(evidence.clone()) })?);
        }
        text.push_str(&line(&Line::Footer { scenarios: self.evidence.len() })?);
        Ok(text)
    }

    pub fn parse(text: &str) -> Result<Self, StoredError> {
        let mut header = None;
        let mut evidence = Vec::new();
        let mut said = None;
        let last = text.lines().count();
        for (index, written) in text.lines().enumerate() {
            let parsed = serde_json::from_str(written);
            let cut = index + 1 == last && !text.ends_with('\n');
            let read = parsed.map_err(|problem: serde_json::Error| match cut {
                true => StoredError::NoFooter,
                false => StoredError::Line { line: index + 1, problem: problem.to_string() },
            })?;
            match read {
                Line::Header(found) if index == 0 => header = Some(*found),
                Line::Evidence { evidence: found } => evidence.push(*found),
                Line::Footer { scenarios } if index + 1 == last => said = Some(scenarios),
                Line::Header(_) | Line::Footer { .. } => {
                    return Err(StoredError::Line { line: index + 1, problem: "it stands in the wrong place".into() });
                }
            }
        }
        let header: Header = header.ok_or(StoredError::NoHeader)?;
        if header.format != CERTIFICATE_FORMAT {
            return Err(StoredError::NoHeader);
        }
        let said = said.ok_or(StoredError::NoFooter)?;
        if said != evidence.len() {
            return Err(StoredError::Count { said, held: evidence.len() });
        }
        let mut names = BTreeSet::new();
        match evidence.iter().find(|one| !names.insert(&one.scenario)) {
            Some(twice) => Err(StoredError::Twice(twice.scenario.clone())),
            None => Ok(Self { header, evidence }),
        }
    }
}

fn line(line: &Line) -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string(line)? + "\n")
}
