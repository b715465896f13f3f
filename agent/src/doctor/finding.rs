//! One thing that was looked at: closed words for programs, fixed sentences for people.

use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    Flow,
    Bridge,
    Driver,
    Browser,
    RunsFolder,
    Store,
    Ledger,
    Clock,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Ok,
    Missing,
    Wrong,
    /// It can't be told, because something before it is missing.
    Unknown,
}

/// What was found, and what a person can do where that isn't enough.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub check: Check,
    pub state: State,
    pub needed_for_runs: bool,
    pub says: &'static str,
    /// A version or a mode: short, and never a text from elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<&'static str>,
}

impl Check {
    /// The browser and its driver are Flow's own matter: a workflow for another surface needs neither.
    pub const fn is_needed_for_runs(self) -> bool {
        matches!(self, Self::Flow | Self::RunsFolder | Self::Store | Self::Ledger | Self::Clock)
    }

    /// As a person reads it.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Flow => "Flow",
            Self::Bridge => "bridge",
            Self::Driver => "browser driver",
            Self::Browser => "browser",
            Self::RunsFolder => "runs folder",
            Self::Store => "records",
            Self::Ledger => "ledger",
            Self::Clock => "clock",
        }
    }
}

impl Finding {
    pub const fn ok(check: Check, says: &'static str) -> Self {
        Self { check, state: State::Ok, needed_for_runs: check.is_needed_for_runs(), says, detail: None, hint: None }
    }

    pub const fn lacking(check: Check, state: State, says: &'static str, hint: &'static str) -> Self {
        Self { check, state, needed_for_runs: check.is_needed_for_runs(), says, detail: None, hint: Some(hint) }
    }

    pub fn with(self, detail: impl Into<String>) -> Self {
        Self { detail: Some(detail.into()), ..self }
    }
}
