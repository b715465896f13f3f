//! The two kinds of signature: inside a receipt, over a statement about the rest of it; and around a registered object, in a
//! DSSE envelope. Both are Ed25519, and both have one spelling only.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::Signature;
use jiff::Timestamp;

use super::hashes::{of_bytes, of_object, semantic_identity, without};
use super::reading::{registered, with_line_feed};
use super::reason::{Reason, Verdict};
use super::shape::Members;
use super::trust::TrustRoot;
use super::trust_state::Registry;
use super::window::Window;
use crate::flow::canonical::Tree;

const OBJECT_LIMIT: usize = 64 << 10;
const BUNDLE_TYPE: &str = "application/vnd.dev.sigstore.bundle.v0.3+json";
const STATEMENT_TYPE: &str = "application/vnd.openadapt.production-public-trust-signing-statement+json;version=1";
const STATEMENT_SCHEMA: &str = "openadapt.production-public-trust-signing-statement/v1";
const PROFILE: &str = "software-ed25519-dsse-v1";
const STATEMENT: [&str; 18] = [
    "schema_version",
    "object_kind",
    "object_schema_version",
    "object_media_type",
    "object_sha256",
    "object_size_bytes",
    "semantic_identity_sha256",
    "source_issuer",
    "signer_registry_sha256",
    "authority_state_sha256",
    "revocation_state_sha256",
    "issued_at",
    "not_before",
    "expires_at",
    "request_id_sha256",
    "signing_authority",
    "key_id",
    "signature_profile",
];
const SIGNING_AUTHORITY: [&str; 8] = [
    "repository",
    "repository_id",
    "repository_owner_id",
    "workflow",
    "ref",
    "source_commit",
    "environment",
    "key_origin",
];

/// A receipt that carries its signature in itself.
pub struct ReceiptKind {
    pub schema_version: &'static str,
    pub usage: &'static str,
    /// Without the NUL that ends it.
    pub domain: &'static str,
    pub workflow: &'static str,
}

/// What may be registered and signed from outside, by its schema: kind and media type.
const REGISTERED: [(&str, &str, &str); 2] = [
    (
        "openadapt.qualification-release/v2",
        "qualification-release",
        "application/vnd.openadapt.qualification-release+json;version=2",
    ),
    (
        "openadapt.qualification-admission/v4",
        "qualification-admission",
        "application/vnd.openadapt.qualification-admission+json;version=4",
    ),
];

/// Whether a receipt is signed by the trusted key, about exactly these contents.
pub fn receipt(receipt: &Tree, kind: &ReceiptKind, registry: &Registry, root: &TrustRoot) -> Verdict {
    let members = Members::open(receipt).ok_or(Reason::SignatureInvalid)?;
    if !members.is("algorithm", "ed25519") {
        return Err(Reason::SignerUnsupported);
    }
    let issuer = members.get("issuer").and_then(Members::open).ok_or(Reason::SignatureInvalid)?;
    if !registry.inner.may_issue(kind.usage, kind.workflow, &issuer) {
        return Err(Reason::SignatureInvalid);
    }
    let unsigned = with_line_feed(&without(receipt, &["signature", "signing_statement"]));
    let statement = Tree::map([
        ("schema_version", Tree::text("openadapt.qualification-evidence-signing-statement/v1")),
        ("object_schema_version", Tree::text(kind.schema_version)),
        ("signature_domain", Tree::text(format!("{}\0", kind.domain))),
        ("unsigned_object_sha256", Tree::text(of_bytes(&unsigned))),
        ("unsigned_size_bytes", Tree::Number(unsigned.len().to_string())),
        ("commitment_scheme", Tree::text("sha256-canonical-json-lf")),
    ]);
    let named = members.is("schema_version", kind.schema_version)
        && members.is("issuer_key_id", &root.inner_key_id())
        && members.get("signing_statement") == Some(&statement);
    let signature = members.text("signature").unwrap_or_default();
    if named && verifies(root, signature, &with_line_feed(&statement)) { Ok(()) } else { Err(Reason::SignatureInvalid) }
}

