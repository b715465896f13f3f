//! What verification rests on: one published key and one signer registry. Nothing else is believed, and no option changes it.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::VerifyingKey;

use super::hashes::of_bytes;
use crate::flow::canonical::sha256_hex;

/// The beginning of an Ed25519 key in its SubjectPublicKeyInfo form.
const SPKI: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];
/// Published with the public evidence. It is a software key of synthetic evidence: no person and no hardware stands behind it.
const PUBLISHED_KEY: &str = "vHPUDLG2WD2BnTLaKYnZd9GxvUKfjpd68gJ9HubIEH8";
const PUBLISHED_REGISTRY: &str = "sha256:e243a23243b24986ed08812e284a1bd8c4993814149f02bcba79cc520e10ca14";

/// The key that signs and the registry that names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustRoot {
    key: [u8; 32],
    registry_identity: String,
}

impl TrustRoot {
    /// The root that this program is built with. Nothing is trusted where it can't be read.
    pub fn published() -> Option<Self> {
        let key = URL_SAFE_NO_PAD.decode(PUBLISHED_KEY).ok()?.try_into().ok()?;
        Some(Self::new(key, PUBLISHED_REGISTRY))
    }

    pub fn new(key: [u8; 32], registry_identity: &str) -> Self {
        Self { key, registry_identity: registry_identity.to_owned() }
    }

    pub(super) fn registry_identity(&self) -> &str {
        &self.registry_identity
    }

    /// The key's name where it signs receipts.
    pub fn inner_key_id(&self) -> String {
        format!("qa-ed25519-{}", self.tail())
    }

    /// The key's name where it signs what is published.
    pub fn outer_key_id(&self) -> String {
        format!("oa-public-trust-ed25519-{}", self.tail())
    }

    pub(super) fn public_key(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.key)
    }

    pub(super) fn public_key_sha256(&self) -> String {
        of_bytes(&[SPKI.as_slice(), &self.key].concat())
    }

    pub(super) fn verifying_key(&self) -> Option<VerifyingKey> {
        VerifyingKey::from_bytes(&self.key).ok()
    }

    fn tail(&self) -> String {
        sha256_hex(&self.key).chars().take(16).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_key_has_the_published_names() {
        let root = TrustRoot::published().unwrap();
        assert_eq!(root.inner_key_id(), "qa-ed25519-9cf4bca214c01d79");
        assert_eq!(root.outer_key_id(), "oa-public-trust-ed25519-9cf4bca214c01d79");
        assert_eq!(root.public_key(), PUBLISHED_KEY);
        assert!(root.verifying_key().is_some());
    }
}
