//! `page`: a report's page in a real browser: it is opened at a scenario, and what its script drew is looked at.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use clap::Args;

use super::Problem;
use crate::browser;
use crate::console::Printer;
use crate::exit::Exit;
use crate::report::jsonl;
use crate::run::events::Event;

#[derive(Debug, Args)]
pub struct Page {
    /// The folder of a report: `--out` of a run, or a certificate.
    folder: PathBuf,
}

impl Page {
    pub fn run(self, printer: Printer) -> Result<Exit, Problem> {
        let report = self.folder.join("report.jsonl");
        let events = jsonl::read(&report).map_err(|error| {
            let said = format!("{}: {error}", report.display());
            Problem::new(Exit::BadEvidence, said, "a report is whole only with its last line; run again with --out")
        })?;
        let mut shown = events.iter().filter_map(|event| match event {
            Event::Judged(judged) if !judged.timeline.is_empty() => Some(judged),
            _ => None,
        });
        let Some(judged) = shown.next_back() else {
            return Err(Problem::new(
                Exit::NothingSelected,
                "no scenario of this report has a timeline",
                "run again with --out",
            ));
        };
        let Some(Event::Finished(finished)) = events.last() else { return Ok(Exit::BadEvidence) };
        let dom = self.drawn(judged.judgement.scenario.as_str())?;
        let rows = finished.matrix.rows.len();
        let wanted = [
            (format!("{rows} of {rows} requirements"), "the filter counts every row"),
            ("<table class=\"moments\"".to_owned(), "the transcript of a scenario is drawn"),
            ("class=\"strip\" aria-hidden=\"true\"".to_owned(), "its time axis is drawn"),
            (
                format!("What happened in {}, in order", judged.judgement.scenario),
                "the transcript is the one that was asked for",
            ),
        ];
        let missing: Vec<&str> = wanted.iter().filter(|(text, _)| !dom.contains(text)).map(|(_, what)| *what).collect();
        let drawn = dom.matches("<td class=\"what\"").count();
        if missing.is_empty() && drawn == judged.timeline.len() {
            printer.data(&format!(
                "{}: {rows} requirements, and {drawn} moments of {}",
                self.folder.display(),
                judged.judgement.scenario
            ));
            return Ok(Exit::Conformant);
        }
        printer.data(&format!(
            "not so in the browser: {}; {drawn} of {} moments are drawn",
            missing.join(", "),
            judged.timeline.len()
        ));
        Ok(Exit::Failed)
    }

    /// The document as it stands when its script has run.
    fn drawn(&self, scenario: &str) -> Result<String, Problem> {
        let absent = |said: String| {
            Problem::new(Exit::SetUp, said, "install Debian's chromium, or name one with OPENADAPT_CHROMIUM")
        };
        let chromium = browser::chromium().ok_or_else(|| absent("there is no Chromium".to_owned()))?;
        let page = std::fs::canonicalize(self.folder.join("index.html")).map_err(|error| absent(error.to_string()))?;
        let profile = tempfile::tempdir().map_err(|error| absent(error.to_string()))?;
        let output = Command::new(chromium)
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--dump-dom"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg(format!("file://{}#s-{}", page.display(), scenario.replace('/', "-")))
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output()
            .map_err(|error| absent(error.to_string()))?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}
