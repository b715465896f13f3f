//! A pack verified in full: the registry, who may sign, what is revoked, and every object and receipt that it carries. One thing
//! wrong anywhere, and nothing of it is believed.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::evidence::{OBJECT_LIMIT, Pack};
use super::hashes::{in_domain, of_bytes, of_object, without};
use super::reading::registered;
use super::reason::Reason;
use super::shape::Members;
use super::signature::{self, ReceiptKind};
use super::trust::TrustRoot;
use super::window::Window;
use crate::flow::canonical::Tree;

const REGISTRY_LIMIT: usize = 1 << 20;
const AUTHORITY: ReceiptKind = ReceiptKind {
    schema_version: "openadapt.qualification-authority-state-receipt/v2",
    usage: "qualification-authority-state-receipt",
    domain: "OpenAdapt qualification authority state receipt v2",
    workflow: "https://github.com/OpenAdaptAI/openadapt-ops/.github/workflows/qualification-authority-state.yml@refs/heads/main",
};
const REVOCATION: ReceiptKind = ReceiptKind {
    schema_version: "openadapt.qualification-revocation-state-receipt/v1",
    usage: "qualification-revocation-state-receipt",
    domain: "OpenAdapt qualification revocation state receipt v1",
    workflow: "https://github.com/OpenAdaptAI/openadapt-ops/.github/workflows/qualification-revocation-state.yml@refs/heads/main",
};
const DECISION: ReceiptKind = ReceiptKind {
    schema_version: "openadapt.qualification-evidence-decision-receipt/v2",
    usage: "qualification-evidence-decision-receipt",
    domain: "OpenAdapt qualification evidence decision receipt v2",
    workflow: "https://github.com/OpenAdaptAI/.github/.github/workflows/issue-synthetic-qualification-evidence-decision.yml@refs/heads/main",
};

/// What a verified pack says.
#[derive(Debug, Clone)]
pub struct TrustState {
    pub authority_state: String,
    pub revocation: Revocation,
    /// By their digests.
    objects: BTreeMap<String, Tree>,
    receipts: BTreeMap<String, Tree>,
}

/// What is revoked, as of one revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revocation {
    pub digest: String,
    pub revision: u64,
    pub previous: Option<String>,
    pub observed_at: Timestamp,
    /// In their order: what kind of thing, and which.
    pub subjects: Vec<(String, String)>,
}

/// The signer registry, as far as the trusted key is concerned.
pub struct Registry {
    pub inner: Signer,
    pub outer: Signer,
    pub revision: u64,
}

/// What the registry lets the trusted key do under one of its names.
pub struct Signer {
    usages: Vec<String>,
    kinds: Vec<String>,
    workflows: Vec<String>,
    ref_prefixes: Vec<String>,
    environments: Vec<String>,
}

impl TrustState {
    pub fn of(pack: &Pack, root: &TrustRoot, now: Timestamp) -> Result<Self, Reason> {
        let registry_tree = registered(&pack.registry, REGISTRY_LIMIT).ok_or(Reason::SignerRegistryUntrusted)?;
        let registry = Registry::of(&registry_tree, root)?;
        let read = |bytes: &[u8]| registered(bytes, OBJECT_LIMIT).ok_or(Reason::SignatureInvalid);
        let authority = read(&pack.authority_state)?;
        let revoked = read(&pack.revocation_state)?;
        signature::receipt(&authority, &AUTHORITY, &registry, root)?;
        let authority_state = authority_state(&authority, &of_bytes(&pack.registry), &registry, root, now)?;
        let revocation = Revocation::of(&revoked, &registry, root, now)?;
        if !Members::open(&revoked).is_some_and(|members| members.is("authority_state_sha256", &authority_state)) {
            return Err(Reason::TrustStateInvalid);
        }
        let mut state = Self { authority_state, revocation, objects: BTreeMap::new(), receipts: BTreeMap::new() };
        for signed in &pack.objects {
            let object = read(&signed.object)?;
            signature::object(&object, &signed.bundle, &registry, root, now)?;
            state.objects.insert(of_object(&object), object);
        }
        for bytes in &pack.receipts {
            let receipt = decision(&read(bytes)?, &registry, root, now)?;
            state.receipts.insert(of_object(&receipt), receipt);
        }
        Ok(state)
    }

