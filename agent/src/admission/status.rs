//! One look at the admissions: reads, verifies, judges, remembers what was verified, and keeps no verdict.

use std::path::PathBuf;

use jiff::Timestamp;

use super::evidence::Pack;
use super::fetch::Fetcher;
use super::ledger::Ledger;
use super::live::Live;
use super::reason::{Reason, Verdict};
use super::release::{Installed, Judge, Judged, Told};
use super::source::{Document, Source};
use super::targets::TargetId;
use super::trust::TrustRoot;
use super::trust_state::TrustState;
use super::watermark::{Keeping, Memory};
use super::workflow::{self, Workflows};
use crate::admission::hashes::of_bytes;

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ask {
    pub ledger: Source,
    pub workflows: Option<Source>,
    pub evidence: Option<PathBuf>,
    pub target: TargetId,
    pub bundle: Option<PathBuf>,
}

/// What it is judged with.
#[derive(Debug, Clone)]
pub struct Place {
    /// `None`: nothing is trusted.
    pub root: Option<TrustRoot>,
    pub now: Timestamp,
    pub installed: Installed,
    pub keeping: Keeping,
    pub fetcher: Fetcher,
}

/// How much of the verdict was verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verification {
    Full,
    ProjectionOnly,
    None,
}

/// What one look found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    pub checked_at: Timestamp,
    pub ledger: LedgerTold,
    pub verdict: Verdict,
    pub verification: Verification,
    pub release: Option<Told>,
    pub target: TargetId,
    pub targets: Vec<(TargetId, Verdict)>,
    pub workflows: Vec<workflow::Judged>,
    /// The list of workflows as a whole, where one was asked for.
    pub workflow_list: Option<Verdict>,
    pub installed: Installed,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerTold {
    pub source: String,
    pub sha256: Option<String>,
    pub source_commit: Option<String>,
    pub is_file: bool,
}

impl Status {
    /// Every target of the ledger is admitted.
    pub fn product_wide(&self) -> bool {
        !self.targets.is_empty() && self.targets.iter().all(|(_, verdict)| verdict.is_ok())
    }
}

/// The pack that a look is verified with.
struct Evidence {
    /// Digests of the objects that it carries, verified or not.
    carried: Vec<String>,
    state: Result<TrustState, Reason>,
}

/// One look.
pub fn look(ask: &Ask, place: &Place) -> Status {
    let document = ask.ledger.read(&place.fetcher);
    let list = ask.workflows.as_ref().map(|source| source.read(&place.fetcher));
    let ledger = document.as_ref().map_err(|reason| *reason).and_then(|document| Ledger::read(&document.tree));
    let evidence =
        place.root.as_ref().zip(ask.evidence.as_ref()).and_then(|(root, at)| Evidence::read(at, root, place.now));
    let nothing = TrustRoot::new([0; 32], "");
    let root = place.root.as_ref().unwrap_or(&nothing);
    let mut memory = place.keeping.open();
    let judged = judge_targets(&ledger, evidence.as_ref(), root, place, &memory);
    let (workflows, workflow_list) = match list {
        None => (Vec::new(), None),
        Some(list) => judge_workflows(&list, ask, evidence.as_ref(), root, place, &memory),
    };
    let kept = keep(&mut memory, evidence.as_ref(), &judged, place.now);
    let vouched = |verdict: Verdict| verdict.and(kept);
    let own = judged.iter().find(|(id, _)| *id == ask.target).map(|(_, judged)| judged);
    Status {
        checked_at: place.now,
        ledger: LedgerTold {
            source: ask.ledger.told(),
            sha256: document.ok().map(|document: Document| document.sha256),
            source_commit: ledger.as_ref().ok().map(|ledger| ledger.source_commit.clone()),
            is_file: matches!(ask.ledger, Source::File(_)),
        },
        verdict: vouched(own.map_or(Err(Reason::LedgerMalformed), |judged| judged.verdict)),
        verification: match own {
            Some(judged) if judged.verified => Verification::Full,
            Some(_) if ledger.is_ok() => Verification::ProjectionOnly,
            _ => Verification::None,
        },
        release: own.and_then(|judged| judged.told.clone()),
        target: ask.target,
        targets: judged.iter().map(|(id, judged)| (*id, vouched(judged.verdict))).collect(),
        workflows: workflows
            .into_iter()
            .map(|judged| workflow::Judged { verdict: vouched(judged.verdict), ..judged })
            .collect(),
        workflow_list,
        installed: place.installed.clone(),
    }
}

impl Evidence {
    fn read(at: &std::path::Path, root: &TrustRoot, now: Timestamp) -> Option<Self> {
        let pack = Pack::read(at, root)?;
        let carried = pack.objects.iter().map(|signed| of_bytes(&signed.object)).collect();
        Some(Self { carried, state: TrustState::of(&pack, root, now) })
    }

    fn carries(&self, sha256: &str) -> bool {
        self.carried.iter().any(|carried| carried == sha256)
    }
}

fn judge_targets(
    ledger: &Result<Ledger, Reason>,
    evidence: Option<&Evidence>,
    root: &TrustRoot,
    place: &Place,
    memory: &Memory,
) -> Vec<(TargetId, Judged)> {
    let judge = Judge {
        now: place.now,
        root,
        installed: &place.installed,
        evidence: evidence.map(|evidence| &evidence.state),
        carries: &|sha256| evidence.is_some_and(|evidence| evidence.carries(sha256)),
        memory,
    };
    let target = |id| ledger.as_ref().map_err(|reason| *reason).and_then(|ledger| ledger.target(id));
    TargetId::all().map(|id| (id, judge.target(target(id), id))).collect()
}

fn judge_workflows(
    list: &Result<Document, Reason>,
    ask: &Ask,
    evidence: Option<&Evidence>,
    root: &TrustRoot,
    place: &Place,
    memory: &Memory,
) -> (Vec<workflow::Judged>, Option<Verdict>) {
    let workflows = match list.as_ref().map_err(|reason| *reason).and_then(|list| Workflows::read(&list.tree)) {
        Ok(workflows) => workflows,
        Err(reason) => return (Vec::new(), Some(Err(reason))),
    };
    // A bundle that can't be loaded is no bundle that anything could be admitted for.
    let live = ask.bundle.as_ref().map(|folder| Live::read(folder).unwrap_or_default());
    let judge = workflow::Judge {
        now: place.now,
        root,
        evidence: evidence.map(|evidence| &evidence.state),
        carries: &|sha256| evidence.is_some_and(|evidence| evidence.carries(sha256)),
        memory,
        live: live.as_ref(),
    };
    let judged: Vec<_> = workflows.rows().iter().map(|row| judge.row(row)).collect();
    let listed = if judged.is_empty() { Err(Reason::WorkflowNotListed) } else { Ok(()) };
    (judged, Some(listed))
}

/// Remembers what was verified. A memory that can't be kept vouches for nothing.
fn keep(memory: &mut Memory, evidence: Option<&Evidence>, judged: &[(TargetId, Judged)], now: Timestamp) -> Verdict {
    let Some(Ok(state)) = evidence.map(|evidence| &evidence.state) else { return Ok(()) };
    let verified = judged.iter().filter(|(_, judged)| judged.verified);
    let rows: Vec<_> = verified
        .filter_map(|(id, judged)| judged.told.as_ref().map(|told| (*id, told.sequence, told.admission_id.clone())))
        .collect();
    memory.keep(now, &state.revocation, &rows)
}
