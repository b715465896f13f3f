//! What became of each case, as a line of a report.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::case::Victim;
use crate::check::verdict::Judgement;
use crate::evidence::lifecycle::SeenStore;
use crate::evidence::{Evidence, object_of};

/// One case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    pub id: String,
    /// The named moment, or the event at which a kill came.
    pub point: String,
    pub dies: Victim,
    pub ending: String,
    pub ledger: String,
    pub again: Option<String>,
    /// The phase in which the dead left the run; `none` where there was no run yet.
    pub left: String,
    pub first_look: Option<String>,
    pub sent_again: Option<String>,
    pub launches: usize,
    pub saves: usize,
    /// Whom a kill hit: nobody, where it came too late.
    pub killed: Vec<String>,
    pub passed: bool,
    pub failures: Vec<String>,
    pub seconds: f64,
}

impl Row {
    pub fn of(evidence: &Evidence, judgement: &Judgement) -> Option<Self> {
        let seen = evidence.crash.as_ref()?;
        let (point, dies, ledger, again) = match (&seen.case, seen.kill) {
            (Some(case), _) => {
                let again = case.again.map(|again| format!("{} {}", again.how.name(), again.at.name()));
                (case.point.name().to_owned(), case.dies, case.ledger, again)
            }
            (None, Some(kill)) => {
                let drawn = kill.drawn();
                (format!("event {}", seen.struck_at.unwrap_or_default()), drawn.dies, drawn.ledger, None)
            }
            (None, None) => return None,
        };
        let told = |exchange: Option<&usize>| {
            let exchange = evidence.exchanges.get(*exchange?)?;
            let object = object_of(evidence.answer(exchange)?.get("result")?);
            let word = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
            let replayed = if object["replayed"] == true { ", replayed" } else { "" };
            Some(format!("{} / {}{replayed}", word("outcome"), word("reason")))
        };
        let count = |event: &str| evidence.journal.iter().filter(|line| line.event() == event).count();
        let failures = judgement.failures.iter();
        Some(Self {
            id: evidence.scenario.to_string(),
            point,
            dies,
            ending: seen.ending().name().to_owned(),
            ledger: ledger.name().to_owned(),
            again,
            left: left(&seen.at_death),
            first_look: told(seen.looks.first()),
            sent_again: told(seen.resent.as_ref()),
            launches: count("launch"),
            saves: count("effect"),
            killed: seen.killed.clone(),
            passed: judgement.passed(),
            failures: failures
                .map(|failure| format!("{}: expected {}; actual {}", failure.check, failure.expected, failure.actual))
                .collect(),
            seconds: evidence.seconds,
        })
    }
}

fn left(store: &SeenStore) -> String {
    match store {
        SeenStore::Read(actions) => actions.runs.last().map_or("none", |run| run.phase.as_str()).to_owned(),
        SeenStore::Absent | SeenStore::Unreadable(_) => "none".to_owned(),
    }
}
