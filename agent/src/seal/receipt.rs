//! One receipt and its signature, checked member by member.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::Signature;

use super::keys::{Key, Keys};
use crate::admission::shape::{Members, is_hex};
use crate::contract::outcome::closed_words;
use crate::flow::canonical::Tree;

const SCHEMA: &str = "openadapt.seal-signature/v1";
const MEMBERS: [&str; 8] =
    ["schema", "issuer", "algorithm", "key_id", "receipt_sha256", "run_id", "issued_at", "signature"];
const SIGNATURE: &str = "seal_signature";

closed_words! {
    /// Why a receipt is no Seal.
    Refusal {
        /// There is no receipt in it.
        NoReceipt = "no_receipt",
        /// It can't be read.
        Unreadable = "unreadable",
        /// It carries no signature.
        Unsigned = "unsigned",
        /// Its signature isn't of the one shape.
        Malformed = "malformed",
        /// It isn't the receipt that was signed, or not of that run.
        ReceiptMismatch = "receipt_mismatch",
        /// No key is pinned here.
        NoPinnedKeys = "no_pinned_keys",
        /// The key isn't pinned here.
        UnknownKey = "unknown_key",
        /// The key was revoked when it signed.
        RevokedKey = "revoked_key",
        /// The signature isn't that key's.
        BadSignature = "bad_signature",
    }
}

/// The pinned key that signed this receipt.
pub fn verify<'a>(receipt: &Tree, keys: &'a Keys) -> Result<&'a Key, Refusal> {
    let members = Members::open(receipt).ok_or(Refusal::Malformed)?;
    let signature = match members.get(SIGNATURE) {
        None | Some(Tree::Null) => return Err(Refusal::Unsigned),
        Some(signature) => signature,
    };
    let signed = Members::closed(signature, &MEMBERS).ok_or(Refusal::Malformed)?;
    let issued_at = signed.moment("issued_at").filter(|_| is_well_formed(&signed)).ok_or(Refusal::Malformed)?;
    let same = signed.is("receipt_sha256", &sha256(receipt)) && signed.get("run_id") == members.get("execution_id");
    if !same || signed.text("run_id").is_none() {
        return Err(Refusal::ReceiptMismatch);
    }
    if keys.is_empty() {
        return Err(Refusal::NoPinnedKeys);
    }
    let key = keys.get(signed.text("key_id").unwrap_or_default()).ok_or(Refusal::UnknownKey)?;
    if key.revoked_at().is_some_and(|revoked_at| issued_at >= revoked_at) {
        return Err(Refusal::RevokedKey);
    }
    if is_signed_by(signature, key) == Some(true) { Ok(key) } else { Err(Refusal::BadSignature) }
}

/// Digest of the receipt without its signature.
pub fn sha256(receipt: &Tree) -> String {
    let mut unsigned = receipt.clone();
    if let Some(members) = unsigned.as_map_mut() {
        members.remove(SIGNATURE);
    }
    unsigned.sha256_hex()
}

/// Whether a receipt is about a save that was checked.
pub fn is_verified_outcome(receipt: &Tree) -> bool {
    matches!(receipt.get("outcome").and_then(Tree::as_text), Some("verified" | "rolled_back_verified"))
}

fn is_well_formed(signed: &Members<'_>) -> bool {
    let is_key_id = |id: &str| id.strip_prefix("seal-ed25519-").is_some_and(|hex| is_hex(hex, 16));
    signed.is("schema", SCHEMA)
        && signed.is("issuer", "openadapt-cloud")
        && signed.is("algorithm", "ed25519")
        && signed.text("key_id").is_some_and(is_key_id)
        && signed.text("receipt_sha256").is_some_and(|hex| is_hex(hex, 64))
        && signed.text("signature").is_some()
}

fn is_signed_by(signature: &Tree, key: &Key) -> Option<bool> {
    let mut unsigned = signature.clone();
    let text = unsigned.as_map_mut()?.remove("signature")?;
    let bytes = STANDARD.decode(text.as_text()?).ok()?;
    let mut message = format!("{SCHEMA}\0").into_bytes();
    message.extend(unsigned.canonical_bytes());
    Some(key.verifying_key()?.verify_strict(&message, &Signature::from_slice(&bytes).ok()?).is_ok())
}
