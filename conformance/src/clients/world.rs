//! The folders that a client's server works in.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::json;
use tempfile::TempDir;

use crate::run::bundle;
use crate::run::subject::Subject;
use crate::scenario::model::Bundle;

pub struct World {
    folder: TempDir,
    subject: Subject,
}

impl World {
    pub fn create(subject: &Subject) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("conformance-client-").tempdir()?;
        let world = Self { folder, subject: subject.clone() };
        for name in ["bundles", "home", "control"] {
            fs::create_dir(world.path(name))?;
        }
        bundle::write(&world.path("bundles"), &Bundle::triage())?;
        let note = |value: &str| json!({"param": {"name": "note", "equals": value}});
        let script = json!({"plays": [
            {"when": note("pause"), "steps": ["run_dir", {"report": "halted_before_effect"}, {"pause": {"category": "identity"}}]},
            {"when": note("slow"), "steps": ["run_dir", {"hold": "slow"}, "effect", {"report": "verified"}]},
            {"steps": ["run_dir", "effect", {"report": "verified"}]},
        ]});
        fs::write(world.path("script.json"), script.to_string())?;
        Ok(world)
    }

    pub fn home(&self) -> PathBuf {
        self.path("home")
    }

    /// The server's command, with everything that it needs of its environment in it, and a transcript written to `wire`.
    pub fn command(&self, wire: &Path) -> io::Result<Vec<String>> {
        let text = |path: PathBuf| path.display().to_string();
        let mut words = vec![text(std::env::current_exe()?), "tee".into(), "--log".into(), text(wire.to_owned())];
        words.extend(["--release".into(), text(self.path("control/release-slow"))]);
        for (name, path) in [
            ("HOME", "home"),
            ("FLOW_FAKE_SCRIPT", "script.json"),
            ("FLOW_FAKE_JOURNAL", "journal.jsonl"),
            ("FLOW_FAKE_CONTROL", "control"),
        ] {
            words.extend(["--env".into(), format!("{name}={}", text(self.path(path)))]);
        }
        words.push("--".into());
        words.extend(self.subject.agent.iter().cloned());
        words.extend(["serve".into(), "--mode".into(), "attended".into()]);
        words.extend(["--bundles".into(), text(self.path("bundles")), "--runs-dir".into(), text(self.path("runs"))]);
        words.extend(["--flow-cli".into(), self.subject.flow_as_text()]);
        Ok(words)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}
