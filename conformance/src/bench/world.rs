//! The folders that figures are taken in.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::run::process;
use crate::run::subject::Subject;

/// For whatever a run started, to be gone after it.
const GOING: Duration = Duration::from_secs(10);
const WORKFLOW: &str = "triage";
const SCRIPT: &str = r#"{"steps": ["run_dir", {"gate": "admit"}, "effect", {"report": "verified"}]}"#;

const PAUSED_SCRIPT: &str =
    r#"{"steps": ["run_dir", {"report": "halted_before_effect"}, {"pause": {"category": "identity"}}]}"#;

pub struct World {
    folder: TempDir,
    subject: Subject,
}

impl World {
    pub fn new(subject: &Subject) -> io::Result<Self> {
        let world =
            Self { folder: tempfile::Builder::new().prefix("conformance-bench-").tempdir()?, subject: subject.clone() };
        let bundle = world.bundle();
        fs::create_dir_all(&bundle)?;
        let note = json!({"name": "note", "type": "string", "example": "example", "required": true, "choices": []});
        let workflow = json!({
            "schema_version": 2, "name": WORKFLOW, "created_at": "2026-01-01T00:00:00+00:00",
            "params": {"note": "example"}, "param_specs": {"note": note},
            "steps": [{"id": "s1", "intent": "press Tab", "action": "key", "key": "Tab"}],
        });
        fs::write(bundle.join("workflow.json"), workflow.to_string())?;
        fs::write(bundle.join("openadapt-card.json"), json!({"name": WORKFLOW}).to_string())?;
        fs::write(world.path("script.json"), SCRIPT)?;
        fs::write(world.path("params.json"), r#"{"note": "x"}"#)?;
        Ok(world)
    }

    pub fn serve(&self) -> Vec<String> {
        let text = |name: &str| self.path(name).display().to_string();
        let flags = ["serve", "--mode", "production", "--bundles"].map(str::to_owned);
        let more = [
            text("bundles"),
            "--runs-dir".to_owned(),
            text("runs"),
            "--flow-cli".to_owned(),
            self.subject.flow_as_text(),
        ];
        self.subject.agent.iter().cloned().chain(flags).chain(more).collect()
    }

    /// The sandbox, with this engine.
    pub fn sandbox(&self, engine: &str) -> Vec<String> {
        let flags = ["serve", "--sandbox-engine", engine, "--runs-dir"].map(str::to_owned);
        let runs = self.path("sandbox-runs").display().to_string();
        self.subject.agent.iter().cloned().chain(flags).chain([runs]).collect()
    }

    /// No script: what the sandbox's engine plays lies beside its bundle.
    pub fn sandbox_environment(&self, engine: &str) -> Vec<(&'static str, PathBuf)> {
        let browser = self.subject.browser.iter().flat_map(|browser| {
            [("OPENADAPT_CHROMIUM", browser.chromium.clone()), ("PLAYWRIGHT_DRIVER_PATH", browser.driver.clone())]
        });
        [("HOME", self.home()), ("FLOW_FAKE_JOURNAL", self.sandbox_journal(engine))]
            .into_iter()
            .chain(browser)
            .collect()
    }

    pub fn sandbox_journal(&self, engine: &str) -> PathBuf {
        self.path(&format!("sandbox-{engine}.jsonl"))
    }

    pub fn clinic_journal(&self) -> PathBuf {
        self.path("clinic.jsonl")
    }

    pub fn home(&self) -> PathBuf {
        self.path("home")
    }

    /// Waits until no process of this world lives but these; an error names the first that stays.
    pub fn ended_but(&self, these: &[u32]) -> io::Result<()> {
        let until = Instant::now() + GOING;
        loop {
            let found = process::of_world(&self.home());
            let Some(first) = found.into_iter().find(|process| !these.contains(&process.pid)) else { return Ok(()) };
            if Instant::now() > until {
                return Err(io::Error::other(format!("a process is left over: {} {}", first.pid, first.command)));
            }
            process::await_end(first.pid);
        }
    }

    pub fn environment(&self) -> [(&'static str, PathBuf); 3] {
        [
            ("FLOW_FAKE_SCRIPT", self.path("script.json")),
            ("FLOW_FAKE_JOURNAL", self.path("journal")),
            ("HOME", self.home()),
        ]
    }

    /// The arguments of a run that was never asked for before.
    pub fn run(&self, number: usize) -> Value {
        json!({"workflow": WORKFLOW, "request_id": format!("bench-{number}"), "inputs": {"note": "x"}})
    }

    pub fn bare_flow(&self, number: usize) -> io::Result<()> {
        self.flow("script.json", &format!("bare-{number}")).and_then(|clean| match clean {
            true => Ok(()),
            false => Err(io::Error::other("the stand-in for Flow failed")),
        })
    }

    /// Puts so many paused runs into the runs folder, each like one that the stand-in for Flow leaves.
    pub fn pause(&self, runs: usize) -> io::Result<()> {
        fs::write(self.path("paused.json"), PAUSED_SCRIPT)?;
        self.flow("paused.json", "runs/run-paused")?;
        let files = fs::read_dir(self.path("runs/run-paused"))?.collect::<io::Result<Vec<_>>>()?;
        for number in 1..runs {
            let folder = self.path(&format!("runs/run-paused-{number}"));
            fs::create_dir(&folder)?;
            for file in files.iter().filter(|file| file.path().is_file()) {
                fs::copy(file.path(), folder.join(file.file_name()))?;
            }
        }
        Ok(())
    }

    /// Runs the stand-in alone; true when it exits with 0.
    fn flow(&self, script: &str, run_dir: &str) -> io::Result<bool> {
        let (program, arguments) = self.subject.flow.split_first().ok_or_else(|| io::Error::other("no command"))?;
        let status = Command::new(program)
            .args(arguments)
            .arg("run")
            .arg(self.bundle())
            .arg("--run-dir")
            .arg(self.path(run_dir))
            .arg("--params-file")
            .arg(self.path("params.json"))
            .envs(self.environment())
            .env("FLOW_FAKE_SCRIPT", self.path(script))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()?;
        Ok(status.success())
    }

    pub fn write_and_sync(&self) -> io::Result<()> {
        let mut file = File::create(self.path("synced"))?;
        file.write_all(&[b'x'; 500])?;
        file.sync_all()
    }

    /// Puts other records beside the one of that run, until there are so many.
    pub fn fill(&self, run_id: &str, records: usize) -> io::Result<()> {
        let folder = self.path("runs/openadapt-agent/runs");
        let record = fs::read(folder.join(format!("{run_id}.json")))?;
        let present = fs::read_dir(&folder)?.count();
        for number in present..records {
            fs::write(folder.join(format!("run-{number:024x}.json")), &record)?;
        }
        Ok(())
    }

    pub fn store(&self) -> PathBuf {
        self.path("runs/openadapt-agent/lifecycle.sqlite")
    }

    fn bundle(&self) -> PathBuf {
        self.path("bundles").join(WORKFLOW)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}
