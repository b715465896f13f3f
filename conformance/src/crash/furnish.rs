//! Fills in what a crash scenario leaves open: the play of its ending, its ledger, a reviewer where a moment needs one.

use serde_json::json;

use super::case::LedgerKind;
use super::ending::Ending;
use super::point::Needs;
use crate::scenario::Scenario;
use crate::scenario::files::PlantedFile;
use crate::scenario::model::Mode;

impl Scenario {
    /// The scenario with everything in it that its world needs; nothing for one without a crash.
    pub fn furnished(&self) -> Option<Self> {
        let (ending, ledger, needs) = match (&self.crash, self.kill) {
            (Some(case), _) => (case.ending, case.ledger, case.point.needs()),
            (None, Some(kill)) => (kill.drawn().ending, kill.drawn().ledger, Needs::Nothing),
            (None, None) => return None,
        };
        let mut whole = self.clone();
        whole.furnish(ending, ledger, needs);
        Some(whole)
    }

    /// Its server is the build with crash points.
    pub fn has_crash_points(&self) -> bool {
        self.crash.is_some() || self.kill.is_some()
    }

    fn furnish(&mut self, ending: Ending, ledger: LedgerKind, needs: Needs) {
        self.flow.steps = ending.steps().as_array().cloned();
        if ledger == LedgerKind::Claims {
            // A folder in its place can't be opened.
            self.plant(json!({"path": "$ledger", "dir": true}));
        }
        let verdict = match needs {
            Needs::Reviewer => "true",
            Needs::Form => "false",
            Needs::Nothing | Needs::FlowLedger => return,
        };
        let text = format!("#!/bin/sh\ncat > /dev/null\necho '{{\"allow\": {verdict}}}'\n");
        self.plant(json!({"path": "$world/reviewer", "mode": "0755", "text": text}));
        self.world.server.serve = Some(["--auto-review", "$world/reviewer"].map(str::to_owned).to_vec());
        if needs == Needs::Form {
            self.world.mode = Mode::Attended;
            let shows_forms = json!({"elicitation": {}});
            self.world.server.capabilities = shows_forms.as_object().cloned();
        }
    }

    fn plant(&mut self, file: serde_json::Value) {
        let file: Option<PlantedFile> = serde_json::from_value(file).ok();
        self.world.files.extend(file);
    }
}