/// Whether a registered object is signed, by exactly this bundle.
pub fn object(object: &Tree, bundle: &[u8], registry: &Registry, root: &TrustRoot, now: Timestamp) -> Verdict {
    let (payload, signature) = envelope(bundle, root).ok_or(Reason::SignatureInvalid)?;
    let statement = registered(&payload, OBJECT_LIMIT).ok_or(Reason::SignatureInvalid)?;
    let members = Members::closed(&statement, &STATEMENT).ok_or(Reason::SignatureInvalid)?;
    if members.text("signature_profile").is_some_and(|profile| profile != PROFILE) {
        return Err(Reason::SignerUnsupported);
    }
    let signed = is_about(&members, object, root) == Some(true)
        && registry.outer.may_sign(&members) == Some(true)
        && Window::read(&members, "issued_at").is_some_and(|window| window.counts(now))
        && verifies(root, &signature, &pre_authentication(&payload));
    if signed { Ok(()) } else { Err(Reason::SignatureInvalid) }
}

/// The statement that an envelope carries, where it can be read; whether it is signed is another question.
pub fn object_sha256_in(bundle: &[u8], root: &TrustRoot) -> Option<String> {
    let statement = registered(&envelope(bundle, root)?.0, OBJECT_LIMIT)?;
    Members::open(&statement)?.digest("object_sha256").map(str::to_owned)
}

/// The payload and the one signature of an envelope in its one spelling.
fn envelope(bundle: &[u8], root: &TrustRoot) -> Option<(Vec<u8>, String)> {
    let tree = registered(bundle, OBJECT_LIMIT)?;
    let members = Members::closed(&tree, &["mediaType", "verificationMaterial", "dsseEnvelope"])?;
    let material = Members::closed(members.get("verificationMaterial")?, &["publicKey"])?;
    let hint = Members::closed(material.get("publicKey")?, &["hint"])?;
    let envelope = Members::closed(members.get("dsseEnvelope")?, &["payload", "payloadType", "signatures"])?;
    let [signature] = envelope.list("signatures")? else { return None };
    let signature = Members::closed(signature, &["keyid", "sig"])?;
    let key_id = root.outer_key_id();
    let named = members.is("mediaType", BUNDLE_TYPE)
        && hint.is("hint", &key_id)
        && envelope.is("payloadType", STATEMENT_TYPE)
        && signature.is("keyid", &key_id);
    if !named {
        return None;
    }
    Some((STANDARD.decode(envelope.text("payload")?).ok()?, signature.text("sig")?.to_owned()))
}

fn is_about(statement: &Members<'_>, object: &Tree, root: &TrustRoot) -> Option<bool> {
    let members = Members::open(object)?;
    let schema_version = members.text("schema_version")?;
    let (_, kind, media_type) = REGISTERED.iter().find(|(schema, ..)| *schema == schema_version)?;
    let size = u64::try_from(with_line_feed(object).len()).ok()?;
    Some(
        statement.is("schema_version", STATEMENT_SCHEMA)
            && statement.is("object_kind", kind)
            && statement.is("object_schema_version", schema_version)
            && statement.is("object_media_type", media_type)
            && statement.is("object_sha256", &of_object(object))
            && statement.integer("object_size_bytes", 1) == Some(size)
            && statement.is("semantic_identity_sha256", &semantic_identity(kind, schema_version, object))
            && statement.get("source_issuer") == members.get("issuer")
            && statement.is("signer_registry_sha256", root.registry_identity())
            && statement.get("revocation_state_sha256") == members.get("revocation_state_sha256")
            && members
                .get("authority_state_sha256")
                .is_none_or(|state| statement.get("authority_state_sha256") == Some(state))
            && statement.digest("request_id_sha256").is_some()
            && statement.is("key_id", &root.outer_key_id())
            && Members::closed(statement.get("signing_authority")?, &SIGNING_AUTHORITY)?
                .commit("source_commit")
                .is_some(),
    )
}

/// What a DSSE signature is over.
fn pre_authentication(payload: &[u8]) -> Vec<u8> {
    let mut bytes = format!("DSSEv1 {} {STATEMENT_TYPE} {} ", STATEMENT_TYPE.len(), payload.len()).into_bytes();
    bytes.extend_from_slice(payload);
    bytes
}

fn verifies(root: &TrustRoot, signature: &str, message: &[u8]) -> bool {
    let Ok(bytes) = STANDARD.decode(signature) else { return false };
    let Ok(signature) = Signature::from_slice(&bytes) else { return false };
    root.verifying_key().is_some_and(|key| key.verify_strict(message, &signature).is_ok())
}
