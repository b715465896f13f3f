//! Where a run stopped, as far as a pause needs it: read from the report, or the first step when there is none.

use serde_json::{Value, json};

use crate::report::Subject;
use crate::script::PauseSpec;

#[derive(Debug, Clone)]
pub struct Moment {
    pub subject: Subject,
    pub category: String,
    /// Whether the guard of the step says that it may be skipped.
    pub guard_skips: bool,
    pub step_index: usize,
    pub step_id: String,
    pub intent: String,
    pub previous_step: Option<String>,
    pub next: String,
    /// The identity verdict of the failed step, or null.
    pub identity: Value,
    /// Whether the action of the step reached the app.
    pub delivered: bool,
    /// What the record check said, a line for each effect.
    pub detail: Value,
}

impl Moment {
    pub fn of(subject: &Subject, spec: &PauseSpec, report: Option<&Value>) -> Self {
        let results = report.and_then(|report| report["results"].as_array()).map_or(&[][..], Vec::as_slice);
        let Some((last, before)) = results.split_last() else {
            return Self::first_step(subject, spec);
        };
        let text = |key: &str| last[key].as_str().unwrap_or_default().to_owned();
        Self {
            subject: subject.clone(),
            category: spec.category.clone(),
            guard_skips: spec.guard_skips,
            step_index: before.len(),
            step_id: text("step_id"),
            intent: text("intent"),
            previous_step: before.last().and_then(|step| step["step_id"].as_str()).map(str::to_owned),
            next: if before.is_empty() { "step_001".into() } else { "<complete>".into() },
            identity: last["identity"].clone(),
            delivered: last["delivery_attempted"] == true,
            detail: json!(last["effect_results"].as_array().map_or(&[][..], Vec::as_slice)),
        }
    }

    fn first_step(subject: &Subject, spec: &PauseSpec) -> Self {
        Self {
            subject: subject.clone(),
            category: spec.category.clone(),
            guard_skips: spec.guard_skips,
            step_index: 0,
            step_id: "step_000".into(),
            intent: "open the record".into(),
            previous_step: None,
            next: "step_001".into(),
            identity: Value::Null,
            delivered: false,
            detail: json!([]),
        }
    }

    pub fn uncertain(&self) -> bool {
        self.category == "delivery_uncertain"
    }

    pub fn delivery_state(&self) -> &'static str {
        match (self.delivered, self.identity.is_null()) {
            (true, _) if !self.uncertain() => "delivered",
            (_, false) => "not_delivered",
            _ if matches!(self.category.as_str(), "resolution" | "unmet_guard") => "not_delivered",
            _ => "unknown",
        }
    }

    /// What a person may do, in Flow's order. A step that writes is never offered for continuing: its effects forbid collateral loss.
    pub fn allowed_actions(&self) -> Vec<&'static str> {
        let verified = self.identity["status"] == "verified";
        let navigation = self.next != "<complete>";
        let mut actions = vec!["teach", "escalate"];
        if self.uncertain() && matches!(self.delivery_state(), "delivered" | "unknown") {
            actions.insert(0, "reconcile");
        }
        if !self.uncertain() {
            actions.insert(0, "reject");
        }
        if verified && (self.uncertain() || (navigation && matches!(self.category.as_str(), "postcondition" | "halt")))
        {
            actions.insert(0, "continue");
        }
        if self.guard_skips && navigation {
            actions.insert(usize::from(actions[0] == "continue"), "skip");
        }
        actions
    }

    pub fn bundle_version(&self) -> String {
        format!("sha256:{}", self.subject.content_digest)
    }

    pub fn delivery_uncertainty(&self, at: &str) -> Value {
        if !self.uncertain() {
            return Value::Null;
        }
        json!({
            "status": "delivery_uncertain",
            "operation": "dom_click",
            "native": false,
            "target_fingerprint": null,
            "observed_at": at,
            "cause_type": "TimeoutError",
            "retried": false,
            "verification_attempted": true,
            "postconditions_confirmed": null,
            "effects_confirmed": null,
            "resolved_by_contract": false,
        })
    }
}
