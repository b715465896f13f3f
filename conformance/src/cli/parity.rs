//! `parity`: the same bodies on the stand-in and on the real Flow, and what differs.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use serde_json::json;

use super::setup_flow::real_flow_folder;
use super::subject::SubjectArguments;
use super::{Problem, Source, runtime};
use crate::console::Printer;
use crate::exit::Exit;
use crate::parity::{Difference, Portrait, captured, differences};
use crate::real_flow::RealFlow;
use crate::run::scheduler::{Options, run};
use crate::run::subject::{Player, Subject, split};
use crate::scenario::select::select;
use crate::scenario::{Scenario, ScenarioId};

#[derive(Debug, Args)]
pub struct Parity {
    /// Only bodies whose name matches. A family's name selects all of it.
    #[arg(value_name = "GLOB")]
    globs: Vec<String>,
    /// The real Flow's command. [default: the one that `setup-flow` installed]
    #[arg(long, value_name = "CMD")]
    flow: Option<String>,
    /// The interpreter that it runs under. [default: told from the command]
    #[arg(long, value_name = "PY", requires = "flow")]
    python: Option<PathBuf>,
    /// The agent's command.
    #[arg(long, value_name = "CMD")]
    agent: Option<String>,
    #[command(flatten)]
    source: Source,
    /// Worlds at once. [default: one for each core]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// A folder for parity.json: every body, how it fared on both, and what differs.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The stand-in's folder of shapes: those that are captured are written anew, from what the real Flow left.
    #[arg(long, value_name = "DIR")]
    refresh: Option<PathBuf>,
}

/// One body on one engine.
struct Fared {
    portrait: Portrait,
    failures: Vec<String>,
    seconds: f64,
}

impl Parity {
    pub fn run(self, printer: Printer) -> Result<Exit, Problem> {
        let began = Instant::now();
        let (known, _) = self.source.load()?;
        let bodies: Vec<Scenario> =
            select(known, &self.globs)?.into_iter().filter(|body| body.world.is_for_any_engine()).collect();
        if bodies.is_empty() {
            return Err(Problem::new(Exit::NothingSelected, "none of them is for any engine", "see scenarios/parity"));
        }
        let subject = self.subject(printer)?;
        let options = Options {
            jobs: self.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(2, usize::from)),
            fail_fast: false,
        };
        let stand_in = fared(&bodies, &subject, Player::StandIn, options, printer)?;
        let real = fared(&bodies, &subject, Player::Real, options, printer)?;
        let mut rows = Vec::new();
        let mut unequal = 0;
        for body in &bodies {
            let (Some(ours), Some(theirs)) = (stand_in.get(&body.id), real.get(&body.id)) else { continue };
            let differ = differences(&ours.portrait, &theirs.portrait);
            if !(differ.is_empty() && ours.failures.is_empty() && theirs.failures.is_empty()) {
                unequal += 1;
                printer.data(&told(&body.id, ours, theirs, &differ));
            }
            rows.push(json!({
                "body": body.id,
                "stand_in": {"failures": ours.failures, "seconds": ours.seconds},
                "real": {"failures": theirs.failures, "seconds": theirs.seconds},
                "differences": differ,
            }));
        }
        let lost = bodies.len() - rows.len();
        let seconds = |all: &BTreeMap<ScenarioId, Fared>| all.values().map(|one| one.seconds).sum::<f64>();
        printer.data(&format!(
            "parity: {} of {} bodies are equal, {unequal} differ, {lost} didn't run; worlds took {:.0} s on the stand-in, {:.0} s on the real Flow; {:.0} s in all",
            rows.len() - unequal,
            bodies.len(),
            seconds(&stand_in),
            seconds(&real),
            began.elapsed().as_secs_f64()
        ));
        self.write(&json!({"bodies": rows, "equal": rows.len() - unequal, "unequal": unequal, "lost": lost}))?;
        if let Some(folder) = &self.refresh {
            let left: BTreeMap<String, &Portrait> =
                real.iter().map(|(id, fared)| (id.to_string(), &fared.portrait)).collect();
            let written = captured::refresh(folder, &left)
                .map_err(|error| Problem::new(Exit::SetUp, error, "--refresh names flow-fake/shapes"))?;
            printer.data(&format!("{written} captured shapes were written"));
        }
        Ok(if unequal + lost > 0 { Exit::Failed } else { Exit::Conformant })
    }

    fn subject(&self, printer: Printer) -> Result<Subject, Problem> {
        let mut subject = SubjectArguments::for_parity(self.agent.clone()).find(printer)?;
        if subject.browser.is_none() {
            return Err(Problem::new(
                Exit::SetUp,
                "there is no real browser here",
                "`conformance setup-browser` says what is missing",
            ));
        }
        if let Some(command) = &self.flow {
            let words = split(command).ok_or_else(|| {
                Problem::new(Exit::Usage, format!("{command:?} is no command"), "words are split as a shell does")
            })?;
            let named = RealFlow::of_command(words, self.python.clone(), &real_flow_folder()?);
            let mut named = named.map_err(|fault| {
                Problem::new(
                    Exit::SetUp,
                    fault,
                    "name its interpreter with --python; the bundle is recorded by it, in a browser",
                )
            })?;
            named
                .ask_for_the_bridge(&subject.agent)
                .map_err(|fault| Problem::new(Exit::SetUp, fault, "is --agent right?"))?;
            subject.real_flow = Some(named);
        }
        match &subject.real_flow {
            Some(flow) if flow.carried.is_some() => Ok(subject),
            Some(_) => {
                Err(Problem::new(Exit::SetUp, "the agent carries no bridge for this Flow", "is it a Python program?"))
            }
            None => Err(Problem::new(
                Exit::SetUp,
                "there is no real Flow here",
                "`conformance setup-flow` installs it, or name one with --flow",
            )),
        }
    }

    fn write(&self, whole: &serde_json::Value) -> Result<(), Problem> {
        let Some(folder) = &self.out else { return Ok(()) };
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(folder.join("parity.json"), format!("{whole:#}\n")))
            .map_err(|error| Problem::new(Exit::SetUp, error, "--out is a folder that can be written"))
    }
}

