//! `demo`: the sandbox's five cases, played for a person.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, fs};

use clap::{Args, ValueEnum};

use super::subject::SubjectArguments;
use super::{Problem, runtime};
use crate::browser;
use crate::check::verdict::Blame;
use crate::console::Printer;
use crate::demo::{self, CASES, Case, Demo, Engine, Onlooker, Plan, Scene};
use crate::exit::Exit;
use crate::run::subject::Subject;

#[derive(Debug, Args)]
pub struct Play {
    #[command(flatten)]
    subject: SubjectArguments,
    /// What plays: the real Flow, a stand-in for it in a real browser, or nothing that opens an app.
    #[arg(long, value_enum, default_value_t = Wanted::Auto)]
    engine: Wanted,
    /// Shows the browser's window.
    #[arg(long)]
    headed: bool,
    /// Slow enough to look on (the stand-in).
    #[arg(long)]
    slow: bool,
    /// Where the page goes. [default: target/demo]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Takes the documentation's pictures anew, into this folder.
    #[arg(long, value_name = "DIR")]
    images: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Wanted {
    Auto,
    Flow,
    Driven,
    Simulated,
}

const SET_UP: &str =
    "`conformance setup-browser` tells what is missing and how to get it; docs/sandbox.md shows the rest";

impl Play {
    pub fn run(self, printer: Printer) -> Result<Exit, Problem> {
        let subject = self.subject.find(printer)?;
        let plan = self.plan(&subject, printer)?;
        let mut watching = Watching { printer, live: io::stderr().is_terminal(), slow: self.slow };
        printer.data(&printer.style.strong("Five cases of one small task: type a note for a patient, and save it."));
        let played = runtime()?.block_on(demo::play(plan, &subject, &mut watching));
        let demo = played.map_err(|error| Problem::new(Exit::Harness, error, "this is a fault of the judge"))?;
        printer.data(&demo::table(&demo, printer.style));
        printer.data(&demo::closing(&demo, printer.style));
        let exit = self.judged(&demo, printer);
        let page = self.written(&demo)?;
        if demo.engine() == Engine::Simulated {
            printer.data(&printer.style.bad(&simulated(&demo)));
        }
        printer.data(&format!("\nThe page with everything to look at: {}", page.display()));
        if let Some(folder) = &self.images {
            self.pictures(&subject, &demo, &page, folder, printer)?;
        }
        Ok(exit)
    }

    fn plan(&self, subject: &Subject, printer: Printer) -> Result<Plan, Problem> {
        let missing = || browser::find().err().map(|missing| missing.to_string());
        let plan = |engine, real, flow| Plan { engine, real, flow, headed: self.headed, slow: self.slow };
        match (self.engine, &subject.browser) {
            (Wanted::Simulated, _) => Ok(plan("simulated", false, false)),
            (Wanted::Auto, Some(_)) => Ok(plan("auto", true, false)),
            (Wanted::Auto, None) => {
                let why = missing().unwrap_or_default();
                printer.data(
                    &printer.style.bad(&format!("NO BROWSER: {why}. The cases are SIMULATED: no app is opened.")),
                );
                printer.data(&format!("hint: {SET_UP}\n"));
                Ok(plan("simulated", false, false))
            }
            (Wanted::Driven, Some(_)) => Ok(plan("driven", true, false)),
            (Wanted::Driven, None) => Err(Problem::new(
                Exit::SetUp,
                format!("the driven engine needs a browser: {}", missing().unwrap_or_default()),
                SET_UP,
            )),
            (Wanted::Flow, _) if subject.real_flow.is_some() => Ok(plan("flow", true, true)),
            (Wanted::Flow, _) => Err(Problem::new(
                Exit::SetUp,
                "the real Flow isn't installed here",
                "`conformance setup-flow` installs it, or name one with OPENADAPT_FLOW",
            )),
        }
    }

    /// Disagreement of any kind is a failure; so is whatever any scenario would fail for.
    fn judged(&self, demo: &Demo, printer: Printer) -> Exit {
        for failure in &demo.judgement.failures {
            let (check, expected, actual) = (&failure.check, &failure.expected, &failure.actual);
            let said = format!("\n{check}\n    Expected  {expected}\n    Actual    {actual}");
            printer.data(&printer.style.bad(&said));
        }
        let blamed = demo.judgement.failures.first().map(|failure| failure.blame);
        let agrees = demo.scenes.len() == CASES.len() && demo.scenes.iter().all(|scene| demo::agreement(scene).holds);
        match (blamed, agrees) {
            (None, true) => Exit::Conformant,
            (Some(Blame::Environment), _) if demo.scenes.is_empty() => Exit::SetUp,
            (Some(Blame::Harness), _) if agrees || demo.scenes.is_empty() => Exit::Harness,
            _ => Exit::Failed,
        }
    }

    fn written(&self, demo: &Demo) -> Result<PathBuf, Problem> {
        let folder = self.out.clone().unwrap_or_else(usual_folder);
        let page = folder.join("index.html");
        let written = fs::create_dir_all(&folder).and_then(|()| fs::write(&page, demo::page(demo)));
        let said = |error: io::Error| {
            Problem::new(Exit::SetUp, format!("{}: {error}", page.display()), "--out is a folder that can be written")
        };
        written.map_err(said)?;
        Ok(page.canonicalize().unwrap_or(page))
    }

    fn pictures(
        &self,
        subject: &Subject,
        demo: &Demo,
        page: &Path,
        folder: &Path,
        printer: Printer,
    ) -> Result<(), Problem> {
        if demo.engine() == Engine::Simulated {
            return Err(Problem::new(Exit::SetUp, "pictures need a browser, and this was simulated", SET_UP));
        }
        let taken = demo::images(subject, page, folder)
            .map_err(|error| Problem::new(Exit::SetUp, format!("the pictures couldn't be taken: {error}"), SET_UP))?;
        printer.data(&format!("{} pictures in {}", taken.len(), folder.display()));
        Ok(())
    }
}

/// Beside what cargo builds, where this program lies there; else here.
fn usual_folder() -> PathBuf {
    let beside = env::current_exe().ok().and_then(|path| Some(path.parent()?.parent()?.to_owned()));
    let target = beside.filter(|folder| folder.join("CACHEDIR.TAG").is_file());
    target.unwrap_or_else(|| PathBuf::from("target")).join("demo")
}

fn simulated(demo: &Demo) -> String {
    let why = demo.fallback().map(|fallback| format!(" ({fallback})")).unwrap_or_default();
    format!("\nSIMULATED{why}: no app was opened, no store was read. {SET_UP}.")
}

/// Tells a person of each case as it is played.
struct Watching {
    printer: Printer,
    live: bool,
    slow: bool,
}

impl Onlooker for Watching {
    fn begins(&mut self, number: usize, case: &Case) {
        self.printer.data(&demo::heading(number, case, self.printer.style));
    }

    fn goes_on(&mut self, steps: usize, took: Duration) {
        if self.live {
            let done = "●".repeat(steps);
            let pace = if self.slow { ", slowly" } else { "" };
            let _reader_gone =
                write!(io::stderr().lock(), "\r\u{1b}[K  playing{pace} {done} {:.1} s", took.as_secs_f64());
            let _reader_gone = io::stderr().flush();
        }
    }

    fn played(&mut self, _: usize, scene: &Scene) {
        if self.live {
            let _reader_gone = write!(io::stderr().lock(), "\r\u{1b}[K");
        }
        self.printer.data(&demo::scene_in_words(scene, self.printer.style));
    }
}
