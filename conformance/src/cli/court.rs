//! What every judging verb shares: the selection that this machine can run, the run itself, and how it ended.

use std::time::Instant;

use super::{Problem, runtime};
use crate::check::verdict::{Blame, Cite, Failure, Judgement};
use crate::evidence::Evidence;
use crate::exit::Exit;
use crate::report::excerpt::judged;
use crate::report::timeline;
use crate::requirement::{Catalogue, Claims, Matrix};
use crate::run::events::{Event, Finished, Judged, REPORT_FORMAT, Started, Summary};
use crate::run::scheduler::{Options, run};
use crate::run::smoke::{introduction, smoke};
use crate::run::subject::Subject;
use crate::scenario::{Scenario, ScenarioId};

/// What a run came to, as far as its exit code goes.
pub struct Outcome {
    pub summary: Summary,
    /// The program didn't even greet; whose fault that is.
    no_greeting: Option<Blame>,
    harness: bool,
}

pub fn exit_of(outcome: &Outcome) -> Exit {
    let summary = &outcome.summary;
    match outcome.no_greeting {
        Some(Blame::Environment) => return Exit::SetUp,
        Some(_) => return Exit::Failed,
        None => {}
    }
    if summary.interrupted {
        return Exit::Interrupted;
    }
    if outcome.harness {
        return Exit::Harness;
    }
    if summary.failed + summary.unrun + summary.holes > 0 { Exit::Failed } else { Exit::Conformant }
}

/// Everything that stays the same during one run.
pub struct Court<'a> {
    pub known: &'a [Scenario],
    pub catalogue: &'a Catalogue,
    pub claims: Option<&'a Claims>,
    pub unable: &'a Unable,
    pub unclaimed: usize,
    /// Nothing was filtered out: requirements without a scenario count.
    pub whole: bool,
    /// The reports want to show what happened when.
    pub timelines: bool,
    pub tell: &'a dyn Fn(&Event),
}

impl Court<'_> {
    pub fn conduct(&self, selected: Vec<Scenario>, subject: Subject, options: Options) -> Result<Outcome, Problem> {
        let began = Instant::now();
        let count = selected.len();
        (self.tell)(&Event::Started(Started {
            format: REPORT_FORMAT.into(),
            conformance: env!("CARGO_PKG_VERSION").into(),
            agent: subject.agent_as_text(),
            flow: subject.flow_as_text(),
            scenarios: selected.iter().map(|scenario| scenario.id.clone()).collect(),
            unable: self.unable.scenarios.clone(),
            unable_why: self.unable.why.clone(),
        }));
        let runtime = runtime()?;
        let (evidence, greeting) = runtime
            .block_on(smoke(&subject))
            .map_err(|error| Problem::new(Exit::Harness, error, "this is a fault of the judge"))?;
        let greeting = self.held_against_claims(&evidence, greeting);
        // A program that doesn't greet fails every scenario the same way: it is told once, and nothing counts as run.
        let stopped = evidence.stopped.is_some() || blames(&greeting, Blame::Claims);
        let (judgements, interrupted) = if stopped {
            (self.tell)(&Event::Judged(self.told(&evidence, &greeting)));
            (vec![greeting.clone()], false)
        } else {
            let seen = |evidence: &Evidence, judgement: &Judgement| {
                (self.tell)(&Event::Judged(self.told(evidence, judgement)));
            };
            let ended = runtime.block_on(run(selected, subject, options, seen));
            (ended.judgements, ended.interrupted)
        };
        let matrix = Matrix::of(self.catalogue, self.known, &judgements);
        let expected = count + usize::from(stopped);
        let mut summary = Summary::of(&judgements, expected, &matrix, interrupted, began.elapsed().as_secs_f64());
        summary.unclaimed = self.unclaimed;
        summary.unable = self.unable.scenarios.len();
        if !self.whole {
            // A selection says nothing about what it left out.
            summary.holes = 0;
        }
        (self.tell)(&Event::Finished(Finished { summary: summary.clone(), matrix }));
        Ok(Outcome {
            harness: judgements.iter().any(|judgement| blames(judgement, Blame::Harness))
                && !judgements.iter().any(|judgement| blames(judgement, Blame::Implementation)),
            no_greeting: stopped
                .then(|| greeting.failures.first().map_or(Blame::Implementation, |failure| failure.blame)),
            summary,
        })
    }

    fn told(&self, evidence: &Evidence, judgement: &Judgement) -> Judged {
        let mut told = judged(evidence, judgement);
        if self.timelines {
            told.timeline = timeline::of(evidence);
        }
        told
    }

    fn held_against_claims(&self, evidence: &Evidence, mut greeting: Judgement) -> Judgement {
        let contradiction = self.claims.zip(introduction(evidence)).and_then(|(claims, server)| {
            let actual = claims.contradicted_by(&server)?;
            Some((format!("{} {}, as it is claimed", claims.product, claims.version), actual))
        });
        if let Some((expected, actual)) = contradiction {
            let cites = evidence.exchanges.iter().take(1).filter_map(|hello| hello.answer).map(Cite::Frame).collect();
            let check = "claims".to_owned();
            greeting.failures.push(Failure { check, step: None, expected, actual, cites, blame: Blame::Claims });
        }
        greeting
    }
}

fn blames(judgement: &Judgement, blame: Blame) -> bool {
    judgement.failures.iter().any(|failure| failure.blame == blame)
}

/// Scenarios that this machine can't run, and why.
#[derive(Debug, Default)]
pub struct Unable {
    pub scenarios: Vec<ScenarioId>,
    pub why: Option<String>,
}

/// What a machine lacks.
pub struct Lack {
    pub what: &'static str,
    pub why: String,
    pub hint: String,
}

impl Unable {
    pub fn set_apart(
        &mut self,
        selected: Vec<Scenario>,
        needs: impl Fn(&Scenario) -> bool,
        required: bool,
        lack: Lack,
    ) -> Result<Vec<Scenario>, Problem> {
        let Lack { what, why, hint } = lack;
        if required {
            return Err(Problem::new(Exit::SetUp, format!("{what} is required, and {why}"), hint));
        }
        let (apart, selected): (Vec<Scenario>, Vec<Scenario>) = selected.into_iter().partition(needs);
        if apart.is_empty() {
            return Ok(selected);
        }
        if selected.is_empty() {
            let said = format!("{} scenarios were selected, and each needs {what}: {why}", apart.len());
            return Err(Problem::new(Exit::SetUp, said, hint));
        }
        let said = format!("{} need {what}, and {why}. To change that: {hint}", apart.len());
        self.why = Some(self.why.take().map_or(said.clone(), |before| format!("{before}\n{said}")));
        self.scenarios.extend(apart.into_iter().map(|scenario| scenario.id));
        Ok(selected)
    }
}