fn fared(
    bodies: &[Scenario],
    subject: &Subject,
    player: Player,
    options: Options,
    printer: Printer,
) -> Result<BTreeMap<ScenarioId, Fared>, Problem> {
    let name = if player == Player::Real { "the real Flow" } else { "the stand-in" };
    printer.say(&format!("{} bodies on {name}", bodies.len()));
    let mut all = BTreeMap::new();
    let subject = Subject { player, ..subject.clone() };
    let ended = runtime()?.block_on(run(bodies.to_vec(), subject, options, |evidence, judgement| {
        let failures =
            judgement.failures.iter().map(|failure| format!("{}: expected {}", failure.check, failure.expected));
        let fared = Fared { portrait: Portrait::of(evidence), failures: failures.collect(), seconds: evidence.seconds };
        let verdict = if fared.failures.is_empty() { "ok" } else { "FAIL" };
        printer.say(&format!("{verdict:<5} {} on {name} ({:.1} s)", evidence.scenario, evidence.seconds));
        all.insert(evidence.scenario.clone(), fared);
    }));
    if ended.interrupted {
        return Err(Problem::new(Exit::Interrupted, "interrupted", "start it again"));
    }
    Ok(all)
}

fn told(id: &ScenarioId, ours: &Fared, theirs: &Fared, differ: &[Difference]) -> String {
    let mut lines = vec![format!("DIFFERS  {id}")];
    for (name, fared) in [("stand-in", ours), ("real", theirs)] {
        lines.extend(fared.failures.iter().map(|failure| format!("  fails on {name}: {failure}")));
    }
    for difference in differ {
        lines.push(format!("  {}", difference.at));
        lines.push(format!("    stand-in  {}", difference.stand_in));
        lines.push(format!("    real      {}", difference.real));
    }
    lines.join("\n")
}
