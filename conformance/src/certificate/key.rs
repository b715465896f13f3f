//! Ed25519 keys as OpenSSL writes them: PKCS#8 for the private one, SubjectPublicKeyInfo for the public one, both in PEM.

use std::path::Path;

use ed25519_dalek::pkcs8::{DecodePrivateKey, DecodePublicKey};
use ed25519_dalek::{Signer, SigningKey, VerifyingKey};
use sha2::{Digest, Sha256};

use crate::run::variables::hex;

pub struct PrivateKey(SigningKey);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    #[error("{0}")]
    Io(#[from] std::io::Error),
    #[error("it is no Ed25519 private key in PEM")]
    NotPrivate,
    #[error("it is no Ed25519 public key in PEM")]
    NotPublic,
}

impl PrivateKey {
    pub fn read(path: &Path) -> Result<Self, KeyError> {
        Self::parse(&std::fs::read_to_string(path)?)
    }

    pub fn parse(pem: &str) -> Result<Self, KeyError> {
        SigningKey::from_pkcs8_pem(pem).map(Self).map_err(|_| KeyError::NotPrivate)
    }

    #[cfg(test)]
    pub fn of(seed: [u8; 32]) -> Self {
        Self(SigningKey::from_bytes(&seed))
    }

    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    pub fn sign(&self, message: &[u8]) -> Vec<u8> {
        self.0.sign(message).to_bytes().to_vec()
    }
}

impl PublicKey {
    pub fn read(path: &Path) -> Result<Self, KeyError> {
        Self::parse(&std::fs::read_to_string(path)?)
    }

    pub fn parse(pem: &str) -> Result<Self, KeyError> {
        VerifyingKey::from_public_key_pem(pem).map(Self).map_err(|_| KeyError::NotPublic)
    }

    /// The hash of the key's 32 bytes.
    pub fn id(&self) -> String {
        hex(&Sha256::digest(self.0.as_bytes()))
    }

    pub fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        let signature = ed25519_dalek::Signature::from_slice(signature);
        signature.is_ok_and(|signature| self.0.verify_strict(message, &signature).is_ok())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The example keys of RFC 8410, section 10.
    pub(crate) const PRIVATE: &str = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n-----END PRIVATE KEY-----\n";
    pub(crate) const PUBLIC: &str = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----\n";

    #[test]
    fn the_keys_of_the_standard_are_read_and_belong_together() {
        let key = PrivateKey::parse(PRIVATE).unwrap();
        assert_eq!(key.public(), PublicKey::parse(PUBLIC).unwrap());
        let signature = key.sign(b"message");
        assert!(key.public().verifies(b"message", &signature));
        assert!(!key.public().verifies(b"massage", &signature));
        assert!(!key.public().verifies(b"message", &signature[1..]));
        assert!(PublicKey::parse(PRIVATE).is_err() && PrivateKey::parse(PUBLIC).is_err());
    }
}
