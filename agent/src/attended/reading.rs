//! One run folder, read as Flow's own attention queue would show it. What can't be checked isn't shown, or is an open pause.

use jiff::Timestamp;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::category::{AllowedAction, Category, DeliveryState, IdentityStatus, Status};
use super::id::AttentionId;
use super::item::{AttentionItem, Capability};
use crate::contract::evidence::{ExecutionOutcome, ReportEvidence, ReportFacts};
use crate::flow::canonical::Tree;
use crate::flow::pause::{self, Pending};
use crate::flow::report;
use crate::flow::run_dir::{Found, RunDir};

/// The item of a run folder; `None` where nothing waits for a person. Source: Flow's attention queue.
pub fn item(id: AttentionId, run_dir: &RunDir) -> Option<AttentionItem> {
    let bytes = match run_dir.read(report::NAME, report::SIZE_LIMIT) {
        Found::Bytes(bytes) => bytes,
        Found::Unusable => Vec::new(),
        Found::Nothing => return None,
    };
    let (facts, glance) = match report::understand(&bytes, None).evidence {
        ReportEvidence::Consistent(facts) => (Some(facts), Glance::at(&bytes)),
        ReportEvidence::Missing | ReportEvidence::Untrusted => (None, Glance::default()),
    };
    let pending = pause::pending(run_dir);
    if pending == Pending::Nothing && !facts.as_ref().is_some_and(|facts| waits(facts, &glance)) {
        return None;
    }
    let failed = glance.results.iter().rposition(|result| !result.ok);
    let picture =
        |has: fn(&StepGlance) -> bool| failed.filter(|place| has(&glance.results[*place])).map(|place| place + 1);
    let status = status(&pending, facts.as_ref());
    Some(AttentionItem {
        id,
        created_at: glance.started_at.as_deref().and_then(|stamp| stamp.parse().ok()),
        category: category(&pending),
        status,
        durably_paused: pending != Pending::Nothing && status != Status::Rejected,
        encrypted_pause: pending == Pending::Encrypted,
        observed_texts: glance.halt.as_ref().map_or(0, |halt| halt.observed_texts.len()),
        completed_intents: glance.halt.as_ref().map_or(0, |halt| halt.completed_intents.len()),
        before: picture(|step| step.before_png.is_some()),
        after: picture(|step| step.after_png.is_some()),
        capability: capability(run_dir, &pending),
    })
}

/// The few members of a consistent report that an item counts.
#[derive(Debug, Default, Deserialize)]
struct Glance {
    started_at: Option<String>,
    halt: Option<HaltGlance>,
    #[serde(default)]
    results: Vec<StepGlance>,
}

#[derive(Debug, Deserialize)]
struct HaltGlance {
    #[serde(default)]
    observed_texts: Vec<IgnoredAny>,
    #[serde(default)]
    completed_intents: Vec<IgnoredAny>,
}

#[derive(Debug, Deserialize)]
struct StepGlance {
    ok: bool,
    before_png: Option<IgnoredAny>,
    after_png: Option<IgnoredAny>,
}

impl Glance {
    /// What isn't of the shape that Flow writes counts as nothing seen.
    fn at(report: &[u8]) -> Self {
        serde_json::from_slice(report).unwrap_or_default()
    }
}

/// A run without a pause waits unless it succeeded as far as its profile can tell, or never ran far enough to stop.
fn waits(facts: &ReportFacts, glance: &Glance) -> bool {
    let settled = facts.success == Some(true) && matches!(facts.execution, None | Some(ExecutionOutcome::Verified));
    let never_stopped = facts.execution.is_none() && glance.halt.is_none();
    !settled && !never_stopped
}

fn category(pending: &Pending) -> Category {
    match pending {
        Pending::Tree(pending) => Category::from_flow(pending.get("category").and_then(Tree::as_text)),
        Pending::Nothing | Pending::Encrypted | Pending::Unreadable => Category::OperatorReview,
    }
}

fn status(pending: &Pending, facts: Option<&ReportFacts>) -> Status {
    match pending {
        Pending::Tree(pending) => match pending.get("status").and_then(Tree::as_text) {
            Some("rejected") => Status::Rejected,
            Some("approved") => Status::Approved,
            _ => Status::Pending,
        },
        Pending::Encrypted => Status::Encrypted,
        Pending::Unreadable => Status::Pending,
        Pending::Nothing => match facts.and_then(|facts| facts.execution) {
            Some(ExecutionOutcome::Verified) => Status::Verified,
            Some(ExecutionOutcome::CompletedUnverified) => Status::CompletedUnverified,
            Some(ExecutionOutcome::Failed) => Status::Failed,
            Some(ExecutionOutcome::RolledBack) => Status::RolledBack,
            Some(ExecutionOutcome::Halted) | None => Status::Halted,
        },
    }
}

/// The capability of this pause, or the last one of a run that has none any more.
fn capability(run_dir: &RunDir, pending: &Pending) -> Option<Capability> {
    let capability = match pending {
        Pending::Encrypted | Pending::Unreadable => return None,
        Pending::Nothing => pause::signed_capability(run_dir)?,
        Pending::Tree(pending) => pause::signed_capability(run_dir).filter(|it| pause::binds(it, pending))?,
    };
    let text = |member: &str| capability.get(member).and_then(Tree::as_text);
    let allowed = capability.get("allowed_actions").and_then(Tree::as_list).unwrap_or_default();
    Some(Capability {
        digest: pause::capability_digest(&capability)?,
        expires_at: text("expires_at").and_then(|stamp| stamp.parse::<Timestamp>().ok()),
        allowed: allowed.iter().filter_map(|word| AllowedAction::parse(word.as_text()?)).collect(),
        delivery: text("delivery_state").and_then(DeliveryState::parse).unwrap_or(DeliveryState::Unknown),
        identity_required: capability.get("source_identity_required").and_then(Tree::as_bool).unwrap_or(false),
        identity: capability.at(["source_identity", "status"]).and_then(Tree::as_text).and_then(IdentityStatus::parse),
    })
}

#[cfg(test)]
mod tests;
