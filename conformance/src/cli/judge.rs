//! `all` and `run`: judge, report, and say how it ended.

use std::cell::RefCell;
use std::path::PathBuf;

use clap::Args;

use super::court::{Court, Lack, Unable, exit_of};
use super::setup_flow::real_flow_folder;
use super::subject::SubjectArguments;
use super::{Problem, Source};
use crate::browser;
use crate::console::Printer;
use crate::console::progress::Progress;
use crate::exit::Exit;
use crate::real_flow::RealFlow;
use crate::report::Folder;
use crate::requirement::Claims;
use crate::run::events::{Event, Reader};
use crate::run::scheduler::Options;
use crate::scenario::Scenario;
use crate::scenario::select::select;

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
    /// A folder for report.jsonl, junit.xml, matrix.md, badge.svg and index.html, the page for people.
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
                timelines: self.out.is_some(),
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
        let player = self.subject.player();
        let selected = match browser::find() {
            Ok(_) => selected,
            Err(missing) => {
                let lack = Lack { what: "a real browser", why: missing.to_string(), hint: missing.hint().to_owned() };
                unable.set_apart(
                    selected,
                    |scenario| player.needs_browser_in(&scenario.world),
                    self.require_browser,
                    lack,
                )?
            }
        };
        let selected = match RealFlow::find(&real_flow_folder()?) {
            Some(_) => selected,
            None => {
                let why = "it isn't installed here".to_owned();
                let lack = Lack { what: "the real Flow", why, hint: SET_UP_FLOW.to_owned() };
                unable.set_apart(
                    selected,
                    |scenario| player.is_real_in(&scenario.world),
                    self.require_real_flow,
                    lack,
                )?
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
