//! One row of the release ledger, judged: shape, target, digests, time, what is installed, and then its evidence. The first thing
//! that doesn't hold is the verdict.

use jiff::Timestamp;

use super::hashes::{in_domain, of_object, semantic_identity, without};
use super::ledger::{ROW_SCHEMA, Target};
use super::reason::{Reason, Verdict};
use super::shape::{Members, spelled};
use super::targets::{Contract, TargetId};
use super::trust::TrustRoot;
use super::trust_state::TrustState;
use super::watermark::Memory;
use super::window::{RELEASE_CAP, Window};
use crate::flow::canonical::Tree;

const ROW: [&str; 22] = [
    "schema_version",
    "admission_id_sha256",
    "evidence_class",
    "target",
    "verdict",
    "claim_scope",
    "release_identity",
    "release",
    "release_sha256",
    "artifact_inventory_sha256",
    "publication_staging",
    "publication_staging_sha256",
    "production_acceptance_summary_reference",
    "production_acceptance_summary_bundle_reference",
    "authority_state_sha256",
    "revocation_state_sha256",
    "signer_registry_sha256",
    "publication_policy_sha256",
    "issued_at",
    "not_before",
    "expires_at",
    "issuer",
];
const ROW_DIGESTS: [&str; 8] = [
    "admission_id_sha256",
    "release_sha256",
    "artifact_inventory_sha256",
    "publication_staging_sha256",
    "authority_state_sha256",
    "revocation_state_sha256",
    "signer_registry_sha256",
    "publication_policy_sha256",
];
const RELEASE: [&str; 10] = [
    "schema_version",
    "kind",
    "source_repository",
    "source_repository_id",
    "source_commit",
    "version",
    "tag",
    "deployment_id",
    "deployment_sha256",
    "artifacts",
];
const ARTIFACT: [&str; 6] = ["name", "kind", "sha256", "size_bytes", "media_type", "publish_destinations"];
pub(super) const REFERENCE: [&str; 16] = [
    "schema_version",
    "repository",
    "repository_id",
    "repository_owner_id",
    "registry_source_commit",
    "registry_revision",
    "registry_head_sha256",
    "registry_entry_sha256",
    "kind",
    "object_schema_version",
    "object_path",
    "object_sha256",
    "size_bytes",
    "object_media_type",
    "semantic_identity_sha256",
    "subject_sha256",
];
const ISSUER: [&str; 7] =
    ["repository", "repository_id", "repository_owner_id", "workflow", "ref", "source_commit", "environment"];

/// What is running here, to be held against what was released.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    pub version: String,
    /// Digest of the program's own file; `None` where it can't be read.
    pub artifact_sha256: Option<String>,
}

/// What a row says of itself, for a person. Nothing of it is vouched for here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    pub version: Option<String>,
    pub tag: Option<String>,
    pub sequence: u64,
    pub admission_id: String,
    pub evidence_class: String,
    pub expires_at: Option<String>,
}

/// What a target is judged with.
pub struct Judge<'a> {
    pub now: Timestamp,
    pub root: &'a TrustRoot,
    pub installed: &'a Installed,
    /// The pack, verified or refused; `None` where there is none.
    pub evidence: Option<&'a Result<TrustState, Reason>>,
    /// Whether the pack carries some bytes, verified or not.
    pub carries: &'a dyn Fn(&str) -> bool,
    pub memory: &'a Memory,
}

/// A judged target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    pub verdict: Verdict,
    pub told: Option<Told>,
    /// The row's signature and everything under it was verified.
    pub verified: bool,
}

struct Row<'a> {
    tree: &'a Tree,
    members: Members<'a>,
    release: Members<'a>,
    sequence: u64,
    admission_id: &'a str,
    window: Window,
    revoked: bool,
}

