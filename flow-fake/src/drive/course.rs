//! The course of a run: each recorded step on the page that is there, stopped at the first thing that isn't as it was recorded.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::checks::{self, Verdict};
use super::contracts::{self, Checked, Found};
use super::records::{Records, Site};
use super::tutorial::{self, Action, Identity, Recorded, STEPS};
use super::{Answer, Area, Screen, Trouble};
use crate::report::results;

/// How long the first page has to be there.
const FIRST: Duration = Duration::from_secs(8);

/// Who looks on while the course goes: files, journal and holds are not the course's business.
pub trait Witness {
    /// Before a step is begun, and after its action was done.
    fn at(&mut self, step: &str, moment: Moment) -> Answer<()>;
    /// Whether the page is to answer nothing any more from here on.
    fn freezes(&mut self, step: &str, moment: Moment) -> bool;
    /// A picture of the screen, under the name that the report gives it.
    fn picture(&mut self, name: &str, png: &[u8]);
    /// A step came out well.
    fn verified(&mut self, index: usize, result: &Value);
    /// The store was changed by this run.
    fn saved(&mut self);
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    Before,
    Acted,
}

/// How a course ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Done,
    /// Stopped with nothing written; the pause's category.
    Stopped(&'static str),
    /// The record isn't the recorded one, or can't be known.
    WrongRecord,
    /// The browser or the app broke down before the save.
    Broken,
    /// The save was clicked, and nobody can say that it had no effect.
    InDoubt(&'static str),
}

/// What a course came to, in the shapes of a report.
#[derive(Debug)]
pub struct Told {
    pub end: End,
    pub results: Vec<Value>,
    /// The verdicts of each executed step's checks.
    pub verdicts: Vec<Vec<Verdict>>,
    pub effects: Vec<Checked>,
    pub seen: Vec<String>,
    pub took: Duration,
}

pub struct Course<'a> {
    screen: &'a mut dyn Screen,
    witness: &'a mut dyn Witness,
    site: &'a Site,
    note: &'a str,
    /// The text of the row that was opened.
    opened: Option<String>,
    before: Records,
    told: Told,
    first: usize,
    governed: bool,
    again: bool,
}

/// Why a step isn't done: nothing was sent to the app.
enum Refusal {
    Ambiguous(usize),
    Unresolved,
    Identity { status: &'static str, observed: String },
}

impl<'a> Course<'a> {
    pub fn new(screen: &'a mut dyn Screen, witness: &'a mut dyn Witness, site: &'a Site, note: &'a str) -> Self {
        let told = Told {
            end: End::Done,
            results: Vec::new(),
            verdicts: Vec::new(),
            effects: Vec::new(),
            seen: Vec::new(),
            took: Duration::ZERO,
        };
        Self {
            screen,
            witness,
            site,
            note,
            opened: None,
            before: Records::default(),
            told,
            first: 0,
            governed: true,
            again: false,
        }
    }

    /// A run that asks for no settled screen doesn't say whether there was one.
    pub fn governed(mut self, governed: bool) -> Self {
        self.governed = governed;
        self
    }

    /// The first step is done for the second time: its pictures stand beside those of the first.
    pub fn again(mut self) -> Self {
        self.again = true;
        self
    }

    /// The first steps were done by somebody else: how that is told.
    pub fn after(mut self, results: Vec<Value>, verdicts: Vec<Vec<Verdict>>) -> Self {
        self.first = results.len();
        self.told.results = results;
        self.told.verdicts = verdicts;
        self
    }

    pub fn run(mut self) -> Told {
        let began = Instant::now();
        for (index, step) in STEPS.iter().enumerate().skip(self.first) {
            let started = Instant::now();
            self.told.results.push(results::blank((step.id, step.intent)));
            self.told.verdicts.push(vec![Verdict::Unverifiable; checks_of(step)]);
            let end = self.step(step).unwrap_or_else(|trouble| self.broken(step, &trouble));
            let result = self.result();
            result["elapsed_ms"] = json!(started.elapsed().as_secs_f64() * 1000.0);
            if end != End::Done {
                self.told.end = end;
                break;
            }
            result["ok"] = json!(true);
            let result = result.clone();
            self.witness.verified(index, &result);
        }
        if self.told.end != End::Done && self.told.end != End::Broken {
            self.told.seen = self.screen.texts("main :is(h1, h2, p, th, td, label, button, li)").unwrap_or_default();
        }
        self.told.took = began.elapsed();
        self.told
    }

