//! `crash`: server and keeper die at every named moment, or at moments that are drawn, and what comes after is judged.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, ValueEnum};
use serde_json::json;

use super::subject::SubjectArguments;
use super::{Problem, Source, runtime};
use crate::check::verdict::Blame;
use crate::console::Printer;
use crate::console::campaign::Campaign;
use crate::crash::matrix::{Matrix, of_kills};
use crate::crash::tally::Row;
use crate::crash::{Kill, LedgerKind, plan};
use crate::exit::Exit;
use crate::run::perform;
use crate::run::scheduler::{Options, run};
use crate::run::subject::Subject;
use crate::scenario::Scenario;
use crate::scenario::select::matches_any;

/// Draws beyond this many times the wanted kills hit nobody: then something else is wrong.
const DRAWS: u64 = 4;

#[derive(Debug, Args)]
pub struct Crash {
    #[command(flatten)]
    subject: SubjectArguments,
    #[command(flatten)]
    source: Source,
    /// Which cases: those that `all` has, or every moment with every second death in recovery.
    #[arg(long, value_enum, default_value = "fast")]
    slice: Slice,
    /// Only moments whose name matches; may be given several times.
    #[arg(long, value_name = "GLOB")]
    point: Vec<String>,
    /// Only with Flow's own ledger, or only with claim files.
    #[arg(long, value_enum, default_value = "both")]
    ledger: Ledger,
    /// Instead of the named moments: so many kills at moments that are drawn.
    #[arg(long, value_name = "N", conflicts_with_all = ["slice", "point"])]
    kills: Option<u64>,
    /// The same seed draws the same. [default: another one each time]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Worlds at once. [default: four for each core]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// A folder for crash.jsonl and crash.md.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Slice {
    Fast,
    Full,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Ledger {
    Sqlite,
    Claims,
    Both,
}

impl Ledger {
    fn has(self, kind: LedgerKind) -> bool {
        match self {
            Self::Sqlite => kind == LedgerKind::Sqlite,
            Self::Claims => kind == LedgerKind::Claims,
            Self::Both => true,
        }
    }
}

impl Crash {
    pub fn run(self, printer: Printer) -> Result<Exit, Problem> {
        let subject = self.subject.with_crash_points(printer)?;
        let began = Instant::now();
        let rows = match self.kills {
            Some(kills) => self.kills(kills, &subject, printer)?,
            None => self.moments(&subject, printer)?,
        };
        let page = match self.kills {
            Some(_) => of_kills(&rows.rows),
            None => Matrix::of(&rows.rows).to_markdown(),
        };
        printer.data(&if self.kills.is_some() { page.clone() } else { Matrix::of(&rows.rows).to_text() });
        let failed = rows.rows.iter().filter(|row| !row.passed).count();
        let held = rows.rows.len() - failed;
        let took = began.elapsed().as_secs_f64();
        printer.data(&format!("{held} of {} cases held, in {took:.1} s", rows.rows.len()));
        if let Some(folder) = &self.out {
            report(folder, &page, &rows.rows, took).map_err(|error| {
                Problem::new(
                    Exit::Harness,
                    format!("{}: {error}", folder.display()),
                    "--out is a folder that can be written",
                )
            })?;
        }
        Ok(match (rows.interrupted, failed, rows.harness) {
            (true, _, _) => Exit::Interrupted,
            (_, 0, _) => Exit::Conformant,
            (_, _, true) => Exit::Harness,
            _ => Exit::Failed,
        })
    }