impl Judge<'_> {
    pub fn target(&self, target: Result<&Target, Reason>, id: TargetId) -> Judged {
        let row = target.and_then(Target::latest).and_then(Row::read);
        match row {
            Err(reason) => Judged { verdict: Err(reason), told: None, verified: false },
            Ok(row) => {
                let mut verified = false;
                let verdict = self.row(&row, id, &mut verified);
                Judged { verdict, told: Some(row.told()), verified }
            }
        }
    }

    fn row(&self, row: &Row<'_>, id: TargetId, verified: &mut bool) -> Verdict {
        row.is_for(id.contract())?;
        row.hashes(id.contract())?;
        row.window.check(self.now, RELEASE_CAP)?;
        if row.revoked {
            return Err(Reason::AdmissionRevoked);
        }
        self.memory.clock(self.now)?;
        row.is_from(id.contract())?;
        if id == TargetId::AGENT {
            row.is_installed(self.installed)?;
        }
        let sha256 = of_object(row.tree);
        let evidence = self.evidence.filter(|_| (self.carries)(&sha256)).ok_or(Reason::SignatureUnavailable)?;
        let state = evidence.as_ref().map_err(|reason| *reason)?;
        let signed = state.object(&sha256).ok_or(Reason::SignatureUnavailable)?;
        row.is_issued_under(state, self)?;
        self.memory.sequence(id, row.sequence, row.admission_id)?;
        self.memory.revocation(&state.revocation)?;
        *verified = true;
        let identity = semantic_identity("qualification-release", ROW_SCHEMA, signed);
        if state.revocation.names(&[&identity, &sha256, row.admission_id]) {
            return Err(Reason::AdmissionRevoked);
        }
        Ok(())
    }
}

impl<'a> Row<'a> {
    fn read(tree: &'a Tree) -> Result<Self, Reason> {
        let members = Members::open(tree).ok_or(Reason::AdmissionMalformed)?;
        if !members.is("schema_version", ROW_SCHEMA) {
            return Err(Reason::AdmissionSchemaUnsupported);
        }
        Self::shape(tree).ok_or(Reason::AdmissionMalformed)
    }

    fn shape(tree: &'a Tree) -> Option<Self> {
        // A withdrawn row could only say so under a name that no row has yet; a null one would be a member without a meaning.
        let revoked = tree.get("revoked_at").is_some_and(|at| !at.is_null());
        let mut keys = ROW.to_vec();
        if revoked {
            keys.push("revoked_at");
        }
        let members = Members::closed(tree, &keys)?;
        let identity_keys = ["schema_version", "channel", "sequence", "previous_admission_sha256"];
        let identity = Members::closed(members.get("release_identity")?, &identity_keys)?;
        let release = Members::closed(members.get("release")?, &RELEASE)?;
        let references = ["production_acceptance_summary_reference", "production_acceptance_summary_bundle_reference"];
        let issuer = Members::closed(members.get("issuer")?, &ISSUER)?;
        let holds = ROW_DIGESTS.iter().all(|key| members.digest(key).is_some())
            && matches!(members.text("evidence_class")?, "remote-safe-synthetic" | "private-customer")
            && ["target", "verdict", "claim_scope"].iter().all(|key| members.text(key).is_some())
            && identity.is("schema_version", "openadapt.monotonic-production-release/v1")
            && identity.is("channel", "production")
            && (identity.is_null("previous_admission_sha256")
                || identity.digest("previous_admission_sha256").is_some())
            && is_release(&release) == Some(true)
            && members.get("publication_staging")?.as_map().is_some()
            && references.iter().all(|key| members.get(key).and_then(is_reference) == Some(true))
            && ISSUER.iter().all(|key| issuer.text(key).is_some());
        holds.then_some(Self {
            tree,
            members,
            release,
            sequence: identity.integer("sequence", 1)?,
            admission_id: members.digest("admission_id_sha256")?,
            window: Window::read(&members, "issued_at")?,
            revoked,
        })
    }

