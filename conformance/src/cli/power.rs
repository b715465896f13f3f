//! `power`: would the judge see it? Changes the evidence of green runs in one fact each, sets liars before it, and tells who was seen by whom.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use serde_json::{Value, json};

use super::subject::SubjectArguments;
use super::{Problem, Source, runtime};
use crate::console::Printer;
use crate::evidence::Evidence;
use crate::exit::Exit;
use crate::power::liar::{Kind, Liar};
use crate::power::liars::{SUSPECTS, Trial, tried};
use crate::power::measure::{End, Row, by_requirement, measure};
use crate::power::{baseline, mutants};
use crate::run::scheduler::{Options, run};
use crate::run::subject::Subject;
use crate::scenario::Scenario;
use crate::scenario::select::select;

#[derive(Debug, Args)]
pub struct Power {
    /// Only mutants and liars whose name begins so.
    #[arg(value_name = "PREFIX")]
    only: Vec<String>,
    #[command(flatten)]
    subject: SubjectArguments,
    #[command(flatten)]
    source: Source,
    /// A folder for power.json and power.md, the kill matrix.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Lies about an agent, for `power`.
#[derive(Debug, Args)]
pub struct Lie {
    kind: Kind,
    #[arg(long, value_name = "JSON", default_value = "null")]
    expect: String,
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<String>,
}

/// What became of everything that was tried.
struct Told {
    rows: Vec<Row>,
    liars: Vec<(&'static str, &'static str, Vec<Trial>)>,
}

impl Power {
    pub fn run(self, printer: Printer) -> Result<Exit, Problem> {
        let began = Instant::now();
        let (known, _) = self.source.load()?;
        let subject = self.subject.find(printer)?;
        let green = self.baseline(known.clone(), &subject, printer)?;
        self.instrument(&green)?;
        let wanted = |id: &str| self.only.is_empty() || self.only.iter().any(|prefix| id.starts_with(prefix));
        let chosen: Vec<_> = mutants::all().into_iter().filter(|mutant| wanted(&mutant.id)).collect();
        printer.say(&format!("{} changes of one fact, on the evidence of {} green runs", chosen.len(), green.len()));
        let rows = measure(&chosen, &green, |row| {
            if row.end != End::Killed {
                printer.data(&line(row));
            }
        });
        let mut liars = Vec::new();
        for suspect in SUSPECTS.iter().filter(|suspect| wanted(&name(suspect.kind))) {
            let globs: Vec<String> = suspect.scenarios.iter().map(|glob| (*glob).to_owned()).collect();
            let before = baseline::of(select(known.clone(), &globs)?);
            let trials = runtime()?.block_on(tried(suspect, &before, &subject));
            for trial in trials.iter().filter(|trial| !trial.found) {
                printer.data(&format!("{}: not found out in {}: {:?}", name(suspect.kind), trial.scenario, trial.red));
            }
            liars.push((suspect.said, suspect.found_by.first().copied().unwrap_or_default(), trials));
        }
        let told = Told { rows, liars };
        if let Some(folder) = &self.out {
            told.write(folder).map_err(|error| {
                Problem::new(
                    Exit::SetUp,
                    format!("{}: {error}", folder.display()),
                    "--out is a folder that can be written",
                )
            })?;
        }
        printer.data(&told.summary(began.elapsed().as_secs_f64()));
        if told.rows.is_empty() && told.liars.is_empty() {
            return Err(Problem::new(
                Exit::NothingSelected,
                "no mutant and no liar has such a name",
                "leave the prefix out",
            ));
        }
        Ok(if told.all_seen() { Exit::Conformant } else { Exit::Power })
    }

    /// Evidence of runs in which nothing was wrong. Anything red here says that the measure can't begin.
    fn baseline(&self, known: Vec<Scenario>, subject: &Subject, printer: Printer) -> Result<Vec<Evidence>, Problem> {
        let scenarios = baseline::of(known);
        printer.say(&format!("running {} scenarios, one of each family", scenarios.len()));
        let jobs = 4 * std::thread::available_parallelism().map_or(2, usize::from);
        let green = RefCell::new(Vec::new());
        let ended = runtime()?.block_on(run(
            scenarios,
            subject.clone(),
            Options { jobs, fail_fast: true },
            |evidence, judgement| {
                if judgement.passed() {
                    green.borrow_mut().push(evidence.clone());
                }
            },
        ));
        if ended.interrupted {
            return Err(Problem::new(Exit::Interrupted, "interrupted", "start it again"));
        }
        if let Some(red) = ended.judgements.iter().find(|judgement| !judgement.passed()) {
            let said = format!("{} is red before anything was changed", red.scenario);
            return Err(Problem::new(Exit::Failed, said, "power is measured on a green judge: see `conformance run`"));
        }
        let mut green = green.into_inner();
        green.sort_by(|one: &Evidence, other| one.scenario.cmp(&other.scenario));
        Ok(green)
    }

