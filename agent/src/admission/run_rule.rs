//! Whether a run may be started at all. This only narrows: what is let through here is judged again by Flow, and nothing that Flow
//! refuses is ever let through here. Source: *Governed runs*.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;

use super::authority;
use super::live::Live;
use super::profile::{self, Profile};
use super::reason::Verdict;
use super::source::{LIFECYCLE, Source};
use super::status::{self, Ask, Place};
use super::targets::TargetId;
use super::trust::TrustRoot;
use super::watermark::Keeping;
use crate::cli::{self, ServeOptions};
use crate::contract::failed_check::FailedCheck;
use crate::contract::reason::Reason;
use crate::flow::command::FlowSettings;
use crate::workflows::bundle;

/// What a server was started with, as far as it decides which runs are started.
#[derive(Debug, Clone)]
pub struct RunRule {
    extra: Vec<String>,
    config: Option<PathBuf>,
    root: Option<TrustRoot>,
    keeping: Keeping,
    /// On a strict host: this program's own release must be admitted, too.
    release: Option<Arc<ReleaseDemand>>,
}

/// How the release is looked at before a run. Each time anew: no verdict is kept.
#[derive(Debug, Clone)]
pub struct ReleaseDemand {
    pub ask: Ask,
    /// Its clock is read anew.
    pub place: Place,
}

/// Why a run isn't started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unready {
    pub reason: Reason,
    pub failed_checks: Vec<FailedCheck>,
}

impl RunRule {
    pub fn of(options: &ServeOptions) -> Self {
        let release = options.admission.required.then(|| Arc::new(ReleaseDemand::of(options)));
        Self::new(options.flow.settings(), TrustRoot::published(), Keeping::beside(&options.runs_dir), release)
    }

    pub fn new(
        settings: &FlowSettings,
        root: Option<TrustRoot>,
        keeping: Keeping,
        release: Option<Arc<ReleaseDemand>>,
    ) -> Self {
        Self { extra: settings.extra.clone(), config: settings.config.clone(), root, keeping, release }
    }

    /// Why a run of this bundle isn't started; `None` where nothing here speaks against it. `listed` is the digest that the bundle was
    /// listed with. Blocks.
    pub fn refuses(&self, bundle: &Path, listed: Option<&str>) -> Option<Unready> {
        let profile = profile::of_run(&self.extra, self.config.as_deref());
        if profile != Profile::Demo && self.release.as_ref().is_some_and(|demand| demand.look().is_err()) {
            return Some(Unready { reason: Reason::PolicyRefused, failed_checks: Vec::new() });
        }
        if profile != Profile::Governed {
            return None;
        }
        let failed = self.failed_check(bundle, listed)?;
        Some(Unready { reason: Reason::NotReadyToRun, failed_checks: vec![failed] })
    }

    fn failed_check(&self, folder: &Path, listed: Option<&str>) -> Option<FailedCheck> {
        let Some(path) = profile::authority_file(&self.extra) else { return Some(FailedCheck::NoReadinessTest) };
        if path.symlink_metadata().is_err_and(|fault| fault.kind() == std::io::ErrorKind::NotFound) {
            return Some(FailedCheck::NoReadinessTest);
        }
        let active = || {
            let root = self.root.as_ref()?;
            let file = authority::read(&path)?;
            let encrypted = bundle::is_encrypted(folder);
            let live = if encrypted { Live::encrypted(listed?) } else { Live::read(folder)? };
            let now = Timestamp::now();
            let mut memory = self.keeping.open();
            let revocation = authority::admits(&file, &live, root, now, &memory).ok()?;
            memory.keep(now, &revocation, &[]).ok()
        };
        if active().is_some() { None } else { Some(FailedCheck::ReadinessTestInvalid) }
    }
}

impl ReleaseDemand {
    pub fn of(options: &ServeOptions) -> Self {
        let ask = Ask {
            ledger: options.admission.ledger.clone().unwrap_or_else(|| Source::parse(LIFECYCLE)),
            workflows: None,
            evidence: options.admission.evidence.clone(),
            target: TargetId::AGENT,
            bundle: None,
        };
        Self { ask, place: cli::place(Keeping::beside(&options.runs_dir)) }
    }

    /// The verdict now.
    pub fn look(&self) -> Verdict {
        status::look(&self.ask, &Place { now: Timestamp::now(), ..self.place.clone() }).verdict
    }
}
