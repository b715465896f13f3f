//! The release ledger: a public projection that carries no signature. What it says of itself must be exactly what it always says.

use std::collections::BTreeMap;

use super::reason::{Reason, Verdict};
use super::shape::Members;
use super::targets::TargetId;
use crate::flow::canonical::Tree;

const SCHEMA: &str = "openadapt.public-production-lifecycle/v1";
pub(super) const ROW_SCHEMA: &str = "openadapt.qualification-release/v2";
const LONGEST_HISTORY: usize = 256;
const ROOT: [&str; 7] =
    ["$schema", "schema_version", "source", "policy_revision", "maximum_admission_days", "derivation", "targets"];
const FILES: [&str; 11] = [
    "admissions",
    "admissions_schema",
    "evidence_registry",
    "evidence_registry_schema",
    "evidence_registry_validator",
    "evidence_manifest_schema",
    "evidence_summary_schema",
    "lifecycle",
    "policy",
    "policy_schema",
    "validator",
];
const TARGET: [&str; 12] = [
    "id",
    "display_name",
    "lifecycle_scope",
    "lifecycle_subject",
    "source_repository",
    "release_kind",
    "required_claim_scope",
    "required_artifact_kinds",
    "package_index_project",
    "artifact_authority_by_kind",
    "latest_admission",
    "admission_history",
];

/// A ledger whose frame holds.
#[derive(Debug)]
pub struct Ledger {
    pub source_commit: String,
    targets: BTreeMap<TargetId, Target>,
}

/// One target of it.
#[derive(Debug)]
pub struct Target {
    id: TargetId,
    tree: Tree,
}

impl Ledger {
    pub fn read(tree: &Tree) -> Result<Self, Reason> {
        let root = Members::open(tree).ok_or(Reason::LedgerMalformed)?;
        if !root.is("schema_version", SCHEMA) {
            return Err(Reason::LedgerSchemaUnsupported);
        }
        Self::frame(tree).ok_or(Reason::LedgerMalformed)
    }

    pub fn target(&self, id: TargetId) -> Result<&Target, Reason> {
        self.targets.get(&id).ok_or(Reason::LedgerMalformed)
    }

    fn frame(tree: &Tree) -> Option<Self> {
        let root = Members::closed(tree, &ROOT)?;
        let source_commit = source_commit(root.get("source")?)?.to_owned();
        let holds = root.is("$schema", "schemas/production-lifecycle-public.schema.json")
            && root.integer("policy_revision", 1).is_some()
            && root.integer("maximum_admission_days", 1).is_some()
            && root.get("derivation") == Some(&derivation());
        if !holds {
            return None;
        }
        let listed = root.list("targets")?;
        let targets: BTreeMap<_, _> = listed
            .iter()
            .map(Target::frame)
            .map(|target| target.map(|target| (target.id, target)))
            .collect::<Option<_>>()?;
        (listed.len() == TargetId::all().len() && targets.len() == listed.len())
            .then_some(Self { source_commit, targets })
    }
}

impl Target {
    /// The row of the highest sequence. Older rows are looked at for the chain only: none of them ever stands in for it.
    pub fn latest(&self) -> Result<&Tree, Reason> {
        if self.header_holds() != Some(true) {
            return Err(Reason::TargetContractMismatch);
        }
        let history = self.history();
        let latest = self.tree.get("latest_admission").filter(|row| !row.is_null());
        if history.last().is_some_and(is_of_this_schema) {
            chain(history)?;
        }
        match (history.last(), latest) {
            (None, None) => Err(Reason::NoAdmission),
            (Some(last), Some(latest)) if last == latest => Ok(latest),
            _ => Err(Reason::LatestMismatch),
        }
    }

    fn history(&self) -> &[Tree] {
        self.tree.get("admission_history").and_then(Tree::as_list).unwrap_or_default()
    }