    fn is_for(&self, contract: &Contract) -> Verdict {
        let members = &self.members;
        let kind = self.release.text("kind").unwrap_or_default();
        let wrong = [
            (members.is("target", contract.id), Reason::TargetMismatch),
            (members.is("claim_scope", contract.row_scope), Reason::ClaimScopeMismatch),
            (contract.row_kinds.contains(&kind), Reason::ReleaseKindMismatch),
            (members.is("verdict", "accepted"), Reason::VerdictNotAccepted),
            (members.get("issuer").is_some_and(is_release_issuer), Reason::IssuerMismatch),
        ];
        wrong.into_iter().find(|(holds, _)| !holds).map_or(Ok(()), |(_, reason)| Err(reason))
    }

    fn hashes(&self, contract: &Contract) -> Verdict {
        let about = |key: &str, value: &Tree| {
            Tree::map([
                ("target", Tree::text(contract.id)),
                ("claim_scope", Tree::text(contract.row_scope)),
                (key, value.clone()),
            ])
        };
        let (Some(release), Some(artifacts), Some(staging)) =
            (self.members.get("release"), self.release.get("artifacts"), self.members.get("publication_staging"))
        else {
            return Err(Reason::AdmissionMalformed);
        };
        let unnamed = without(self.tree, &["admission_id_sha256"]);
        let digests = [
            ("release_sha256", in_domain("OpenAdapt production release candidate v1", &about("release", release))),
            (
                "artifact_inventory_sha256",
                in_domain("OpenAdapt production release artifact inventory v1", &about("artifacts", artifacts)),
            ),
            ("publication_staging_sha256", in_domain("OpenAdapt production release staging evidence v1", staging)),
            ("admission_id_sha256", in_domain("OpenAdapt qualification release admission v2", &unnamed)),
        ];
        let same = digests.iter().all(|(key, digest)| self.members.is(key, digest));
        if same && are_sorted(artifacts) { Ok(()) } else { Err(Reason::AdmissionDigestMismatch) }
    }

    fn is_from(&self, contract: &Contract) -> Verdict {
        let (repository, number) = contract.repository;
        let same = self.release.is("source_repository", repository) && self.release.is("source_repository_id", number);
        if same { Ok(()) } else { Err(Reason::ReleaseMismatch) }
    }

    fn is_installed(&self, installed: &Installed) -> Verdict {
        if !self.release.is("version", &installed.version)
            || !self.release.is("tag", &format!("v{}", installed.version))
        {
            return Err(Reason::ReleaseMismatch);
        }
        let artifacts = self.release.list("artifacts").unwrap_or_default();
        let mut inventory = artifacts.iter().filter_map(|artifact| artifact.get("sha256").and_then(Tree::as_text));
        let own = installed.artifact_sha256.as_deref();
        if own.is_some_and(|own| inventory.any(|sha256| sha256 == own)) {
            Ok(())
        } else {
            Err(Reason::ReleaseDigestMismatch)
        }
    }

    fn is_issued_under(&self, state: &TrustState, judge: &Judge<'_>) -> Verdict {
        if !self.members.is("signer_registry_sha256", judge.root.registry_identity()) {
            return Err(Reason::SignerRegistryUntrusted);
        }
        let under = self.members.digest("revocation_state_sha256").unwrap_or_default();
        let known = judge.memory.revocation_digest();
        let follows = state.revocation.follows(under, self.window.issued_at, known);
        if self.members.is("authority_state_sha256", &state.authority_state) && follows {
            Ok(())
        } else {
            Err(Reason::TrustStateInvalid)
        }
    }

    fn told(&self) -> Told {
        let text = |key: &str| self.release.text(key).map(str::to_owned);
        Told {
            version: text("version"),
            tag: text("tag"),
            sequence: self.sequence,
            admission_id: self.admission_id.to_owned(),
            evidence_class: self.members.text("evidence_class").unwrap_or_default().to_owned(),
            expires_at: self.window.expires_at.map(spelled),
        }
    }
}