    fn moments(&self, subject: &Subject, printer: Printer) -> Result<Judged, Problem> {
        let scenarios: Vec<Scenario> = match self.slice {
            Slice::Fast => self.source.load()?.0,
            Slice::Full => plan::full().iter().filter_map(plan::scenario_of).collect(),
        };
        let wanted = |scenario: &Scenario| {
            scenario.crash.as_ref().is_some_and(|case| {
                self.ledger.has(case.ledger) && (self.point.is_empty() || matches_any(&self.point, case.point.name()))
            })
        };
        let scenarios: Vec<Scenario> = scenarios.into_iter().filter(wanted).collect();
        if scenarios.is_empty() {
            return Err(Problem::new(
                Exit::NothingSelected,
                "there is no such case",
                "docs/crash.md names the moments",
            ));
        }
        self.judge(scenarios, subject, printer)
    }

    fn kills(&self, kills: u64, subject: &Subject, printer: Printer) -> Result<Judged, Problem> {
        let seed = self.seed.unwrap_or_else(|| u64::from(uuid::Uuid::new_v4().as_fields().0));
        let of = events_of_a_run(subject)?;
        printer.say(&format!("{kills} kills, seed {seed}, over the {of} events of a run"));
        let mut judged = Judged::default();
        let mut number = 0;
        loop {
            let hit = judged.rows.iter().filter(|row| !row.killed.is_empty()).count() as u64;
            if hit >= kills || judged.interrupted || number >= kills.saturating_mul(DRAWS) {
                return Ok(judged);
            }
            // Those that come too late for a keeper kill nobody: more are drawn.
            let next = number + (kills - hit);
            let drawn = (number..next).map(|number| Kill { seed, number, of });
            let drawn = drawn.filter(|kill| self.ledger.has(kill.drawn().ledger));
            let more = self.judge(drawn.filter_map(plan::scenario_of_kill).collect(), subject, printer)?;
            number = next;
            judged.rows.extend(more.rows);
            judged.interrupted |= more.interrupted;
            judged.harness |= more.harness;
        }
    }

    fn judge(&self, scenarios: Vec<Scenario>, subject: &Subject, printer: Printer) -> Result<Judged, Problem> {
        let jobs = self.jobs.unwrap_or_else(|| 4 * std::thread::available_parallelism().map_or(2, usize::from));
        let mut progress = Campaign::new(printer, scenarios.len());
        let mut judged = Judged::default();
        let ended = runtime()?.block_on(run(
            scenarios,
            subject.clone(),
            Options { jobs, fail_fast: false },
            |evidence, judgement| {
                progress.judged(evidence, judgement);
                judged.harness |= judgement.failures.iter().any(|failure| failure.blame == Blame::Harness);
                judged.rows.extend(Row::of(evidence, judgement));
            },
        ));
        progress.clear();
        judged.interrupted = ended.interrupted;
        Ok(judged)
    }
}

#[derive(Debug, Default)]
struct Judged {
    rows: Vec<Row>,
    interrupted: bool,
    harness: bool,
}

/// A run that nobody disturbs, counted.
fn events_of_a_run(subject: &Subject) -> Result<u64, Problem> {
    let fault = |said: &str| Problem::new(Exit::SetUp, said, "does the agent run workflows with flow-fake?");
    let scenario = plan::scenario_of_kill(plan::undisturbed()).ok_or_else(|| fault("no scenario"))?;
    let local = tokio::task::LocalSet::new();
    let evidence = runtime()?.block_on(local.run_until(perform(&scenario, subject)));
    let counted = evidence.crash.and_then(|seen| seen.struck_at).filter(|count| *count > 1);
    counted.ok_or_else(|| fault("a run that nobody disturbs couldn't be counted"))
}

fn report(folder: &Path, page: &str, rows: &[Row], seconds: f64) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("crash.md"), page)?;
    let mut lines = BufWriter::new(File::create(folder.join("crash.jsonl"))?);
    for row in rows {
        serde_json::to_writer(&mut lines, row)?;
        lines.write_all(b"\n")?;
    }
    let held = rows.iter().filter(|row| row.passed).count();
    // Without this line the report isn't whole.
    writeln!(lines, "{}", json!({"cases": rows.len(), "held": held, "seconds": seconds}))?;
    lines.flush()
}
