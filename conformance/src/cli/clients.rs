//! `clients`: programs of other people against the agent; and `tee`, which writes down what they say to each other.

use std::path::PathBuf;

use clap::Args;

use super::subject::SubjectArguments;
use super::{Problem, runtime};
use crate::clients::list::CLIENTS;
use crate::clients::setup::Setup;
use crate::clients::tee::Tee as Between;
use crate::clients::{Fared, Places, run, scripts};
use crate::console::Printer;
use crate::exit::Exit;
use crate::scenario::select::matches_any;

#[derive(Debug, Args)]
pub struct Clients {
    #[command(flatten)]
    subject: SubjectArguments,
    /// Only clients whose name matches.
    #[arg(value_name = "GLOB")]
    globs: Vec<String>,
    /// A client that can't be set up on this machine is a failure.
    #[arg(long)]
    require_clients: bool,
    /// Where they are set up. [default: `clients` in the target folder]
    #[arg(long, value_name = "DIR")]
    target: Option<PathBuf>,
}

impl Clients {
    pub fn run(self, printer: Printer) -> Result<Exit, Problem> {
        let subject = self.subject.find(printer)?;
        let target =
            self.target.clone().or_else(beside).ok_or_else(|| {
                Problem::new(Exit::SetUp, "the target folder can't be found", "name one with --target")
            })?;
        let places = Places { scripts: scripts(), transcripts: target.join("transcripts"), target };
        let chosen: Vec<_> =
            CLIENTS.iter().filter(|client| self.globs.is_empty() || matches_any(&self.globs, client.name)).collect();
        if chosen.is_empty() {
            let names: Vec<&str> = CLIENTS.iter().map(|client| client.name).collect();
            return Err(Problem::new(
                Exit::NothingSelected,
                "no client has such a name",
                format!("there are {}", names.join(", ")),
            ));
        }
        let (mut setup, runtime) = (Setup::default(), runtime()?);
        let (mut well, mut badly, mut absent) = (0, 0, 0);
        for client in chosen {
            let fared = runtime.block_on(run(client, &mut setup, &places, &subject)).map_err(|error| {
                Problem::new(Exit::SetUp, format!("{}: {error}", client.name), "can folders be made here?")
            })?;
            match fared {
                Fared::Well(saw) => {
                    well += 1;
                    printer.data(&format!("ok    {} ({}): {saw}", client.name, client.about));
                }
                Fared::Badly(problems) => {
                    badly += 1;
                    printer.data(&format!(
                        "FAIL  {} ({})\n        {}",
                        client.name,
                        client.about,
                        problems.join("\n        ")
                    ));
                }
                Fared::CouldNotRun(reason) => {
                    absent += 1;
                    printer.data(&format!("NOT RUN  {} ({}): {reason}", client.name, client.about));
                }
            }
        }
        printer.data(&format!(
            "clients: {well} content, {badly} not, {absent} could not run; transcripts in {}",
            places.transcripts.display()
        ));
        Ok(if badly > 0 || (self.require_clients && absent > 0) { Exit::Failed } else { Exit::Conformant })
    }
}

fn beside() -> Option<PathBuf> {
    Some(std::env::current_exe().ok()?.parent()?.parent()?.join("clients"))
}

/// Used by `clients` alone.
#[derive(Debug, Args)]
pub struct Tee {
    #[arg(long)]
    log: PathBuf,
    #[arg(long)]
    release: PathBuf,
    #[arg(long)]
    env: Vec<String>,
    #[arg(last = true)]
    command: Vec<String>,
}

impl Tee {
    pub fn run(self) -> Result<Exit, Problem> {
        let env =
            self.env.iter().filter_map(|pair| pair.split_once('=')).map(|(name, value)| (name.into(), value.into()));
        let between = Between { log: self.log, release: self.release, env: env.collect(), command: self.command };
        let ended_well =
            between.run().map_err(|error| Problem::new(Exit::SetUp, error, "this verb is for `clients`"))?;
        Ok(if ended_well { Exit::Conformant } else { Exit::Failed })
    }
}
