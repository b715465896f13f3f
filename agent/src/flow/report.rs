//! Reads `report.json`: the few members that count, checked against each other before anybody believes them.
//! Source: *The result contract* ("a consistency check of the persisted report") and *Governed runs*.

mod consistency;
mod members;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::canonical::sha256_hex;
use super::run_dir::{Found, RunDir};
use crate::contract::evidence::ReportEvidence;
use members::Members;

/// A report may be this large, in bytes.
pub const SIZE_LIMIT: usize = 64 << 20;
pub const NAME: &str = "report.json";
/// Flow's clock and ours are one clock, but its stamp may be cut to a coarser unit.
const STAMP_SLACK: SignedDuration = SignedDuration::from_secs(1);

/// A report as found, with what ties it to one launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundReport {
    pub evidence: ReportEvidence,
    pub binding: Binding,
}

/// What can be compared between two readings of the same run's report.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Binding {
    /// Digest of the file; `None` where there is no regular file.
    pub file_sha256: Option<String>,
    /// Flow's digest of its own run id.
    pub run_id_sha256: Option<String>,
    /// Which workflow was executed, and from which bundle.
    pub workflow_contract_sha256: Option<String>,
    pub bundle_content_digest: Option<String>,
}

impl Binding {
    /// Whether a later report may be about the run that this one was about: whatever was known first must still be so.
    pub fn is_of_the_same_run(&self, later: &Self) -> bool {
        let same = |first: &Option<String>, now: &Option<String>| first.is_none() || first == now;
        same(&self.run_id_sha256, &later.run_id_sha256)
            && same(&self.workflow_contract_sha256, &later.workflow_contract_sha256)
            && same(&self.bundle_content_digest, &later.bundle_content_digest)
    }
}

impl FoundReport {
    fn absent() -> Self {
        Self { evidence: ReportEvidence::Missing, binding: Binding::default() }
    }

    fn untrusted(file_sha256: Option<String>) -> Self {
        Self { evidence: ReportEvidence::Untrusted, binding: Binding { file_sha256, ..Binding::default() } }
    }
}

/// Reads the report of a run that was launched at `launched_at`. A report that says it began before that is another run's.
pub fn read(run_dir: &RunDir, launched_at: Option<Timestamp>) -> FoundReport {
    match run_dir.read(NAME, SIZE_LIMIT) {
        Found::Nothing => FoundReport::absent(),
        Found::Unusable => FoundReport::untrusted(None),
        Found::Bytes(bytes) => understand(&bytes, launched_at),
    }
}

/// The digest that a keeper writes down beside the exit facts; `None` where there is no readable regular file.
pub fn digest(run_dir: &RunDir) -> Option<String> {
    match run_dir.read(NAME, SIZE_LIMIT) {
        Found::Bytes(bytes) => Some(sha256_hex(&bytes)),
        Found::Nothing | Found::Unusable => None,
    }
}

/// What the bytes of a report prove, and about which run.
pub fn understand(bytes: &[u8], launched_at: Option<Timestamp>) -> FoundReport {
    let file_sha256 = Some(sha256_hex(bytes));
    let Some(members) = Members::read(bytes) else {
        return FoundReport::untrusted(file_sha256);
    };
    let stale = launched_at.is_some_and(|launch| began_before(members.get("started_at"), launch));
    let evidence = match consistency::facts(&members) {
        Some(facts) if !stale => ReportEvidence::Consistent(facts),
        _ => ReportEvidence::Untrusted,
    };
    let digest = |member| members.get(member).and_then(Value::as_str).map(str::to_owned);
    let binding = Binding {
        file_sha256,
        run_id_sha256: digest("run_id_sha256"),
        workflow_contract_sha256: digest("workflow_contract_sha256"),
        bundle_content_digest: digest("bundle_content_digest"),
    };
    FoundReport { evidence, binding }
}

/// A stamp that is there but can't be read proves nothing about this launch. One that is left out is an older report,
/// which only the freshness of its folder ties to the launch.
fn began_before(stamp: Option<&Value>, launch: Timestamp) -> bool {
    match stamp {
        None | Some(Value::Null) => false,
        Some(stamp) => stamp
            .as_str()
            .and_then(|text| text.parse::<Timestamp>().ok())
            .is_none_or(|began| began < launch - STAMP_SLACK),
    }
}

#[cfg(test)]
mod tests;
