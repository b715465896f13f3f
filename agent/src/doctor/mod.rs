//! What is there and what is missing on this computer, told to a person. Nothing is made, changed or downloaded.

mod finding;
mod flow;
mod folders;

use std::path::Path;

use crate::flow::bridge::command::BridgeCommand;
use crate::flow::command::FlowCommand;

pub use finding::{Check, Finding, State};

/// What is looked at.
#[derive(Debug)]
pub struct Subject<'a> {
    pub flow: &'a FlowCommand,
    pub bridge: &'a BridgeCommand,
    pub runs_dir: &'a Path,
}

/// Every finding, in the order of [`Check`].
pub fn examine(subject: &Subject<'_>) -> Vec<Finding> {
    let mut findings = flow::findings(subject.flow, subject.bridge);
    findings.extend(folders::findings(subject.runs_dir));
    findings
}

/// Nothing that a run needs is missing or wrong.
pub fn can_run(findings: &[Finding]) -> bool {
    findings.iter().all(|finding| finding.state == State::Ok || !finding.check.is_needed_for_runs())
}

#[cfg(test)]
mod tests;