fn is_release(release: &Members<'_>) -> Option<bool> {
    let artifacts = release.list("artifacts")?;
    let names: std::collections::BTreeSet<_> =
        artifacts.iter().filter_map(|artifact| artifact.get("name")?.as_text()).map(str::to_lowercase).collect();
    let is_number =
        |key| release.text(key).is_some_and(|text| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()));
    let absent = |keys: [&str; 2]| keys.iter().all(|key| release.is_null(key));
    let shaped = if release.is("kind", "deployment") {
        absent(["version", "tag"]) && is_number("deployment_id") && release.digest("deployment_sha256").is_some()
    } else {
        let version = release.text("version")?;
        absent(["deployment_id", "deployment_sha256"])
            && !version.is_empty()
            && release.is("tag", &format!("v{version}"))
    };
    Some(
        release.is("schema_version", "openadapt.production-release-candidate/v1")
            && release.text("kind").is_some()
            && release.text("source_repository").is_some()
            && is_number("source_repository_id")
            && release.commit("source_commit").is_some()
            && shaped
            && names.len() == artifacts.len()
            && artifacts.iter().all(|artifact| is_artifact(artifact) == Some(true)),
    )
}

fn is_artifact(artifact: &Tree) -> Option<bool> {
    let members = Members::closed(artifact, &ARTIFACT)?;
    let destinations = members.texts("publish_destinations")?;
    Some(
        ["name", "kind", "media_type"].iter().all(|key| members.text(key).is_some())
            && members.digest("sha256").is_some()
            && members.integer("size_bytes", 1).is_some()
            && destinations.iter().all(|place| matches!(*place, "deployment" | "github-release" | "pypi"))
            && destinations.windows(2).all(|pair| pair[0] < pair[1]),
    )
}

fn are_sorted(artifacts: &Tree) -> bool {
    let key = |artifact: &Tree| {
        ["kind", "name", "sha256"].map(|key| artifact.get(key).and_then(Tree::as_text).map(str::to_owned))
    };
    artifacts.as_list().is_some_and(|artifacts| artifacts.windows(2).all(|pair| key(&pair[0]) <= key(&pair[1])))
}

/// A registered object's place and digests.
pub(super) fn is_reference(reference: &Tree) -> Option<bool> {
    let members = Members::closed(reference, &REFERENCE)?;
    let hex = members.digest("object_sha256")?.strip_prefix("sha256:")?;
    let path = format!("production-evidence/objects/sha256/{}/{hex}.{}.json", hex.get(..2)?, members.text("kind")?);
    Some(
        members.is("schema_version", "openadapt.production-evidence-object-reference/v2")
            && members.is("repository", "OpenAdaptAI/.github")
            && members.is("repository_id", "858454062")
            && members.is("repository_owner_id", "132681217")
            && members.commit("registry_source_commit").is_some()
            && members.integer("registry_revision", 1).is_some()
            && members.integer("size_bytes", 1).is_some()
            && ["registry_head_sha256", "registry_entry_sha256", "semantic_identity_sha256"]
                .iter()
                .all(|key| members.digest(key).is_some())
            && ["object_schema_version", "object_media_type"].iter().all(|key| members.text(key).is_some())
            && members.is("object_path", &path)
            && (members.is_null("subject_sha256") || members.digest("subject_sha256").is_some()),
    )
}

fn is_release_issuer(issuer: &Tree) -> bool {
    is_issuer(issuer, ".github/workflows/issue-production-release-admission.yml", "production-release-admission")
}

/// The one place from which admissions are issued, at some commit.
pub(super) fn is_issuer(issuer: &Tree, workflow: &str, environment: &str) -> bool {
    Members::closed(issuer, &ISSUER).is_some_and(|members| {
        members.is("repository", "OpenAdaptAI/.github")
            && members.is("repository_id", "858454062")
            && members.is("repository_owner_id", "132681217")
            && members.is("workflow", workflow)
            && members.is("ref", "refs/heads/main")
            && members.is("environment", environment)
            && members.commit("source_commit").is_some()
    })
}
