//! Everything that stands in a certificate's folder, made from its evidence and nothing else: the same evidence makes the same bytes.

use super::WHAT_IT_IS;
use super::header::Header;
use super::readme;
use super::statement;
use super::stored::Stored;
use crate::check::judge;
use crate::report::excerpt::judged;
use crate::report::html::{About, Page};
use crate::report::junit::Junit;
use crate::report::{badge, markdown, timeline};
use crate::requirement::{Catalogue, Matrix};
use crate::run::events::{Event, Finished, REPORT_FORMAT, Started, Summary};
use crate::scenario::Scenario;

pub const EVIDENCE: &str = "evidence.jsonl";
pub const REPORT: &str = "report.jsonl";
pub const STATEMENT: &str = "statement.json";

/// What a certificate says, apart from its signature.
#[derive(Debug, Clone, PartialEq)]
pub struct Rendered {
    /// By name.
    pub files: Vec<(String, String)>,
    /// The statement about them.
    pub statement: String,
    pub finished: Finished,
}

/// The list that a certificate is held against.
#[derive(Debug, Clone, Copy)]
pub struct Measure<'a> {
    /// The bodies of the frozen set.
    pub bodies: &'a [Scenario],
    pub catalogue: &'a Catalogue,
}

#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    #[error("{0}")]
    Io(#[from] std::io::Error),
}

pub fn render(stored: &Stored, measure: Measure<'_>) -> Result<Rendered, RenderError> {
    let events = events(stored, measure);
    let mut junit = Junit::default();
    let mut page = Page::about(about(&stored.header));
    let mut report = String::new();
    for event in &events {
        junit.take(event);
        page.take(event);
        report.push_str(&serde_json::to_string(event)?);
        report.push('\n');
    }
    let finished = match events.into_iter().last() {
        Some(Event::Finished(finished)) => finished,
        _ => Finished { summary: Summary::default(), matrix: Matrix::default() },
    };
    let own = |name: &str, text: String| (name.to_owned(), text);
    let files = vec![
        own("README.md", readme::readme(stored, &finished)),
        own("badge.svg", badge::svg(&finished.summary)),
        own(EVIDENCE, stored.to_jsonl()?),
        own("index.html", page.to_html()),
        own("junit.xml", junit.to_xml()?),
        own("matrix.md", markdown::matrix(&finished.matrix)),
        own(REPORT, report),
    ];
    let statement = statement::statement(stored, measure, &finished, &files);
    Ok(Rendered { statement: serde_json::to_string_pretty(&statement)? + "\n", files, finished })
}

/// The run as every report reads it: what was claimed and has no evidence was not run, and what was not run is not proven.
fn events(stored: &Stored, measure: Measure<'_>) -> Vec<Event> {
    let header = &stored.header;
    let claimed: Vec<&Scenario> = claimed(header, measure.bodies);
    let judgements: Vec<_> = stored.evidence.iter().map(judge).collect();
    let scored: Vec<Scenario> = claimed.iter().map(|body| (*body).clone()).collect();
    let mut matrix = Matrix::of(measure.catalogue, &scored, &judgements);
    matrix.rows.retain(|row| !row.scenarios.is_empty());
    let mut summary = Summary::of(&judgements, claimed.len().max(judgements.len()), &matrix, false, header.seconds);
    summary.unclaimed = measure.bodies.len() - claimed.len();
    let started = Started {
        format: REPORT_FORMAT.to_owned(),
        conformance: header.conformance.clone(),
        agent: header.agent.command.clone(),
        flow: header.flow.command.clone(),
        scenarios: claimed.iter().map(|scenario| scenario.id.clone()).collect(),
        unable: Vec::new(),
        unable_why: None,
    };
    let told = stored.evidence.iter().zip(&judgements).map(|(evidence, judgement)| {
        let mut told = judged(evidence, judgement);
        told.timeline = timeline::of(evidence);
        Event::Judged(told)
    });
    [Event::Started(started)].into_iter().chain(told).chain([Event::Finished(Finished { summary, matrix })]).collect()
}

/// The bodies that count: all of them, or those of the profiles that were claimed.
pub fn claimed<'a>(header: &Header, bodies: &'a [Scenario]) -> Vec<&'a Scenario> {
    bodies.iter().filter(|body| header.claims.as_ref().is_none_or(|claims| claims.cover(body))).collect()
}

fn about(header: &Header) -> About {
    let fact = |name: &str, value: String| (name.to_owned(), value);
    About {
        title: header.title(),
        said: vec![WHAT_IT_IS.to_owned()],
        facts: vec![
            fact("Flow", format!("{} ({})", header.flow.command, header.flow.version)),
            fact("its sha256", format!("{}, of {}", header.flow.sha256, header.flow.of)),
            fact("agent", format!("{} ({})", header.agent.command, header.agent.version)),
            fact("its sha256", format!("{}, of {}", header.agent.sha256, header.agent.of)),
            fact("browser", header.browser.clone().unwrap_or_else(|| "none".to_owned())),
            fact("judge", format!("conformance {}", header.conformance)),
            fact("frozen set", format!("{}, sha256 {}", header.set, header.set_sha256)),
        ],
    }
}
