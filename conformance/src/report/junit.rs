//! The report that CI systems read.

use std::io;
use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::check::verdict::Blame;
use crate::run::events::{Event, Judged};

pub struct Junit {
    suite: TestSuite,
    unrun: Vec<String>,
}

impl Default for Junit {
    fn default() -> Self {
        Self { suite: TestSuite::new("conformance"), unrun: Vec::new() }
    }
}

impl Junit {
    pub fn take(&mut self, event: &Event) {
        match event {
            Event::Started(started) => {
                self.unrun = started.scenarios.iter().map(ToString::to_string).collect();
                for id in &started.unable {
                    let mut status = TestCaseStatus::skipped();
                    status.set_message(started.unable_why.clone().unwrap_or_default());
                    self.suite.add_test_case(TestCase::new(id.as_str(), status));
                }
            }
            Event::Judged(judged) => {
                self.unrun.retain(|id| id != judged.judgement.scenario.as_str());
                self.suite.add_test_case(case(judged));
            }
            Event::Finished(_) => {
                for id in std::mem::take(&mut self.unrun) {
                    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
                    status.set_message("selected, and not run");
                    self.suite.add_test_case(TestCase::new(id, status));
                }
            }
        }
    }

    pub fn to_xml(&self) -> io::Result<String> {
        let mut report = Report::new("conformance");
        report.add_test_suite(self.suite.clone());
        report.to_string().map_err(io::Error::other)
    }
}

fn case(judged: &Judged) -> TestCase {
    let judgement = &judged.judgement;
    let status = match judgement.failures.first() {
        None => TestCaseStatus::success(),
        Some(first) => {
            let kind =
                if first.blame == Blame::Implementation { NonSuccessKind::Failure } else { NonSuccessKind::Error };
            let mut status = TestCaseStatus::non_success(kind);
            status.set_type(first.check.clone());
            status
                .set_message(format!("expected {}; actual {} (blame: {})", first.expected, first.actual, first.blame));
            status.set_description(description(judged));
            status
        }
    };
    let mut case = TestCase::new(judgement.scenario.as_str(), status);
    case.set_time(Duration::from_secs_f64(judgement.seconds.max(0.0)));
    case
}

fn description(judged: &Judged) -> String {
    let mut text = String::new();
    for (failure, told) in judged.judgement.failures.iter().zip(&judged.told) {
        let action = told.action.as_deref().unwrap_or("the whole scenario");
        text.push_str(&format!(
            "{} ({action})\n  expected {}\n  actual   {}\n",
            failure.check, failure.expected, failure.actual
        ));
        told.lines.iter().for_each(|line| text.push_str(&format!("  {line}\n")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::sample::events;
    use super::*;

    #[test]
    fn a_run_as_ci_reads_it() {
        let mut junit = Junit::default();
        let mut all = events();
        if let Some(Event::Started(started)) = all.first_mut() {
            started.scenarios.push(crate::scenario::ScenarioId::parse("sample/never-run").unwrap());
        }
        all.iter().for_each(|event| junit.take(event));
        insta::assert_snapshot!(junit.to_xml().unwrap());
    }
}
