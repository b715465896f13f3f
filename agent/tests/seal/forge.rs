//! Signs receipts with keys of the test.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signer, SigningKey};
use openadapt_agent::flow::canonical::Tree;
use openadapt_agent::seal::Keys;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

pub const RUN: &str = "run-aaaaaaaaaaaaaaaaaaaaaaaa";

pub fn canonical(value: &Value) -> Vec<u8> {
    Tree::parse(value.to_string().as_bytes(), 1 << 20).unwrap().canonical_bytes()
}

pub fn tree(value: &Value) -> Tree {
    Tree::parse(value.to_string().as_bytes(), 1 << 20).unwrap()
}

pub fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

pub struct Issuer(SigningKey);

impl Issuer {
    pub fn new(seed: u8) -> Self {
        Self(SigningKey::from_bytes(&[seed; 32]))
    }

    pub fn id(&self) -> String {
        format!("seal-ed25519-{}", &hex(self.0.verifying_key().as_bytes())[..16])
    }

    pub fn entry(&self) -> Value {
        json!({"key_id": self.id(), "public_key": STANDARD.encode(self.0.verifying_key().as_bytes()), "status": "active"})
    }

    pub fn revoked(&self, at: &str) -> Value {
        let mut entry = self.entry();
        entry["status"] = "revoked".into();
        entry["revoked_at"] = at.into();
        entry
    }

    pub fn sealed(&self, receipt: &Value) -> Value {
        let mut receipt = receipt.clone();
        let mut signature = json!({
            "schema": "openadapt.seal-signature/v1",
            "issuer": "openadapt-cloud",
            "algorithm": "ed25519",
            "key_id": self.id(),
            "receipt_sha256": hex(&canonical(&receipt)),
            "run_id": receipt["execution_id"],
            "issued_at": "2026-10-04T10:00:00Z",
        });
        let message = [b"openadapt.seal-signature/v1\0".to_vec(), canonical(&signature)].concat();
        signature["signature"] = STANDARD.encode(self.0.sign(&message).to_bytes()).into();
        receipt["seal_signature"] = signature;
        receipt
    }
}

pub fn receipt() -> Value {
    json!({
        "schema_version": "openadapt.execute-evidence-receipt/v1",
        "execution_id": RUN,
        "outcome": "verified",
        "evidence": {"tier": 1, "note": "é", "ratio": 0.5, "list": [1, true, null, "x"]},
    })
}

pub fn pinned(entries: &[Value]) -> Keys {
    Keys::read(json!({ "keys": entries }).to_string().as_bytes()).unwrap()
}
