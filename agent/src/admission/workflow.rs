//! Workflow admissions: the public list that only points, and the registered object that it points at.

use jiff::Timestamp;

use super::campaign;
use super::hashes::{in_domain, of_object, semantic_identity, without};
use super::ledger::is_at;
use super::live::Live;
use super::reading::with_line_feed;
use super::reason::{Reason, Verdict};
use super::release::{REFERENCE, is_issuer, is_reference};
use super::shape::Members;
use super::trust::TrustRoot;
use super::trust_state::{Revocation, TrustState};
use super::watermark::Memory;
use super::window::{WORKFLOW_CAP, Window};
use crate::flow::canonical::Tree;

const PUBLIC: &str = "openadapt.public-production-workflow-admissions/v1";
/// The list that the public one is made of; its rows repeat nothing of the object.
const SOURCE: &str = "openadapt.production-workflow-admissions/v1";
const MOST_ROWS: usize = 4096;
pub(super) const KIND: &str = "qualification-admission";
pub(super) const OBJECT_SCHEMA: &str = "openadapt.qualification-admission/v4";
const MEDIA_TYPE: &str = "application/vnd.openadapt.qualification-admission+json;version=4";
const REPEATED: [&str; 4] = ["bundle_version", "evidence_class", "expires_at", "verdict"];
const OBJECT: [&str; 31] = [
    "schema_version",
    "admission_id_sha256",
    "evidence_class",
    "organization_id_sha256",
    "workflow_id_sha256",
    "workflow_version_id_sha256",
    "bundle_sha256",
    "admitted_runtime_sha256",
    "application_contract_sha256",
    "environment_contract_sha256",
    "input_contract_sha256",
    "action_contract_sha256",
    "identity_contract_sha256",
    "effect_contract_sha256",
    "policy_contract_sha256",
    "evidence_authority_sha256",
    "campaign_artifact_sha256",
    "campaign_permit_sha256",
    "bundle_version",
    "entity_class",
    "campaign_summary",
    "decision_receipt_reference",
    "decision_receipt_bundle_reference",
    "signer_registry_sha256",
    "revocation_state_sha256",
    "local_identity_opening",
    "verdict",
    "issued_at",
    "not_before",
    "expires_at",
    "issuer",
];
/// Names under which the decision receipt repeats the admission.
const RECEIPT: [(&str, &str); 20] = [
    ("evidence_class", "evidence_class"),
    ("organization_id_sha256", "organization_id_sha256"),
    ("workflow_id_sha256", "workflow_id_sha256"),
    ("workflow_version_id_sha256", "workflow_version_id_sha256"),
    ("bundle_version", "bundle_version"),
    ("bundle_sha256", "bundle_sha256"),
    ("admitted_runtime_sha256", "admitted_runtime_sha256"),
    ("application_contract_sha256", "application_contract_sha256"),
    ("environment_contract_sha256", "environment_contract_sha256"),
    ("input_contract_sha256", "input_contract_sha256"),
    ("action_contract_sha256", "action_contract_sha256"),
    ("identity_contract_sha256", "identity_contract_sha256"),
    ("effect_contract_sha256", "effect_contract_sha256"),
    ("policy_contract_sha256", "policy_contract_sha256"),
    ("evidence_authority_sha256", "evidence_authority_contract_sha256"),
    ("campaign_artifact_sha256", "campaign_artifact_sha256"),
    ("campaign_permit_sha256", "campaign_permit_sha256"),
    ("signer_registry_sha256", "signer_registry_sha256"),
    ("revocation_state_sha256", "revocation_state_sha256"),
    ("entity_class", "entity_class"),
];

/// A list of workflow admissions whose frame holds.
#[derive(Debug)]
pub struct Workflows {
    rows: Vec<Tree>,
}

/// What every admission is judged with.
pub struct Judge<'a> {
    pub now: Timestamp,
    pub root: &'a TrustRoot,
    pub evidence: Option<&'a Result<TrustState, Reason>>,
    pub carries: &'a dyn Fn(&str) -> bool,
    pub memory: &'a Memory,
    pub live: Option<&'a Live>,
}

/// A row of the list, judged. What it repeats of the object is told as it stands there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    pub verdict: Verdict,
    pub object_sha256: Option<String>,
    pub bundle_version: Option<String>,
    pub evidence_class: Option<String>,
}

/// An admission object whose own contents hold. Whether it is signed is another question.
pub struct Admission<'a> {
    pub tree: &'a Tree,
    pub members: Members<'a>,
    window: Window,
}

