//! `all` and `run`: judge, report, and say how it ended.

use std::cell::RefCell;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;

use super::setup_flow::real_flow_folder;
use super::subject::SubjectArguments;
use super::{Problem, Source, runtime};
use crate::browser;
use crate::check::verdict::{Blame, Cite, Failure, Judgement};
use crate::console::Printer;
use crate::console::progress::Progress;
use crate::evidence::Evidence;
use crate::exit::Exit;
use crate::real_flow::RealFlow;
use crate::report::Folder;
use crate::report::excerpt::judged;
use crate::requirement::{Catalogue, Claims, Matrix};
use crate::run::events::{Event, Finished, REPORT_FORMAT, Reader, Started, Summary};
use crate::run::scheduler::{Options, run};
use crate::run::smoke::{introduction, smoke};
use crate::run::subject::Subject;
use crate::scenario::select::select;
use crate::scenario::{Scenario, ScenarioId};

#[derive(Debug, Args)]
pub struct All {
    #[command(flatten)]
    how: How,
}

#[derive(Debug, Args)]
pub struct Run {
    /// Only scenarios whose name matches. A family's name selects all of it.
    #[arg(value_name = "GLOB")]
    globs: Vec<String>,
    /// The same, as a flag; may be given several times.
    #[arg(long, value_name = "GLOB")]
    filter: Vec<String>,
    #[command(flatten)]
    how: How,
}

#[derive(Debug, Args)]
struct How {
    #[command(flatten)]
    subject: SubjectArguments,
    #[command(flatten)]
    source: Source,
    /// Worlds at once. [default: four for each core]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Start nothing more after the first failure.
    #[arg(long)]
    fail_fast: bool,
    /// What the program claims (claims.json); scenarios of other profiles are left out, and counted. [default: every profile]
    #[arg(long, value_name = "FILE")]
    claims: Option<PathBuf>,
    /// Scenarios with the real Flow must run: where there is none, that is a failure.
    #[arg(long)]
    require_real_flow: bool,
    /// Scenarios with a real browser must run: where there is none, that is a failure.
    #[arg(long)]
    require_browser: bool,
    /// A folder for report.jsonl, junit.xml and matrix.md.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl All {
    pub fn run(self, printer: Printer) -> Result<Exit, Problem> {
        self.how.judge(&[], true, printer)
    }
}

impl Run {
    pub fn run(self, printer: Printer) -> Result<Exit, Problem> {
        self.how.judge(&[self.globs, self.filter].concat(), false, printer)
    }
}

impl How {
    fn judge(self, filter: &[String], whole: bool, printer: Printer) -> Result<Exit, Problem> {
        let (known, catalogue) = self.source.load()?;
        let claims = match &self.claims {
            Some(path) => Some(Claims::read(path, &known).map_err(|error| {
                let said = format!("{}: {error}", path.display());
                Problem::new(Exit::SetUp, said, "schemas/claims.json has the format")
            })?),
            None => None,
        };
        let matching = select(known.clone(), filter)?;
        let matching_count = matching.len();
        let selected: Vec<Scenario> = matching
            .into_iter()
            .filter(|scenario| claims.as_ref().is_none_or(|claims| claims.cover(scenario)))
            .collect();
        let unclaimed = matching_count - selected.len();
        let (selected, unable) = self.within_reach(selected)?;
        if selected.is_empty() {
            return Err(Problem::new(
                Exit::NothingSelected,
                "there is no scenario to run",
                "is --scenarios the right folder?",
            ));
        }
        let subject = self.subject.find(printer)?;
        let subject = match selected.iter().any(Scenario::needs_test_build) {
            true => self.subject.mortal(subject, printer)?,
            false => subject,
        };
        let mut folder = match &self.out {
            Some(path) => Some(Folder::create(path).map_err(|error| {
                Problem::new(
                    Exit::SetUp,
                    format!("{}: {error}", path.display()),
                    "--out is a folder that can be written",
                )
            })?),
            None => None,
        };
        let jobs = self.jobs.unwrap_or_else(|| 4 * std::thread::available_parallelism().map_or(2, usize::from));
        let options = Options { jobs, fail_fast: self.fail_fast };
        let outcome = {
            let mut progress = Progress::new(printer, &catalogue);
            let mut readers: Vec<&mut dyn Reader> = vec![&mut progress];
            if let Some(folder) = &mut folder {
                readers.push(folder);
            }
            let readers = RefCell::new(readers);
            let tell = |event: &Event| readers.borrow_mut().iter_mut().for_each(|reader| reader.event(event));
            let court = Court {
                known: &known,
                catalogue: &catalogue,
                claims: claims.as_ref(),
                unable: &unable,
                unclaimed,
                whole,
                tell: &tell,
            };
            court.conduct(selected, subject, options)?
        };
        if let Some(error) = folder.and_then(|folder| folder.fault) {
            return Err(Problem::new(
                Exit::Harness,
                format!("the report couldn't be written: {error}"),
                "is the disk full?",
            ));
        }
        Ok(exit_of(&outcome))
    }

