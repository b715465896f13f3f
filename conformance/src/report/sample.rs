//! A small run, for the tests of the reports.

use crate::check::sample::saved;
use crate::check::{judge, verdict::Judgement};
use crate::evidence::Evidence;
use crate::requirement::Level;
use crate::requirement::matrix::{Matrix, Row, State};
use crate::run::events::{Event, Finished, REPORT_FORMAT, Started, Summary};
use crate::scenario::{RequirementId, ScenarioId};

use super::excerpt::judged;

/// One scenario that passed and one whose done has no save behind it.
pub fn events() -> Vec<Event> {
    let good = saved();
    let mut bad = saved();
    bad.scenario = ScenarioId::parse("sample/lie").unwrap();
    bad.title = "A done without a save".into();
    bad.journal.retain(|line| !line.is_effect());
    let judgements: Vec<(Evidence, Judgement)> = [good, bad].into_iter().map(|e| (e.clone(), judge(&e))).collect();
    let matrix = matrix();
    let scenarios = judgements.iter().map(|(evidence, _)| evidence.scenario.clone()).collect();
    let started = Started {
        format: REPORT_FORMAT.into(),
        conformance: "0.1.0".into(),
        agent: "openadapt-agent".into(),
        flow: "flow-fake".into(),
        scenarios,
        unable: Vec::new(),
        unable_why: None,
    };
    let only: Vec<Judgement> = judgements.iter().map(|(_, judgement)| judgement.clone()).collect();
    let summary = Summary::of(&only, 3, &matrix, false, 1.25);
    let judged = judgements.iter().map(|(evidence, judgement)| Event::Judged(judged(evidence, judgement)));
    [Event::Started(started)].into_iter().chain(judged).chain([Event::Finished(Finished { summary, matrix })]).collect()
}

fn matrix() -> Matrix {
    let row = |id: &str, state, why: Option<&str>| Row {
        id: RequirementId::parse(id).unwrap(),
        level: Level::Must,
        state,
        sentence: format!("The sentence of {id} | with a bar"),
        source: "design: a section".into(),
        why: why.map(str::to_owned),
        scenarios: vec![ScenarioId::parse("sample/saved").unwrap()],
    };
    Matrix {
        rows: vec![
            row("RES-done", State::Failed, None),
            row("RES-proven", State::Proven, None),
            row("RES-hole", State::Untested, None),
            row("RES-later", State::Untested, Some("real Flow")),
            row("RES-unseen", State::Excluded, Some("nobody can see it")),
        ],
    }
}