    fn step(&mut self, step: &Recorded) -> Answer<End> {
        self.moment(step, Moment::Before)?;
        let settled = step.action != Action::Open || self.screen.appears("main h1", FIRST)?;
        self.photograph(step, "before")?;
        let hashes = contracts::hashes(self.note);
        let governed = self.governed;
        let result = self.result();
        result["starting_state_settled"] = json!(governed.then_some(settled));
        result["delivery_attempted"] = json!(false);
        result["risk_explanation"] = json!("the control's words name no change that lasts");
        if step.action == Action::Save {
            result["risk"] = json!("irreversible");
            result["risk_explanation"] = json!("the control's words name a change that lasts");
            result["effect_contract_hashes"] = json!(hashes);
        }
        let selector = match self.target(step)? {
            Ok(selector) => selector,
            Err(refusal) => return self.refused(step, &refusal),
        };
        if step.action == Action::Save {
            match self.site.records() {
                Ok(records) => self.before = records,
                Err(error) => return Err(Trouble::Broken(format!("the record store can't be read: {error}"))),
            }
        }
        self.act(step, &selector)?;
        self.moment(step, Moment::Acted)?;
        self.looked_after(step)
    }

    fn moment(&mut self, step: &Recorded, moment: Moment) -> Answer<()> {
        self.witness.at(step.id, moment)?;
        if self.witness.freezes(step.id, moment) { self.screen.freeze() } else { Ok(()) }
    }

    /// The one place on the page that the step is about, and whose record it is; or why it isn't touched.
    fn target(&mut self, step: &Recorded) -> Answer<Result<String, Refusal>> {
        let (mut selector, mut row) = (step.selector.to_owned(), format!("{} >> nth=0", tutorial::ROWS));
        let mut matches = self.screen.count(&selector)?;
        if step.action == Action::Open {
            if matches > 0 {
                row = format!("{}:has({selector})", tutorial::ROWS);
            } else if self.screen.count(tutorial::ANY_OPEN)? > 0 {
                // Something else stands where the recorded row stood: it is looked at, and told apart by its identity.
                selector = format!("{} >> nth=0", tutorial::ANY_OPEN);
                matches = 1;
            }
            let twins = self.rows(tutorial::ROWS)?.iter().filter(|row| *row == tutorial::ROW).count();
            matches = matches.max(twins);
        }
        match matches {
            0 => return Ok(Err(Refusal::Unresolved)),
            1 => {}
            several => return Ok(Err(Refusal::Ambiguous(several))),
        }
        let Some(area) = self.screen.area(&selector)? else { return Ok(Err(Refusal::Unresolved)) };
        if let Some(identity) = step.identity {
            let (status, observed) = self.identity(identity, &row)?;
            if status != "verified" {
                return Ok(Err(Refusal::Identity { status, observed }));
            }
            let result = self.result();
            result["identity"] = identity_check(status, &observed);
            result["resolution"] = resolution(step, area);
            if identity == Identity::Row {
                self.opened = Some(observed);
            }
        }
        Ok(Ok(selector))
    }

    fn identity(&mut self, identity: Identity, row: &str) -> Answer<(&'static str, String)> {
        let (found, expected) = match identity {
            Identity::Row => (self.rows(row)?, tutorial::ROW),
            Identity::Banner => (self.screen.texts("#patient-banner")?, tutorial::BANNER),
        };
        let [observed] = found.as_slice() else { return Ok(("unreadable", found.join(" / "))) };
        // The page is the record that was opened, not only the one that was recorded.
        let opened = self.opened.as_deref().is_none_or(|row| row.starts_with(tutorial::NAME));
        let same = observed == expected && opened;
        Ok((if same { "verified" } else { "mismatch" }, observed.clone()))
    }

    /// The cells of each matching row that say whose it is, as one text.
    fn rows(&mut self, selector: &str) -> Answer<Vec<String>> {
        (0..self.screen.count(selector)?)
            .map(|at| {
                let cells = self.screen.texts(&format!("{selector} >> nth={at} >> th, td:not(.row-action)"))?;
                Ok(cells.join(" "))
            })
            .collect()
    }

