//! The one workflow that is driven: a triage note for the first referral, as it was recorded on an app without any drift.

use serde_json::{Value, json};

use super::checks::Check;

pub const WORKFLOW: &str = "add_triage_note";

/// One recorded step.
#[derive(Debug, Clone, Copy)]
pub struct Recorded {
    pub id: &'static str,
    pub intent: &'static str,
    pub action: Action,
    pub selector: &'static str,
    /// How the record is known before the action; `None` for a step that acts on what the one before it chose.
    pub identity: Option<Identity>,
    /// What must be seen after it.
    pub checks: &'static [Check],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Open,
    Click,
    Type,
    Save,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Identity {
    /// The row of the list.
    Row,
    /// The banner on a page about one patient.
    Banner,
}

pub const PATIENT: &str = "p1";
pub const NAME: &str = "Jane Sample";
pub const ROW: &str = "Jane Sample Knee pain referral High";
pub const BANNER: &str = "Jane Sample — MRN P1 — DOB 1980-01-01";
pub const KIND: &str = "Triage";
pub const KEY: &str = "mockmed-triage-p1-v1";
pub const PARAMETER: &str = "note";
/// Where the workflow begins.
pub const ENTRY: &str = "?fault=ok&idempotency=demo#tasks";
/// Every button that opens a referral; the recorded one is looked for first.
pub const ANY_OPEN: &str = "#tasks-table .open-btn";
pub const ROWS: &str = "#tasks-table tbody tr";

pub const STEPS: [Recorded; 6] = [
    Recorded {
        id: "step_000",
        intent: "click 'Open'",
        action: Action::Open,
        selector: "#open-p1",
        identity: Some(Identity::Row),
        checks: &[
            Check::Size { selector: "#new-encounter", width: None, height: 44 },
            Check::Shows { selector: "#new-encounter", text: "New Encounter" },
        ],
    },
    Recorded {
        id: "step_001",
        intent: "click 'New Encounter'",
        action: Action::Click,
        selector: "#new-encounter",
        identity: Some(Identity::Banner),
        checks: &[
            Check::Panel { selector: "#type-label", text: "Encounter Type" },
            Check::Shows { selector: "#note-label", text: "Note" },
        ],
    },
    Recorded {
        id: "step_002",
        intent: "click 'Triage'",
        action: Action::Click,
        selector: "#type-triage",
        identity: Some(Identity::Banner),
        checks: &[Check::Size { selector: "#type-triage.selected", width: None, height: 44 }],
    },
    Recorded {
        id: "step_003",
        intent: "click the note field",
        action: Action::Click,
        selector: "#note",
        identity: Some(Identity::Banner),
        checks: &[Check::Seen { selector: "#note:focus" }],
    },
    Recorded {
        id: "step_004",
        intent: "type <note>",
        action: Action::Type,
        selector: "#note",
        identity: None,
        checks: &[],
    },
    Recorded {
        id: "step_005",
        intent: "click 'Save Encounter'",
        action: Action::Save,
        selector: "#save-encounter",
        identity: Some(Identity::Banner),
        checks: &[
            Check::Panel { selector: "#saved-banner", text: "Encounter saved" },
            Check::Shows { selector: "#patient-record h2", text: "Encounters" },
        ],
    },
];

/// The step after this one; `<complete>` after the last.
pub fn after(index: usize) -> &'static str {
    STEPS.get(index + 1).map_or("<complete>", |step| step.id)
}

/// The steps whose record must be known for sure.
pub fn identity_steps() -> Value {
    json!(STEPS.iter().filter(|step| step.identity.is_some()).map(|step| step.id).collect::<Vec<_>>())
}

impl Action {
    /// As a workflow file spells it.
    pub fn word(self) -> &'static str {
        if self == Self::Type { "type" } else { "click" }
    }
}
