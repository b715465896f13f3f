//! What a receipt seals: the contract's result of a run, or what became of a person's decision about one.

use serde_json::{Map, Value};

use super::contracts::Tool;
use super::types::Execution;
use crate::contract::outcome::{Outcome, closed_words};
use crate::runs::record::StoredResult;

closed_words! {
    /// What a decision came to. `carried_out` says nothing about a save: the run's own result does.
    DecisionEnd {
        CarriedOut = "carried_out",
        /// Flow refused, and wrote nothing.
        Refused = "refused",
        /// It was handed over, and nobody can say what became of it.
        Uncertain = "uncertain",
        Declined = "declined",
        NotConfirmed = "not_confirmed",
        Unanswered = "unanswered",
        /// The item can't be decided so, or not any more.
        NotOffered = "not_offered",
        NotSubmitted = "not_submitted",
        /// Flow has refused the same twice, and nothing has changed.
        Suppressed = "suppressed",
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum SealedResult {
    Run(StoredResult),
    /// With opaque ids and closed words of it.
    Decision(DecisionEnd, Map<String, Value>),
}

impl SealedResult {
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::Run(result) => result.reason.outcome(),
            Self::Decision(end, _) => match end {
                DecisionEnd::CarriedOut => Outcome::Done,
                DecisionEnd::Uncertain => Outcome::NotSureIfSaved,
                _ => Outcome::DidNotRun,
            },
        }
    }

    pub fn word(&self) -> &'static str {
        match self {
            Self::Run(result) => result.reason.as_str(),
            Self::Decision(end, _) => end.as_str(),
        }
    }

    pub fn execution(&self, started: bool) -> Execution {
        match self {
            Self::Run(result) => Execution::of(result.reason, started),
            Self::Decision(DecisionEnd::CarriedOut, _) => Execution::Succeeded,
            Self::Decision(DecisionEnd::Refused, _) => Execution::Failed,
            Self::Decision(DecisionEnd::Uncertain, _) => Execution::Unknown,
            Self::Decision(..) => Execution::NotStarted,
        }
    }

    pub fn document(&self) -> &Map<String, Value> {
        match self {
            Self::Run(result) => result.document(),
            Self::Decision(_, document) => document,
        }
    }

    /// `None` for what can't be believed.
    pub fn read(tool: Tool, word: &str, document: Map<String, Value>) -> Option<Self> {
        if tool.is_run() {
            return StoredResult::read(document).map(Self::Run);
        }
        Some(Self::Decision(DecisionEnd::parse(word)?, document))
    }
}