    fn act(&mut self, step: &Recorded, selector: &str) -> Answer<()> {
        self.result()["delivery_attempted"] = json!(true);
        if step.action == Action::Type {
            return self.screen.fill(selector, self.note);
        }
        self.screen.click(selector)?;
        let result = self.result();
        result["actuation"] = json!("dom");
        let fingerprint = result["resolution"]["structural_handle"]["target_fingerprint"].clone();
        result["delivery_receipt"] = json!({
            "status": "delivered",
            "receipt_id": format!("playwright-{}", crate::report::Subject::fresh_id()),
            "operation": "dom_click",
            "native": false,
            "target_fingerprint": fingerprint,
            "delivered_at": crate::clock::iso(crate::clock::now()),
            "outcome_verified": false,
        });
        Ok(())
    }

    /// What the step brought: first the screen, then, after a save, the record.
    fn looked_after(&mut self, step: &Recorded) -> Answer<End> {
        let mut verdicts = self.verdicts(step)?;
        self.photograph(step, "after")?;
        let good = verdicts.iter().all(|verdict| *verdict == Verdict::Passed);
        if !good {
            // A step's checks are told as one.
            verdicts.fill(Verdict::Refuted);
        }
        if let Some(last) = self.told.verdicts.last_mut() {
            *last = verdicts;
        }
        let result = self.result();
        if step.action == Action::Type {
            result["input_verified"] = json!(good);
        } else {
            result["postconditions_ok"] = json!(good);
        }
        match (step.action == Action::Save, good) {
            (true, true) => Ok(self.read_back()),
            (true, false) => {
                self.note_a_save();
                self.halt("governed_refusal", "Postconditions failed: what should follow the save was not seen");
                Ok(End::InDoubt("postcondition"))
            }
            (false, true) => Ok(End::Done),
            (false, false) => {
                self.halt("governed_refusal", "Postconditions failed: what should follow the step was not seen");
                Ok(End::Stopped("postcondition"))
            }
        }
    }

    fn verdicts(&mut self, step: &Recorded) -> Answer<Vec<Verdict>> {
        if step.action == Action::Type {
            let kept = self.screen.value(step.selector)?;
            let same = contracts::lines(&kept) == contracts::lines(self.note);
            return Ok(vec![if same { Verdict::Passed } else { Verdict::Refuted }]);
        }
        checks::verify(step.checks, self.screen)
    }

    fn read_back(&mut self) -> End {
        let (checked, records) = contracts::verify(self.site, &self.before, self.note);
        if records.is_some_and(|records| records.changed_since(&self.before)) {
            self.witness.saved();
        }
        let failed = checked.iter().find(|one| one.found != Found::Present).map(|one| one.found);
        let result = self.result();
        result["effect_verified"] = json!(failed.is_none());
        result["effect_results"] = json!(checked.iter().map(Checked::line).collect::<Vec<_>>());
        result["effect_evidence"] = json!(checked.iter().map(Checked::evidence).collect::<Vec<_>>());
        self.told.effects = checked;
        match failed {
            None => End::Done,
            Some(Found::Unknown) => {
                self.halt("governed_refusal", "The system of record could not be read after the save");
                End::InDoubt("effect_indeterminate")
            }
            Some(_) => {
                self.halt("governed_refusal", "The system of record contradicts the save, and nothing could undo it");
                End::InDoubt("effect_escalated")
            }
        }
    }

    /// Whether something was written is noted also where the run itself can't claim it.
    fn note_a_save(&mut self) {
        if self.site.records().is_ok_and(|records| records.changed_since(&self.before)) {
            self.witness.saved();
        }
    }

