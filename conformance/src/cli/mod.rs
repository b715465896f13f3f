//! The command line: one file for each verb.

mod bench;
mod certify;
mod clients;
mod court;
mod crash;
mod demo;
mod docs;
mod explain;
mod explore;
mod freeze;
mod judge;
mod list;
mod page;
mod parity;
mod power;
mod report;
mod setup_browser;
mod setup_flow;
mod smoke;
mod storm;
mod subject;
mod unprivileged;
mod verify;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::console::Printer;
use crate::exit::Exit;
use crate::requirement::Catalogue;
use crate::scenario::Scenario;
use crate::scenario::select::SelectError;
use crate::scenario::source::Files;

/// Judges an OpenAdapt agent: drives the real program over real stdio, and decides from what the judge itself sees.
///
/// Exit codes: 0 conformant, 2 usage, 4 nothing selected, 70 fault of the judge, 96 set-up, 100 a requirement failed, 101 the judge's
/// power is below its bar, 102 bad evidence, 130 interrupted.
#[derive(Debug, Parser)]
#[command(name = "conformance", version, max_term_width = 120)]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Every scenario; a requirement within reach that none proves is a failure, too.
    All(judge::All),
    /// The selected scenarios.
    Run(judge::Run),
    /// The scenarios, by name.
    List(list::List),
    /// What one scenario does, and which sentences it proves.
    Explain(explain::Explain),
    /// Is it an MCP server at all: who it says it is, and its tools.
    Smoke(smoke::Smoke),
    /// Broken frames in great number, from a seed: each must get its due, and none may start anything.
    Storm(storm::Storm),
    /// Server and keeper die at every named moment, or at drawn ones: nothing known is lost, nothing done twice.
    Crash(crash::Crash),
    /// Worlds drawn at random, two servers and three requests, against a reference model; a failure is made small.
    Explore(explore::Explore),
    #[command(hide = true)]
    Unprivileged(unprivileged::Unprivileged),
    /// Clients and checkers of other people against the agent.
    Clients(clients::Clients),
    #[command(hide = true)]
    Tee(clients::Tee),
    /// Shows a stored report again.
    Report(report::Report),
    /// What scenarios with a browser need: gets the driver, and says how to get the rest.
    SetupBrowser(setup_browser::SetupBrowser),
    /// The sandbox's five cases, played for a person: what the app shows, what its store holds, what the agent says.
    Demo(demo::Play),
    /// Would the judge see it: green evidence changed in one fact, and agents that lie.
    Power(power::Power),
    #[command(hide = true)]
    Liar(power::Lie),
    /// How long things take, beside what the machine itself takes.
    Bench(bench::Bench),
    /// Installs the real Flow here, for the scenarios that need it.
    SetupFlow(setup_flow::SetupFlow),
    /// Judges a Flow against its frozen set, and leaves a folder that others can verify.
    Certify(certify::Certify),
    /// Judges the evidence of such a folder again, offline.
    Verify(verify::Verify),
    /// Prints the frozen list of a set, made from its bodies.
    Freeze(freeze::Freeze),
    /// The stand-in held against the real Flow: the same scenario bodies on both, compared by exit codes, files and shapes.
    Parity(parity::Parity),
    /// Looks at a report's page in a real browser.
    Page(page::Page),
    /// Is the documentation true: runs every command of it, and starts every start line.
    Docs(docs::Docs),
}

/// Where scenarios come from.
#[derive(Debug, Clone, Args)]
struct Source {
    /// A folder of scenarios instead of the built-in ones.
    #[arg(long, value_name = "DIR")]
    scenarios: Option<PathBuf>,
}

/// Runs the command line that the process was started with.
pub fn main() -> Exit {
    let printer = Printer::for_stdout();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) if error.use_stderr() => {
            printer.say(&error.to_string());
            return Exit::Usage;
        }
        Err(shown) => {
            printer.data(&shown.to_string());
            return Exit::Conformant;
        }
    };
    let outcome = match arguments.verb {
        Verb::All(all) => all.run(printer),
        Verb::Run(run) => run.run(printer),
        Verb::List(list) => list.run(printer),
        Verb::Explain(explain) => explain.run(printer),
        Verb::Smoke(smoke) => smoke.run(printer),
        Verb::Storm(storm) => storm.run(printer),
        Verb::Crash(crash) => crash.run(printer),
        Verb::Explore(explore) => explore.run(printer),
        Verb::Unprivileged(unprivileged) => unprivileged.run(),
        Verb::Clients(clients) => clients.run(printer),
        Verb::Tee(tee) => tee.run(),
        Verb::Report(report) => report.run(printer),
        Verb::SetupBrowser(setup) => setup.run(printer),
        Verb::Demo(demo) => demo.run(printer),
        Verb::Power(power) => power.run(printer),
        Verb::Liar(lie) => lie.run(),
        Verb::Bench(bench) => bench.run(printer),
        Verb::SetupFlow(setup) => setup.run(printer),
        Verb::Certify(certify) => certify.run(printer),
        Verb::Verify(verify) => verify.run(printer),
        Verb::Freeze(freeze) => freeze.run(printer),
        Verb::Page(page) => page.run(printer),
        Verb::Docs(docs) => docs.run(printer),
        Verb::Parity(parity) => parity.run(printer),
    };
    outcome.unwrap_or_else(|problem| {
        printer.complain(&problem.said, &problem.hint);
        problem.exit
    })
}

/// Why a verb couldn't do its work: what went wrong, and what to do.
#[derive(Debug)]
struct Problem {
    exit: Exit,
    said: String,
    hint: String,
}

impl Problem {
    fn new(exit: Exit, said: impl ToString, hint: impl ToString) -> Self {
        Self { exit, said: said.to_string(), hint: hint.to_string() }
    }
}

impl From<SelectError> for Problem {
    fn from(error: SelectError) -> Self {
        let (exit, hint) = match &error {
            SelectError::BadGlob(_) => {
                (Exit::Usage, "* is any text within one part of a name, ** goes across parts".to_owned())
            }
            SelectError::Nothing { nearest, .. } => match nearest.is_empty() {
                true => (Exit::NothingSelected, "there are no scenarios".to_owned()),
                false => (Exit::NothingSelected, format!("did you mean {}?", nearest.join(", or "))),
            },
        };
        Self::new(exit, error, hint)
    }
}

impl Source {
    /// Every scenario and requirement of the set, each scenario's requirements being known.
    fn load(&self) -> Result<(Vec<Scenario>, Catalogue), Problem> {
        let hint = "scenarios/README.md has the format";
        let files = Files::of(self.scenarios.as_deref()).map_err(|error| Problem::new(Exit::SetUp, error, hint))?;
        let scenarios = files.scenarios().map_err(|error| Problem::new(Exit::SetUp, error, hint))?;
        let catalogue = Catalogue::read(&files).map_err(|error| Problem::new(Exit::SetUp, error, hint))?;
        catalogue.covers(&scenarios).map_err(|error| Problem::new(Exit::SetUp, error, hint))?;
        Ok((scenarios, catalogue))
    }
}

/// One thread: worlds wait for other processes, and share nothing but the clock.
fn runtime() -> Result<tokio::runtime::Runtime, Problem> {
    let built = tokio::runtime::Builder::new_current_thread().enable_all().build();
    built.map_err(|error| Problem::new(Exit::SetUp, format!("no runtime: {error}"), "are file descriptors exhausted?"))
}
