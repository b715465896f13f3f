//! What the runner tells its readers, as it happens. Every report is made from these and nothing else.

use serde::{Deserialize, Serialize};

use crate::check::verdict::Judgement;
use crate::requirement::{Matrix, State};
use crate::scenario::ScenarioId;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    Started(Started),
    Judged(Judged),
    /// Always last, unless the report was cut off.
    Finished(Finished),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Started {
    pub format: String,
    /// The judge's own version.
    pub conformance: String,
    pub agent: String,
    pub flow: String,
    pub scenarios: Vec<ScenarioId>,
    /// Selected, and impossible on this machine; counted nowhere else.
    pub unable: Vec<ScenarioId>,
    /// Why, and what to do about it.
    pub unable_why: Option<String>,
}

/// One scenario is over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    pub judgement: Judgement,
    /// For each failure, in the same order, what a person needs to see.
    pub told: Vec<Told>,
    /// What happened when; empty where no report shows it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timeline: Vec<Moment>,
}

/// One thing that happened in a world, on the one clock that all of them share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moment {
    /// Microseconds since the world began.
    pub at_us: u64,
    pub lane: Lane,
    pub text: String,
}

/// Where something happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lane {
    /// A line that the judge's client sent.
    Client,
    /// A line that the agent answered.
    Agent,
    /// What Flow's stand-in journalled, or when the real one was started and ended.
    Flow,
    /// What the clinic was asked to write, and did.
    App,
    /// A file that was last written at that time.
    File,
}

/// A failure's surroundings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// The action that it is about, in words.
    pub action: Option<String>,
    /// The frames, journal lines and files that decided it.
    pub lines: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finished {
    pub summary: Summary,
    pub matrix: Matrix,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    pub passed: usize,
    pub failed: usize,
    /// Selected and not run, because something stopped the run before.
    pub unrun: usize,
    /// Selected, and impossible on this machine.
    pub unable: usize,
    /// Left out because their profile isn't claimed.
    pub unclaimed: usize,
    pub proven: usize,
    /// Requirements that could be proven.
    pub requirements: usize,
    pub untested: usize,
    /// Untested MUST rows that are within reach.
    pub holes: usize,
    pub interrupted: bool,
    pub seconds: f64,
}

pub const REPORT_FORMAT: &str = "openadapt.conformance-report/v1";

/// A reader of the run.
pub trait Reader {
    fn event(&mut self, event: &Event);
}

impl Summary {
    pub fn of(judgements: &[Judgement], selected: usize, matrix: &Matrix, interrupted: bool, seconds: f64) -> Self {
        let passed = judgements.iter().filter(|judgement| judgement.passed()).count();
        Self {
            passed,
            failed: judgements.len() - passed,
            unrun: selected - judgements.len(),
            unable: 0,
            unclaimed: 0,
            proven: matrix.count(State::Proven),
            requirements: matrix.denominator(),
            untested: matrix.count(State::Untested),
            holes: matrix.holes().count(),
            interrupted,
            seconds,
        }
    }
}
