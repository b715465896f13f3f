//! A folder with ledgers and packs in it, a clock, and what is installed there.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use openadapt_agent::admission::fetch::Fetcher;
use openadapt_agent::admission::release::Installed;
use openadapt_agent::admission::source::Source;
use openadapt_agent::admission::status::{self, Ask, Place, Status};
use openadapt_agent::admission::trust::TrustRoot;
use openadapt_agent::admission::watermark::Keeping;
use openadapt_agent::admission::{Reason, TargetId, report};
use schemas::Schema;
use serde_json::Value;

use crate::forge::Forge;

pub const NOW: &str = "2026-10-20T12:00:00Z";
/// The version and the wheel of the sample's release.
pub const VERSION: &str = "9.1.0";
pub const WHEEL: &str = "sha256:ab7fa1123bb27ac5882e9e31097eefa97f1592a1d7f35b376fe7c117b87b1309";

pub struct World {
    pub folder: tempfile::TempDir,
    pub root: TrustRoot,
    pub now: Timestamp,
    pub installed: Installed,
    pub target: TargetId,
    pub bundle: Option<PathBuf>,
}

impl World {
    pub fn of(root: TrustRoot) -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            root,
            now: NOW.parse().unwrap(),
            installed: Installed { version: VERSION.to_owned(), artifact_sha256: Some(WHEEL.to_owned()) },
            target: TargetId::AGENT,
            bundle: None,
        }
    }

    pub fn at(mut self, now: &str) -> Self {
        self.now = now.parse().unwrap();
        self
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn place(&self) -> Place {
        Place {
            root: Some(self.root.clone()),
            now: self.now,
            installed: self.installed.clone(),
            keeping: Keeping::beside(&self.path("runs")),
            fetcher: Fetcher::trusting(&[], Duration::from_secs(1)),
        }
    }

    /// One look at files in the folder.
    pub fn look_at(&self, ledger: &Path, workflows: Option<&Path>, evidence: Option<&Path>) -> Status {
        let ask = Ask {
            ledger: Source::File(ledger.to_owned()),
            workflows: workflows.map(|path| Source::File(path.to_owned())),
            evidence: evidence.map(Path::to_owned),
            target: self.target,
            bundle: self.bundle.clone(),
        };
        let status = status::look(&ask, &self.place());
        self.holds_its_schemas(&status);
        status
    }

    /// Whatever a look finds, it is told and remembered in the shapes that are published.
    fn holds_its_schemas(&self, status: &Status) {
        Schema::AdmissionStatus.check(&report::json(status)).unwrap_or_else(|found| panic!("{found}"));
        if let Some(remembered) = std::fs::read(self.path("admission-watermark.json"))
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .filter(|_| status.verdict.is_ok())
        {
            Schema::AdmissionWatermark.check(&remembered).unwrap_or_else(|found| panic!("{found}"));
        }
    }

    /// One look at these bytes.
    pub fn look(&self, ledger: &[u8], workflows: Option<&[u8]>, pack: Option<&[u8]>) -> Status {
        let written = |name: &str, bytes: &[u8]| {
            std::fs::write(self.path(name), bytes).unwrap();
            self.path(name)
        };
        let ledger = written("ledger.json", ledger);
        let workflows = workflows.map(|bytes| written("workflows.json", bytes));
        let pack = pack.map(|bytes| written("pack.json", bytes));
        self.look_at(&ledger, workflows.as_deref(), pack.as_deref())
    }

    pub fn verdict(&self, ledger: &Value, pack: Option<&Value>) -> Result<(), Reason> {
        self.look(&bytes(ledger), None, pack.map(bytes).as_deref()).verdict
    }

    pub fn workflow(&self, list: &Value, pack: Option<&Value>) -> Result<(), Reason> {
        let ledger = bytes(&Forge::new().ledger());
        let status = self.look(&ledger, Some(&bytes(list)), pack.map(bytes).as_deref());
        status.workflows.first().map_or_else(|| status.workflow_list.unwrap(), |judged| judged.verdict)
    }
}

pub fn bytes(value: &Value) -> Vec<u8> {
    crate::forge::canonical(value)
}

/// The verdict over a release with its own pack, in a new place.
pub fn judged(forge: &Forge) -> Result<(), Reason> {
    World::of(forge.root()).verdict(&forge.ledger(), Some(&forge.pack()))
}

/// The verdict over the workflow with its own pack, in a new place.
pub fn workflow_judged(forge: &Forge) -> Result<(), Reason> {
    World::of(forge.root()).workflow(&forge.workflows(), Some(&forge.pack()))
}
