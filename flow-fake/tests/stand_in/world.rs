//! One temporary world: a bundle, a control folder, a journal, and the binary.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use schemas::Schema;
use serde_json::{Value, json};
use tempfile::TempDir;

pub const DEADLINE: Duration = Duration::from_secs(20);

pub struct World {
    folder: TempDir,
}

/// What a finished process left.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl World {
    pub fn new() -> Self {
        let world = Self { folder: tempfile::tempdir().unwrap() };
        std::fs::create_dir(world.control()).unwrap();
        world.bundle("alpha");
        world
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn control(&self) -> PathBuf {
        self.path("control")
    }

    pub fn run_dir(&self) -> PathBuf {
        self.path("run")
    }

    pub fn bundle(&self, name: &str) -> PathBuf {
        let bundle = self.path(name);
        std::fs::create_dir(&bundle).unwrap();
        let workflow = json!({"name": "enter-referral", "created_at": "2026-01-01T00:00:00+00:00", "params": {"note": "example"}, "steps": []});
        std::fs::write(bundle.join("workflow.json"), workflow.to_string()).unwrap();
        bundle
    }

    /// The binary with this world's journal and control folder, and no script.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_flow-fake"));
        command
            .args(args)
            .current_dir(self.folder.path())
            .env("FLOW_FAKE_JOURNAL", self.path("journal"))
            .env("FLOW_FAKE_CONTROL", self.control())
            .env_remove("FLOW_FAKE_SCRIPT")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn call(&self, args: &[&str]) -> Ended {
        ended(self.command(args).output().unwrap())
    }

    /// A launch of `alpha` that plays these steps.
    pub fn launch(&self, steps: Value) -> Command {
        self.launch_script(json!({"steps": steps}))
    }

    pub fn launch_script(&self, script: Value) -> Command {
        let mut command = self.command(&["run", "alpha", "--profile", "standard", "--run-dir", "run"]);
        std::fs::write(self.path("script.json"), script.to_string()).unwrap();
        command.env("FLOW_FAKE_SCRIPT", self.path("script.json"));
        command
    }

    pub fn play(&self, steps: Value) -> Ended {
        ended(self.launch(steps).output().unwrap())
    }

    pub fn start(&self, steps: Value) -> Child {
        self.launch(steps).spawn().unwrap()
    }

    pub fn release(&self, name: &str) {
        std::fs::write(self.control().join(format!("release-{name}")), "").unwrap();
    }

    pub fn journal(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.path("journal")).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    pub fn events(&self) -> Vec<String> {
        self.journal().iter().map(|line| line["event"].as_str().unwrap().to_owned()).collect()
    }

    pub fn line(&self, event: &str) -> Value {
        self.journal().into_iter().find(|line| line["event"] == event).unwrap_or_else(|| panic!("no {event} line"))
    }

    pub fn await_event(&self, event: &str) -> Value {
        wait_until(event, || self.events().iter().any(|found| found == event));
        self.line(event)
    }

    pub fn json(&self, name: &str) -> Value {
        serde_json::from_slice(&std::fs::read(self.run_dir().join(name)).unwrap()).unwrap()
    }

    pub fn report(&self) -> Value {
        self.json("report.json")
    }
}

pub fn ended(output: Output) -> Ended {
    Ended {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + DEADLINE;
    while !holds() {
        assert!(Instant::now() < deadline, "waited too long for {what}");
        thread::sleep(Duration::from_millis(1));
    }
}

/// Whether a process runs (a zombie doesn't).
pub fn runs(pid: u64) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

pub fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

pub fn assert_valid(schema: Schema, value: &Value) {
    if let Err(violations) = schema.check(value) {
        panic!("{schema:?} is broken by {value:#}: {violations:?}");
    }
}