    /// What needs something that isn't here is set apart, to be told of; where it is required, that is the end.
    fn within_reach(&self, selected: Vec<Scenario>) -> Result<(Vec<Scenario>, Unable), Problem> {
        let mut unable = Unable::default();
        let selected = match browser::find() {
            Ok(_) => selected,
            Err(missing) => {
                let lack = Lack { what: "a real browser", why: missing.to_string(), hint: missing.hint().to_owned() };
                unable.set_apart(selected, |scenario| scenario.world.browser, self.require_browser, lack)?
            }
        };
        let selected = match RealFlow::find(&real_flow_folder()?) {
            Some(_) => selected,
            None => {
                let why = "it isn't installed here".to_owned();
                let lack = Lack { what: "the real Flow", why, hint: SET_UP_FLOW.to_owned() };
                unable.set_apart(selected, |scenario| scenario.world.real_flow, self.require_real_flow, lack)?
            }
        };
        let selected = match self.subject.can_crash() {
            true => selected,
            false => {
                let why = "there is none of this agent".to_owned();
                let lack = Lack { what: "a build for the judge", why, hint: NAME_CRASH_AGENT.to_owned() };
                unable.set_apart(selected, Scenario::needs_test_build, false, lack)?
            }
        };
        Ok((selected, unable))
    }
}

const SET_UP_FLOW: &str = "`conformance setup-flow` installs it, or name one with OPENADAPT_FLOW";

const NAME_CRASH_AGENT: &str = "start this program with cargo run, or name one with --crash-agent";

/// Scenarios that this machine can't run, and why.
#[derive(Debug, Default)]
struct Unable {
    scenarios: Vec<ScenarioId>,
    why: Option<String>,
}

/// What a machine lacks.
struct Lack {
    what: &'static str,
    why: String,
    hint: String,
}

impl Unable {
    fn set_apart(
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

/// What a run came to, as far as its exit code goes.
struct Outcome {
    summary: Summary,
    /// The program didn't even greet; whose fault that is.
    no_greeting: Option<Blame>,
    harness: bool,
}

fn exit_of(outcome: &Outcome) -> Exit {
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
struct Court<'a> {
    known: &'a [Scenario],
    catalogue: &'a Catalogue,
    claims: Option<&'a Claims>,
    unable: &'a Unable,
    unclaimed: usize,
    /// Nothing was filtered out: requirements without a scenario count.
    whole: bool,
    tell: &'a dyn Fn(&Event),
}

impl Court<'_> {
    fn conduct(&self, selected: Vec<Scenario>, subject: Subject, options: Options) -> Result<Outcome, Problem> {
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
            (self.tell)(&Event::Judged(judged(&evidence, &greeting)));
            (vec![greeting.clone()], false)
        } else {
            let seen =
                |evidence: &Evidence, judgement: &Judgement| (self.tell)(&Event::Judged(judged(evidence, judgement)));
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