    fn frame(tree: &Tree) -> Option<Self> {
        let members = Members::closed(tree, &TARGET)?;
        let id = TargetId::parse(members.text("id")?)?;
        let texts = ["display_name", "lifecycle_subject", "source_repository", "release_kind", "required_claim_scope"];
        let authorities = Members::open(members.get("artifact_authority_by_kind")?)?;
        let known = |kind| matches!(authorities.text(kind), Some("pypi" | "github_release" | "managed_evidence"));
        let history = members.list("admission_history")?;
        let rows = history.iter().chain(members.get("latest_admission").filter(|row| !row.is_null()));
        let holds = texts.iter().all(|key| members.text(key).is_some())
            && matches!(members.text("lifecycle_scope")?, "repository" | "public_surface")
            && (members.is_null("package_index_project") || members.text("package_index_project").is_some())
            && members.texts("required_artifact_kinds").is_some()
            && authorities.keys().all(known)
            && history.len() <= LONGEST_HISTORY
            && rows.into_iter().all(|row| row.as_map().is_some() && is_numbered(row) != Some(false));
        holds.then(|| Self { id, tree: tree.clone() })
    }

    fn header_holds(&self) -> Option<bool> {
        let members = Members::open(&self.tree)?;
        let contract = self.id.contract();
        let authorities: Vec<_> = Members::open(members.get("artifact_authority_by_kind")?)?.keys().collect();
        Some(
            members.is("release_kind", contract.header_kind)
                && members.is("required_claim_scope", contract.header_scope)
                && members.is("source_repository", contract.repository.0)
                && members.texts("required_artifact_kinds")? == contract.header_artifacts
                && authorities == contract.header_artifacts,
        )
    }
}

fn is_of_this_schema(row: &Tree) -> bool {
    row.get("schema_version").and_then(Tree::as_text) == Some(ROW_SCHEMA)
}

/// Whether a row's sequence is a number at all; nothing for a row that has none.
fn is_numbered(row: &Tree) -> Option<bool> {
    let sequence = row.get("release_identity")?.get("sequence")?;
    Some(matches!(sequence, Tree::Number(_)))
}

/// Sequences count from one, and each row names the one before it.
fn chain(history: &[Tree]) -> Verdict {
    let mut before = None;
    for (row, sequence) in history.iter().zip(1..) {
        let identity = row.get("release_identity").and_then(Members::open).ok_or(Reason::HistoryBroken)?;
        let previous = match before {
            None => identity.is_null("previous_admission_sha256"),
            Some(id) => identity.text("previous_admission_sha256") == Some(id),
        };
        let id = row.get("admission_id_sha256").and_then(Tree::as_text);
        if !is_of_this_schema(row) || identity.integer("sequence", 1) != Some(sequence) || !previous || id.is_none() {
            return Err(Reason::HistoryBroken);
        }
        before = id;
    }
    Ok(())
}

fn source_commit(source: &Tree) -> Option<&str> {
    let members = Members::closed(source, &["schema_version", "repository", "source_commit", "files"])?;
    let commit = members.commit("source_commit")?;
    let files = Members::closed(members.get("files")?, &FILES)?;
    let located = FILES.iter().all(|name| files.get(name).is_some_and(|file| is_at(file, commit) == Some(true)));
    let holds = members.is("schema_version", "openadapt.production-lifecycle-source/v1")
        && members.is("repository", "OpenAdaptAI/.github")
        && located;
    holds.then_some(commit)
}

/// A file of the source, at its address under the commit.
pub(super) fn is_at(file: &Tree, commit: &str) -> Option<bool> {
    let members = Members::closed(file, &["path", "url", "sha256"])?;
    let path = members.text("path")?;
    members.digest("sha256")?;
    Some(members.is("url", &format!("https://raw.githubusercontent.com/OpenAdaptAI/.github/{commit}/{path}")))
}

fn derivation() -> Tree {
    Tree::map([
        ("mode", Tree::text("latest_signed_admission_at_read_time")),
        ("static_production_state", Tree::Bool(false)),
        ("expired_or_revoked_latest_behavior", Tree::text("no_production")),
        ("fallback_to_older_release", Tree::Bool(false)),
    ])
}