    /// The object of this digest, signed.
    pub fn object(&self, sha256: &str) -> Option<&Tree> {
        self.objects.get(sha256)
    }

    pub fn receipt(&self, sha256: &str) -> Option<&Tree> {
        self.receipts.get(sha256)
    }
}

/// A decision receipt that is signed and counts now.
pub(super) fn decision(receipt: &Tree, registry: &Registry, root: &TrustRoot, now: Timestamp) -> Result<Tree, Reason> {
    signature::receipt(receipt, &DECISION, registry, root)?;
    let counts = Members::open(receipt)
        .filter(|members| members.is("signer_registry_sha256", root.registry_identity()))
        .and_then(|members| Window::read(&members, "issued_at"))
        .is_some_and(|window| window.counts(now));
    if counts { Ok(receipt.clone()) } else { Err(Reason::TrustStateInvalid) }
}

fn authority_state(
    receipt: &Tree,
    registry_sha256: &str,
    registry: &Registry,
    root: &TrustRoot,
    now: Timestamp,
) -> Result<String, Reason> {
    let members = Members::open(receipt).ok_or(Reason::TrustStateInvalid)?;
    let identity = in_domain(
        "OpenAdapt qualification authority state identity v2",
        &without(receipt, &["authority_state_sha256", "signature", "signing_statement"]),
    );
    let holds = members.is("status", "active")
        && members.is("authority_state_sha256", &identity)
        && members.is("signer_registry_sha256", registry_sha256)
        && members.is("signer_registry_identity_sha256", root.registry_identity())
        && members.integer("signer_registry_revision", 1) == Some(registry.revision)
        && Window::read(&members, "observed_at").is_some_and(|window| window.counts(now));
    if holds { Ok(identity) } else { Err(Reason::TrustStateInvalid) }
}

impl Revocation {
    /// A revocation receipt, verified. A trusted key that it revokes ends everything.
    pub(super) fn of(receipt: &Tree, registry: &Registry, root: &TrustRoot, now: Timestamp) -> Result<Self, Reason> {
        signature::receipt(receipt, &REVOCATION, registry, root)?;
        let revocation = Self::read(receipt, root, now).ok_or(Reason::TrustStateInvalid)?;
        if revocation.names(&[&root.public_key_sha256()]) {
            return Err(Reason::SignerRevoked);
        }
        Ok(revocation)
    }

    /// Whether any of these ids is revoked, whatever kind of thing the entry calls it.
    pub fn names(&self, ids: &[&str]) -> bool {
        self.subjects.iter().any(|(_, id)| ids.contains(&id.as_str()))
    }

    /// Whether this state is the one that an admission was issued under, or the one after it. `known` is a state that this computer
    /// has verified before: what comes after it comes after everything that was issued earlier.
    pub fn follows(&self, issued_under: &str, issued_at: Timestamp, known: Option<&str>) -> bool {
        let after = |digest: &str| self.revision > 1 && self.previous.as_deref() == Some(digest);
        let since = |known: &str| (known == self.digest || after(known)) && self.observed_at >= issued_at;
        self.digest == issued_under || after(issued_under) || known.is_some_and(since)
    }

    fn read(receipt: &Tree, root: &TrustRoot, now: Timestamp) -> Option<Self> {
        let members = Members::open(receipt)?;
        let identity = in_domain(
            "OpenAdapt qualification revocation state identity v1",
            &without(receipt, &["revocation_state_sha256", "signature", "signing_statement"]),
        );
        let window = Window::read(&members, "observed_at")?;
        let previous = match members.get("previous_revocation_state_sha256")? {
            Tree::Null => None,
            _ => Some(members.digest("previous_revocation_state_sha256")?.to_owned()),
        };
        let subjects = members.list("revocations")?.iter().map(subject).collect::<Option<Vec<_>>>()?;
        let revision = members.integer("revision", 1)?;
        let holds = members.is("status", "current")
            && members.is("revocation_state_sha256", &identity)
            && members.is("signer_registry_sha256", root.registry_identity())
            && (revision == 1) == previous.is_none()
            && subjects.windows(2).all(|pair| pair[0] < pair[1])
            && window.counts(now);
        holds.then_some(Self { digest: identity, revision, previous, observed_at: window.issued_at, subjects })
    }
}