    /// Is the measure itself sound: what means nothing is seen by nobody, and what must be seen is.
    fn instrument(&self, green: &[Evidence]) -> Result<(), Problem> {
        let fault = |said: String| Problem::new(Exit::Harness, said, "this is a fault of the judge");
        for row in measure(&mutants::controls(), green, |_| {}) {
            if row.end != End::Killed {
                return Err(fault(format!("a change that means nothing isn't let pass: {}", line(&row))));
            }
        }
        let canary = measure(&[mutants::canary()], green, |_| {});
        match canary.first().map(|row| &row.end) {
            Some(End::Overkilled { .. }) => Ok(()),
            other => Err(fault(format!("the canary isn't seen: {other:?}"))),
        }
    }
}

impl Lie {
    pub fn run(self) -> Result<Exit, Problem> {
        let expect = serde_json::from_str(&self.expect).unwrap_or(Value::Null);
        let ended = Liar { kind: self.kind, expect, command: self.command }.run();
        ended.map(|well| if well { Exit::Conformant } else { Exit::Failed }).map_err(|error| {
            Problem::new(Exit::SetUp, format!("the agent can't be started: {error}"), "is the command there?")
        })
    }
}

impl Told {
    fn all_seen(&self) -> bool {
        self.rows.iter().all(|row| row.end == End::Killed)
            && self.liars.iter().all(|(_, _, trials)| !trials.is_empty() && trials.iter().all(|trial| trial.found))
    }

    fn summary(&self, seconds: f64) -> String {
        let mut ends: BTreeMap<&str, usize> = BTreeMap::new();
        for row in &self.rows {
            *ends.entry(row.end.as_str()).or_default() += 1;
        }
        let ends: Vec<String> = ends.into_iter().map(|(end, count)| format!("{count} {end}")).collect();
        let found = self.liars.iter().filter(|(_, _, trials)| trials.iter().all(|trial| trial.found)).count();
        let requirements = by_requirement(&self.rows).len();
        format!(
            "{} mutants: {}; they break what proves {requirements} requirements\n{found} of {} liars found out, in {seconds:.1} s",
            self.rows.len(),
            ends.join(", "),
            self.liars.len()
        )
    }

    fn write(&self, folder: &std::path::Path) -> std::io::Result<()> {
        std::fs::create_dir_all(folder)?;
        let rows: Vec<Value> = self.rows.iter().map(row_as_json).collect();
        let liars: Vec<Value> = self
            .liars
            .iter()
            .map(|(said, by, trials)| {
                let trials: Vec<Value> = trials
                    .iter()
                    .map(|trial| json!({"scenario": trial.scenario, "red": trial.red, "found": trial.found}))
                    .collect();
                json!({"liar": said, "found_by": by, "trials": trials})
            })
            .collect();
        let requirements = by_requirement(&self.rows);
        let whole = json!({"format": "openadapt.conformance-power/v1", "mutants": rows, "liars": liars, "requirements": requirements});
        std::fs::write(folder.join("power.json"), format!("{whole:#}\n"))?;
        std::fs::write(folder.join("power.md"), self.page())
    }

    /// The kill matrix for the eye.
    fn page(&self) -> String {
        let mut page = "# Would the judge see it?\n\nEach row is one fact of the evidence of a green run, changed.\n\n| mutant | what was changed | tried on | end |\n|---|---|---|---|\n".to_owned();
        for row in &self.rows {
            page.push_str(&format!("| `{}` | {} | {} | {} |\n", row.id, row.said, row.trials, row.end.as_str()));
        }
        page.push_str("\n## Liars\n\n| an agent that | in | found out by |\n|---|---|---|\n");
        for (said, _, trials) in &self.liars {
            for trial in trials {
                let by = if trial.found { trial.red.join(", ") } else { format!("nobody: {}", trial.red.join(", ")) };
                page.push_str(&format!("| {said} | `{}` | {by} |\n", trial.scenario));
            }
        }
        page.push_str("\n## Requirements\n\nHow many killed mutants broke what proves it.\n\n| requirement | mutants |\n|---|---|\n");
        for (requirement, count) in by_requirement(&self.rows) {
            page.push_str(&format!("| {requirement} | {count} |\n"));
        }
        page
    }
}

fn name(kind: Kind) -> String {
    use clap::ValueEnum;
    kind.to_possible_value().map(|value| format!("liar/{}", value.get_name())).unwrap_or_default()
}

fn line(row: &Row) -> String {
    let why = match &row.end {
        End::Killed => String::new(),
        End::Survived { on, red } => format!(" on {on}, where {red:?} is red"),
        End::Overkilled { on, more } => format!(" on {on}: {more:?}"),
        End::Void => ": no evidence holds such a fact".to_owned(),
    };
    format!("{} {}{why}", row.id, row.end.as_str())
}

fn row_as_json(row: &Row) -> Value {
    let why = match &row.end {
        End::Survived { red, .. } => json!(red),
        End::Overkilled { more, .. } => json!(more),
        End::Killed | End::Void => Value::Null,
    };
    json!({
        "mutant": row.id, "changed": row.said, "end": row.end.as_str(), "trials": row.trials, "scenarios": row.scenarios,
        "requirements": row.requirements, "red": why,
    })
}
