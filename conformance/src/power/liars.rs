//! Agents that lie, each before the scenarios that it can't stand.

use clap::ValueEnum;
use serde_json::Value;
use tokio::task::LocalSet;

use super::liar::Kind;
use crate::check::judge;
use crate::run::perform;
use crate::run::subject::Subject;
use crate::scenario::{Action, Scenario, ScenarioId};

/// One liar, and who finds it out.
#[derive(Debug, Clone, Copy)]
pub struct Suspect {
    pub kind: Kind,
    pub said: &'static str,
    /// One of these goes red in each of its scenarios.
    pub found_by: &'static [&'static str],
    pub scenarios: &'static [&'static str],
}

/// How a liar fared before one scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trial {
    pub scenario: ScenarioId,
    /// The checks that went red.
    pub red: Vec<String>,
    /// One of those that were named is among them.
    pub found: bool,
}

pub const SUSPECTS: &[Suspect] = &[
    Suspect {
        kind: Kind::AlwaysDone,
        said: "tells everything as done",
        found_by: &["save-truth"],
        scenarios: &["contract/failed-checks/**", "requests/replay/is-in-review", "contract/no-effect/**"],
    },
    Suspect {
        kind: Kind::AlwaysRefuse,
        said: "refuses everything, and starts nothing",
        found_by: &["expected"],
        scenarios: &["requests/replay/has-saved", "contract/late-report"],
    },
    Suspect {
        kind: Kind::EchoesExpected,
        said: "tells what the scenario expects, and does nothing",
        found_by: &["save-truth", "after"],
        scenarios: &["requests/replay/has-saved", "contract/metrics"],
    },
    Suspect {
        kind: Kind::ShapeWithoutEffect,
        said: "answers in the right shape, with nothing behind it",
        found_by: &["save-truth"],
        scenarios: &["requests/replay/has-saved", "requests/replay/may-have-saved", "contract/metrics"],
    },
    Suspect {
        kind: Kind::Silent,
        said: "never answers a call",
        found_by: &["to-the-end", "all-answered"],
        scenarios: &["contract/metrics"],
    },
    Suspect {
        kind: Kind::Chatty,
        said: "talks on stdout",
        found_by: &["frames-only"],
        scenarios: &["contract/metrics", "requests/replay/has-saved"],
    },
    Suspect {
        kind: Kind::ForgetsRequests,
        said: "takes each call for new work",
        found_by: &["at-most-once", "launches"],
        scenarios: &["requests/replay/has-saved", "requests/replay/may-have-saved"],
    },
    Suspect {
        kind: Kind::RetriesByItself,
        said: "tries again by itself",
        found_by: &["launches", "at-most-once", "after"],
        scenarios: &["requests/replay/may-have-saved", "requests/replay/is-in-review"],
    },
    Suspect {
        kind: Kind::Optimist,
        said: "calls everything that isn't done safe to try again",
        found_by: &["result-shape"],
        scenarios: &["requests/replay/may-have-saved", "requests/replay/is-in-review"],
    },
    Suspect {
        kind: Kind::Soother,
        said: "tells an unproven save as stopped before saving",
        found_by: &["save-truth"],
        scenarios: &["requests/replay/may-have-saved", "requests/replay/left-nothing-to-read"],
    },
    Suspect {
        kind: Kind::Repeater,
        said: "repeats what it was given",
        found_by: &["no-value-leaks"],
        scenarios: &["contract/no-effect/**", "requests/replay/has-saved"],
    },
    Suspect {
        kind: Kind::Hasty,
        said: "calls done what still runs",
        found_by: &["save-truth"],
        scenarios: &["contract/running"],
    },
];

/// A suspect before its scenarios, one after the other.
pub async fn tried(suspect: &Suspect, scenarios: &[Scenario], subject: &Subject) -> Vec<Trial> {
    let mut trials = Vec::new();
    for scenario in scenarios {
        let lying = Subject { agent: command(suspect.kind, scenario, subject), ..subject.clone() };
        let evidence = LocalSet::new().run_until(perform(scenario, &lying)).await;
        let mut red: Vec<String> = judge(&evidence).failures.into_iter().map(|failure| failure.check).collect();
        red.dedup();
        let found = suspect.found_by.iter().any(|check| red.iter().any(|red| red == check));
        trials.push(Trial { scenario: scenario.id.clone(), red, found });
    }
    trials
}

/// This program as the liar, before the real agent.
fn command(kind: Kind, scenario: &Scenario, subject: &Subject) -> Vec<String> {
    let own = std::env::current_exe().map(|path| path.display().to_string()).unwrap_or_default();
    let name = kind.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
    let mut words =
        vec![own, "liar".to_owned(), name, "--expect".to_owned(), expectation(scenario).to_string(), "--".to_owned()];
    words.extend(subject.agent.iter().cloned());
    words
}

/// What the scenario says of its first run.
fn expectation(scenario: &Scenario) -> Value {
    let mut calls = scenario.actions.iter().filter_map(|action| match action {
        Action::Call(call) if call.call.as_deref() == Some("run_workflow") => call.wanted.expect.as_ref(),
        _ => None,
    });
    calls.next().map_or(Value::Null, |matcher| matcher.written().clone())
}
