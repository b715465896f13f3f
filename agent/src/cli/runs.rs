//! `runs`: what the store of actions knows, for a person or a program at this computer. Reads only, and leaves nothing behind.

mod text;

use std::process::ExitCode;
use std::time::Duration;

use clap::{Subcommand, ValueEnum};

use super::console;
use super::runs_folder::{RunsFolder, refused};
use crate::contract::ids::RunId;
use crate::lifecycle::Store;
use crate::lifecycle::store::Listing;
use crate::lifecycle::types::{Execution, Phase};
use crate::refusal::Refusal;

const EXAMPLES: &str = "Examples:
  openadapt-agent runs list --open              runs that are under way or wait for somebody
  openadapt-agent runs show RUN_ID              what happened, and what a person can do now
  openadapt-agent runs events RUN_ID            every step, one JSON object a line
  openadapt-agent runs counters --json          what a reviewer refused";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Lists actions, newest first.
    List(List),
    /// Tells what happened to one run, and what a person can do now.
    Show(Show),
    /// The events of one run, one JSON object a line.
    Events(Events),
    /// How often a reviewer has refused, for each policy version.
    Counters(Counters),
}

#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
enum ExecutionWord {
    NotStarted,
    Succeeded,
    Failed,
    Unknown,
}

#[derive(Debug, clap::Args)]
struct List {
    /// Only actions of which this is known.
    #[arg(long, value_enum)]
    execution: Option<ExecutionWord>,
    /// Only actions that aren't over.
    #[arg(long)]
    open: bool,
    /// At most so many.
    #[arg(long, default_value_t = 100)]
    most: u32,
    #[command(flatten)]
    how: How,
}

#[derive(Debug, clap::Args)]
struct Show {
    run_id: String,
    #[command(flatten)]
    how: How,
}

#[derive(Debug, clap::Args)]
struct Events {
    run_id: String,
    /// Goes on until the run is over.
    #[arg(long)]
    follow: bool,
    #[command(flatten)]
    how: How,
}

#[derive(Debug, clap::Args)]
struct Counters {
    #[command(flatten)]
    how: How,
}

#[derive(Debug, clap::Args)]
struct How {
    /// JSON instead of text.
    #[arg(long)]
    json: bool,
    /// Shows the caller's own request_id, too. It is the caller's text and may carry a number of a record.
    #[arg(long)]
    show_request_id: bool,
    #[command(flatten)]
    folder: RunsFolder,
}

const NAME: &str = "runs";
/// How often a run that is followed is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(100);

pub fn run(arguments: &Arguments) -> ExitCode {
    let done = match &arguments.what {
        What::List(list) => self::list(list),
        What::Show(show) => self::show(show),
        What::Events(events) => self::events(events),
        What::Counters(counters) => self::counters(counters),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(refusal) => console::refused(NAME, &refusal),
    }
}

fn list(list: &List) -> Result<(), Refusal> {
    let listing = Listing {
        execution: list.execution.map(|word| match word {
            ExecutionWord::NotStarted => Execution::NotStarted,
            ExecutionWord::Succeeded => Execution::Succeeded,
            ExecutionWord::Failed => Execution::Failed,
            ExecutionWord::Unknown => Execution::Unknown,
        }),
        open: list.open,
        most: list.most,
        show_request_id: list.how.show_request_id,
    };
    let rows = match list.how.folder.look()? {
        Some(store) => store.list(listing).map_err(|fault| refused(&fault))?,
        None => Vec::new(),
    };
    if list.how.json {
        rows.iter().for_each(print_json);
    } else {
        console::to_stdout(&text::list(&rows));
    }
    Ok(())
}

fn show(show: &Show) -> Result<(), Refusal> {
    let (store, run_id) = known(&show.how, &show.run_id)?;
    let told = text::Told::of(&store, &run_id).map_err(|fault| refused(&fault))?.ok_or_else(unknown_run)?;
    if show.how.json {
        print_json(&told.to_object(show.how.show_request_id));
    } else {
        console::to_stdout(&told.to_text(show.how.show_request_id));
    }
    Ok(())
}

fn events(events: &Events) -> Result<(), Refusal> {
    let (store, run_id) = known(&events.how, &events.run_id)?;
    let mut last = 0;
    loop {
        let over = store.find(&run_id).map_err(|fault| refused(&fault))?.ok_or_else(unknown_run)?.action.phase
            == Phase::Projected;
        for event in store.events(&run_id, last).map_err(|fault| refused(&fault))? {
            last = event.seq;
            print_json(&event);
        }
        if over || !events.follow {
            return Ok(());
        }
        std::thread::park_timeout(LOOK_EVERY);
    }
}

fn counters(counters: &Counters) -> Result<(), Refusal> {
    let rows = match counters.how.folder.look()? {
        Some(store) => store.counters().map_err(|fault| refused(&fault))?,
        None => Vec::new(),
    };
    if counters.how.json {
        rows.iter().for_each(print_json);
    } else {
        console::to_stdout(&text::counters(&rows));
    }
    Ok(())
}

fn known(how: &How, run_id: &str) -> Result<(Store, RunId), Refusal> {
    let run_id = RunId::parse(run_id).map_err(|_| unknown_run())?;
    Ok((how.folder.look()?.ok_or_else(unknown_run)?, run_id))
}

fn unknown_run() -> Refusal {
    Refusal::new("this runs folder has no run with that id", "`openadapt-agent runs list` shows those that it has")
}

fn print_json(row: &impl serde::Serialize) {
    if let Ok(line) = serde_json::to_string(row) {
        console::to_stdout(&format!("{line}\n"));
    }
}