    fn refused(&mut self, step: &Recorded, refusal: &Refusal) -> Answer<End> {
        self.photograph(step, "after")?;
        match refusal {
            Refusal::Ambiguous(count) => {
                self.halt("safety_halt", &format!("The target is ambiguous: {count} places on the page fit this step"));
                self.result()["safety_refusal_evidence"] = evidence("target_resolution", "target_ambiguous");
                Ok(End::Stopped("disambiguation"))
            }
            Refusal::Unresolved => {
                self.halt("governed_refusal", "The step could not resolve its target on this page");
                Ok(End::Stopped("resolution"))
            }
            Refusal::Identity { status, observed } => {
                let text = format!("The record's identity is {status}: refusing to act");
                self.halt("governed_refusal", &text);
                let code = if *status == "mismatch" { "identity_conflict" } else { "identity_unverifiable" };
                let result = self.result();
                result["identity"] = identity_check(status, observed);
                result["safety_refusal_evidence"] = evidence("identity_verification", code);
                result["resolution"] = by_its_look();
                Ok(End::WrongRecord)
            }
        }
    }

    /// The browser gave no answer. A save that may have been clicked is in doubt; anything before it wrote nothing.
    fn broken(&mut self, step: &Recorded, trouble: &Trouble) -> End {
        let text = trouble.to_string();
        let result = self.result();
        let attempted = result["delivery_attempted"] == true;
        let delivered = !result["delivery_receipt"].is_null();
        result["failure_category"] = json!("runtime_failure");
        result["error"] = json!(text);
        if step.action != Action::Save || !attempted {
            return End::Broken;
        }
        if !delivered {
            result["delivery_uncertainty"] = json!({
                "status": "delivery_uncertain",
                "operation": "dom_click",
                "native": false,
                "target_fingerprint": result["resolution"]["structural_handle"]["target_fingerprint"],
                "observed_at": crate::clock::iso(crate::clock::now()),
                "cause_type": "TimeoutError",
                "retried": false,
                "verification_attempted": false,
                "postconditions_confirmed": null,
                "effects_confirmed": null,
                "resolved_by_contract": false,
            });
        }
        self.note_a_save();
        End::InDoubt(if delivered { "halt" } else { "delivery_uncertain" })
    }

    fn halt(&mut self, category: &str, error: &str) {
        let result = self.result();
        result["safety_halt"] = json!(true);
        result["failure_category"] = json!(category);
        result["error"] = json!(error);
    }

    fn photograph(&mut self, step: &Recorded, moment: &str) -> Answer<()> {
        let second = if self.again && self.told.results.len() == 1 { "__0002" } else { "" };
        let name = format!("steps/{}{second}_{moment}.png", step.id);
        let png = self.screen.picture()?;
        self.witness.picture(&name, &png);
        self.result()[format!("{moment}_png")] = json!(name);
        Ok(())
    }

    /// The result of the step that is being done.
    fn result(&mut self) -> &mut Value {
        if self.told.results.is_empty() {
            self.told.results.push(Value::Null);
        }
        let last = self.told.results.len() - 1;
        &mut self.told.results[last]
    }
}

/// Typing is checked by reading the field back.
fn checks_of(step: &Recorded) -> usize {
    if step.action == Action::Type { 1 } else { step.checks.len() }
}

fn identity_check(status: &str, observed: &str) -> Value {
    json!({
        "status": status,
        "mode": "structured",
        "coverage": if status == "verified" { 1.0 } else { 0.0 },
        "expected": "<structured identity template>",
        "observed": observed,
        "param": null,
        "signal_evidence": [],
        "quorum_required": null,
        "quorum_verified": null,
        "pixel_evidence": null,
    })
}

fn resolution(step: &Recorded, area: Area) -> Value {
    let (x, y) = area.center();
    json!({
        "rung": "structural",
        "point": [x, y],
        "confidence": 1.0,
        "elapsed_ms": 1.0,
        "structural_handle": {
            "point": [x, y],
            "confidence": 1.0,
            "region": [area.left, area.top, area.width, area.height],
            "target_fingerprint": crate::canonical::sha256_hex(step.selector),
            "candidate_count": 1,
            "supported_operations": ["dom_click", "dom_double_click", "dom_drag"],
        },
    })
}

/// Something stands where the recorded target stood; that it isn't the recorded one was told by whose it is.
fn by_its_look() -> Value {
    json!({"rung": "template", "point": [0, 0], "confidence": 1.0, "elapsed_ms": 1.0, "structural_handle": null})
}

fn evidence(stage: &str, code: &str) -> Value {
    json!({"stage": stage, "code": code, "detector_input_sha256": crate::canonical::sha256_hex(code)})
}
