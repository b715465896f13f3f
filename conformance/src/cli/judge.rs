//! `all` and `run`: judge, report, and say how it ended.

use std::cell::RefCell;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;

use super::subject::SubjectArguments;
use super::{Problem, Source, runtime};
use crate::check::verdict::{Blame, Judgement};
use crate::console::Printer;
use crate::console::progress::Progress;
use crate::exit::Exit;
use crate::report::Folder;
use crate::report::excerpt::judged;
use crate::requirement::{Catalogue, Matrix};
use crate::run::events::{Event, Finished, REPORT_FORMAT, Reader, Started, Summary};
use crate::run::scheduler::{Options, run};
use crate::run::smoke::smoke;
use crate::run::subject::Subject;
use crate::scenario::Scenario;
use crate::scenario::select::select;

#[derive(Debug, Args)]
pub struct All {
    #[command(flatten)]
    how: How,
}

#[derive(Debug, Args)]
pub struct Run {
    /// Only scenarios whose name matches; may be given several times. A family's name selects all of it.
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
        self.how.judge(&self.filter, false, printer)
    }
}

impl How {
    fn judge(self, filter: &[String], whole: bool, printer: Printer) -> Result<Exit, Problem> {
        let (known, catalogue) = self.source.load()?;
        let selected = select(known.clone(), filter)?;
        if selected.is_empty() {
            return Err(Problem::new(
                Exit::NothingSelected,
                "there is no scenario to run",
                "is --scenarios the right folder?",
            ));
        }
        let subject = self.subject.find(printer)?;
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
            conduct(&known, selected, &catalogue, subject, options, whole, &tell)?
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

fn conduct(
    known: &[Scenario],
    selected: Vec<Scenario>,
    catalogue: &Catalogue,
    subject: Subject,
    options: Options,
    whole: bool,
    tell: &dyn Fn(&Event),
) -> Result<Outcome, Problem> {
    let began = Instant::now();
    let count = selected.len();
    tell(&Event::Started(Started {
        format: REPORT_FORMAT.into(),
        conformance: env!("CARGO_PKG_VERSION").into(),
        agent: subject.agent_as_text(),
        flow: subject.flow_as_text(),
        scenarios: selected.iter().map(|scenario| scenario.id.clone()).collect(),
    }));
    let runtime = runtime()?;
    let (evidence, greeting) = runtime
        .block_on(smoke(&subject))
        .map_err(|error| Problem::new(Exit::Harness, error, "this is a fault of the judge"))?;
    let stopped = evidence.stopped.is_some();
    let (judgements, interrupted) = if stopped {
        // A program that doesn't greet fails every scenario the same way: it is told once, and nothing counts as run.
        tell(&Event::Judged(judged(&evidence, &greeting)));
        (vec![greeting.clone()], false)
    } else {
        let seen = |evidence: &crate::evidence::Evidence, judgement: &Judgement| {
            tell(&Event::Judged(judged(evidence, judgement)))
        };
        let ended = runtime.block_on(run(selected, subject, options, seen));
        (ended.judgements, ended.interrupted)
    };
    let matrix = Matrix::of(catalogue, known, &judgements);
    let selected_and_smoke = count + usize::from(stopped);
    let mut summary = Summary::of(&judgements, selected_and_smoke, &matrix, interrupted, began.elapsed().as_secs_f64());
    if !whole {
        // A selection says nothing about what it left out.
        summary.holes = 0;
    }
    tell(&Event::Finished(Finished { summary: summary.clone(), matrix }));
    let blames = |judgement: &Judgement, blame| judgement.failures.iter().any(|failure| failure.blame == blame);
    Ok(Outcome {
        harness: judgements.iter().any(|judgement| blames(judgement, Blame::Harness))
            && !judgements.iter().any(|judgement| blames(judgement, Blame::Implementation)),
        no_greeting: stopped.then(|| greeting.failures.first().map_or(Blame::Implementation, |failure| failure.blame)),
        summary,
    })
}