impl Workflows {
    pub fn read(tree: &Tree) -> Result<Self, Reason> {
        let root = Members::open(tree).ok_or(Reason::LedgerMalformed)?;
        let rows = match root.text("schema_version") {
            Some(PUBLIC) => public_rows(tree),
            Some(SOURCE) => root.list("admissions"),
            _ => return Err(Reason::LedgerSchemaUnsupported),
        };
        let rows = rows.filter(|rows| rows.len() <= MOST_ROWS).ok_or(Reason::LedgerMalformed)?;
        Ok(Self { rows: rows.to_vec() })
    }

    pub fn rows(&self) -> &[Tree] {
        &self.rows
    }
}

impl Judge<'_> {
    pub fn row(&self, row: &Tree) -> Judged {
        let text = |key: &str| row.get(key).and_then(Tree::as_text).map(str::to_owned);
        Judged {
            verdict: self.verdict(row),
            object_sha256: text("object_sha256"),
            bundle_version: text("bundle_version"),
            evidence_class: text("evidence_class"),
        }
    }

    fn verdict(&self, row: &Tree) -> Verdict {
        let members = Members::open(row).ok_or(Reason::AdmissionMalformed)?;
        if is_row(row) != Some(true) {
            return Err(Reason::AdmissionMalformed);
        }
        self.memory.clock(self.now)?;
        let sha256 = members.digest("object_sha256").unwrap_or_default();
        let evidence = self.evidence.filter(|_| (self.carries)(sha256)).ok_or(Reason::SignatureUnavailable)?;
        let state = evidence.as_ref().map_err(|reason| *reason)?;
        let object = state.object(sha256).ok_or(Reason::SignatureUnavailable)?;
        if !is_of_object(&members, object) {
            return Err(Reason::RowObjectMismatch);
        }
        let admission = Admission::read(object, self.root, self.now)?;
        let receipt = admission.receipt_sha256().and_then(|sha256| state.receipt(sha256));
        admission.is_decided_by(receipt.ok_or(Reason::ReceiptMismatch)?)?;
        admission.is_not_revoked(&state.revocation, self.memory)?;
        self.live.map_or(Ok(()), |live| live.is_admitted_by(&admission.members))
    }
}

impl<'a> Admission<'a> {
    /// Everything that an admission says of itself: shape, issuer, id, time, trials.
    pub fn read(tree: &'a Tree, root: &TrustRoot, now: Timestamp) -> Result<Self, Reason> {
        let open = Members::open(tree).ok_or(Reason::AdmissionMalformed)?;
        if !open.is("schema_version", OBJECT_SCHEMA) {
            return Err(Reason::AdmissionSchemaUnsupported);
        }
        let admission = Self::shape(tree).ok_or(Reason::AdmissionMalformed)?;
        let members = &admission.members;
        if !members.is("verdict", "accepted") {
            return Err(Reason::VerdictNotAccepted);
        }
        let issuer = members.get("issuer").ok_or(Reason::AdmissionMalformed)?;
        if !is_issuer(issuer, ".github/workflows/issue-qualification-admission.yml", "qualification-admission") {
            return Err(Reason::IssuerMismatch);
        }
        let identity = in_domain("OpenAdapt qualification admission v4", &without(tree, &["admission_id_sha256"]));
        if !members.is("admission_id_sha256", &identity) {
            return Err(Reason::AdmissionDigestMismatch);
        }
        admission.window.check(now, WORKFLOW_CAP)?;
        if !members.is("signer_registry_sha256", root.registry_identity()) {
            return Err(Reason::SignerRegistryUntrusted);
        }
        if !members.get("campaign_summary").is_some_and(campaign::is_acceptable) {
            return Err(Reason::CampaignNotAcceptable);
        }
        Ok(admission)
    }