fn subject(entry: &Tree) -> Option<(String, String)> {
    let members = Members::closed(entry, &["subject_kind", "subject_id", "revoked_at", "reason_code"])?;
    members.moment("revoked_at")?;
    members.text("reason_code")?;
    Some((members.text("subject_kind")?.to_owned(), members.digest("subject_id")?.to_owned()))
}

impl Registry {
    /// The one registry that is trusted, and the one key in it.
    pub(super) fn of(tree: &Tree, root: &TrustRoot) -> Result<Self, Reason> {
        let untrusted = Reason::SignerRegistryUntrusted;
        let keys = ["schema_version", "revision", "generated_at", "expires_at", "signers"];
        let members = Members::closed(tree, &keys).ok_or(untrusted)?;
        let pinned = members.is("schema_version", "openadapt.qualification-signer-registry/v2")
            && in_domain("OpenAdapt qualification signer registry v2", tree) == root.registry_identity()
            && members.is_null("expires_at")
            && members.moment("generated_at").is_some();
        if !pinned {
            return Err(untrusted);
        }
        let signers = members.list("signers").ok_or(untrusted)?;
        Ok(Self {
            inner: Signer::of(signers, &root.inner_key_id(), root)?,
            outer: Signer::of(signers, &root.outer_key_id(), root)?,
            revision: members.integer("revision", 1).ok_or(untrusted)?,
        })
    }
}

impl Signer {
    fn of(signers: &[Tree], key_id: &str, root: &TrustRoot) -> Result<Self, Reason> {
        let mut named = signers.iter().filter_map(Members::open).filter(|signer| signer.is("key_id", key_id));
        let (Some(signer), None) = (named.next(), named.next()) else { return Err(Reason::SignerRegistryUntrusted) };
        if !signer.is("algorithm", "ed25519") {
            return Err(Reason::SignerUnsupported);
        }
        if !signer.is("public_key", &root.public_key()) || !signer.is("public_key_sha256", &root.public_key_sha256()) {
            return Err(Reason::SignerRegistryUntrusted);
        }
        if !signer.is("status", "active") || !signer.is_null("revoked_at") {
            return Err(Reason::SignerRevoked);
        }
        let list = |key: &str| -> Vec<String> {
            signer.texts(key).unwrap_or_default().into_iter().map(str::to_owned).collect()
        };
        Ok(Self {
            usages: list("allowed_usages"),
            kinds: list("allowed_kinds"),
            workflows: list("allowed_workflows"),
            ref_prefixes: list("allowed_ref_prefixes"),
            environments: list("allowed_environments"),
        })
    }

    /// Whether a receipt for this usage may come from this issuer.
    pub(super) fn may_issue(&self, usage: &str, workflow: &str, issuer: &Members<'_>) -> bool {
        has(&self.usages, usage)
            && has(&self.workflows, workflow)
            && workflow_of(issuer).as_deref() == Some(workflow)
            && self.is_from_allowed_ref(issuer)
    }

    /// Whether the statement's kind and its signing authority are allowed.
    pub(super) fn may_sign(&self, statement: &Members<'_>) -> Option<bool> {
        let authority = Members::open(statement.get("signing_authority")?)?;
        Some(
            has(&self.usages, "production-public-evidence")
                && has(&self.kinds, statement.text("object_kind")?)
                && has(&self.workflows, &workflow_of(&authority)?)
                && has(&self.environments, authority.text("environment")?)
                && authority.is("key_origin", "software")
                && self.is_from_allowed_ref(&authority),
        )
    }

    fn is_from_allowed_ref(&self, issuer: &Members<'_>) -> bool {
        issuer.text("ref").is_some_and(|name| self.ref_prefixes.iter().any(|prefix| name.starts_with(prefix)))
    }
}

fn workflow_of(issuer: &Members<'_>) -> Option<String> {
    let (repository, workflow, name) = (issuer.text("repository")?, issuer.text("workflow")?, issuer.text("ref")?);
    Some(format!("https://github.com/{repository}/{workflow}@{name}"))
}

fn has(words: &[String], word: &str) -> bool {
    words.iter().any(|known| known == word)
}