    /// Which decision it rests on.
    pub fn receipt_sha256(&self) -> Option<&'a str> {
        Members::open(self.members.get("decision_receipt_reference")?)?.digest("object_sha256")
    }

    /// Whether a decision, already known to be signed, is this admission's and says the same.
    pub fn is_decided_by(&self, receipt: &Tree) -> Verdict {
        let summary = receipt.at(["campaign_summary", "classes"]);
        let same = self.receipt_sha256() == Some(of_object(receipt).as_str())
            && RECEIPT.iter().all(|(own, theirs)| self.members.get(own) == receipt.get(theirs))
            && self.members.get("campaign_summary") == summary;
        if same { Ok(()) } else { Err(Reason::ReceiptMismatch) }
    }

    pub fn is_not_revoked(&self, revocation: &Revocation, memory: &Memory) -> Verdict {
        let under = self.members.digest("revocation_state_sha256").unwrap_or_default();
        if !revocation.follows(under, self.window.issued_at, memory.revocation_digest()) {
            return Err(Reason::TrustStateInvalid);
        }
        memory.revocation(revocation)?;
        let identity = semantic_identity(KIND, OBJECT_SCHEMA, self.tree);
        let id = self.members.digest("admission_id_sha256").unwrap_or_default();
        if revocation.names(&[&identity, &of_object(self.tree), id]) { Err(Reason::AdmissionRevoked) } else { Ok(()) }
    }

    fn shape(tree: &'a Tree) -> Option<Self> {
        let members = Members::closed(tree, &OBJECT)?;
        let digests = OBJECT.iter().filter(|key| key.ends_with("_sha256"));
        let references = ["decision_receipt_reference", "decision_receipt_bundle_reference"];
        let holds = digests.into_iter().all(|key| members.digest(key).is_some())
            && matches!(members.text("evidence_class")?, "remote-safe-synthetic" | "private-customer")
            && is_version(members.text("bundle_version")?)
            && is_entity_class(members.text("entity_class")?)
            && references.iter().all(|key| members.get(key).and_then(is_reference) == Some(true))
            && members.get("local_identity_opening") == Some(&local_identity_opening())
            && members.text("verdict").is_some();
        holds.then_some(Self { tree, members, window: Window::read(&members, "issued_at")? })
    }
}

fn public_rows(tree: &Tree) -> Option<&[Tree]> {
    let root = Members::closed(tree, &["schema_version", "source", "policy_sha256", "admissions"])?;
    root.digest("policy_sha256")?;
    let source = Members::closed(root.get("source")?, &["schema_version", "repository", "source_commit", "files"])?;
    let commit = source.commit("source_commit")?;
    let files = Members::closed(source.get("files")?, &["admissions"])?;
    let holds = source.is("schema_version", "openadapt.production-workflow-admissions-source/v1")
        && source.is("repository", "OpenAdaptAI/.github")
        && is_at(files.get("admissions")?, commit) == Some(true);
    let rows = root.list("admissions")?;
    (holds && rows.iter().all(|row| REPEATED.iter().all(|key| row.get(key).is_some()))).then_some(rows)
}

fn is_row(row: &Tree) -> Option<bool> {
    let members = Members::open(row)?;
    let repeats = members.get("verdict").is_some();
    let keys: Vec<_> = if repeats { [REFERENCE.as_slice(), &REPEATED].concat() } else { REFERENCE.to_vec() };
    Members::closed(row, &keys)?;
    Some(
        is_reference(&without(row, &REPEATED)) == Some(true)
            && members.is("kind", KIND)
            && members.is("object_schema_version", OBJECT_SCHEMA)
            && members.is("object_media_type", MEDIA_TYPE)
            && members.is_null("subject_sha256"),
    )
}

/// Whether a row says the same as the object that it points at.
fn is_of_object(row: &Members<'_>, object: &Tree) -> bool {
    let size = u64::try_from(with_line_feed(object).len()).unwrap_or(u64::MAX);
    row.integer("size_bytes", 1) == Some(size)
        && row.is("semantic_identity_sha256", &semantic_identity(KIND, OBJECT_SCHEMA, object))
        && REPEATED.iter().all(|key| row.get(key).is_none_or(|told| object.get(key) == Some(told)))
}

/// Three numbers, perhaps with something after them.
fn is_version(text: &str) -> bool {
    let (numbers, suffix) = text.split_once('-').map_or((text, None), |(numbers, suffix)| (numbers, Some(suffix)));
    let numbers: Vec<_> = numbers.split('.').collect();
    let is_number = |text: &&str| {
        (1..=10).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_digit())
            && (text.len() == 1 || !text.starts_with('0'))
    };
    let is_suffix = |text: &str| {
        text.split(['.', '-']).all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric()))
    };
    text.len() <= 64 && numbers.len() == 3 && numbers.iter().all(is_number) && suffix.is_none_or(is_suffix)
}

fn is_entity_class(text: &str) -> bool {
    text.len() <= 64
        && text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b' ' | b'-'))
}

/// How a person's identity is opened at the place of work: the same for every admission.
fn local_identity_opening() -> Tree {
    Tree::map([
        ("schema_version", Tree::text("openadapt.qualification-local-identity-opening/v1")),
        ("algorithm", Tree::text("hmac-sha256")),
        ("customer_controlled_secret_required", Tree::Bool(true)),
        ("exact_contract_match_required", Tree::Bool(true)),
        ("maximum_age_seconds", Tree::Number("60".to_owned())),
        ("required", Tree::Bool(true)),
        ("revalidation_before_actuation", Tree::Bool(true)),
    ])
}
