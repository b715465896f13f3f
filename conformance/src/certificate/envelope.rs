//! The DSSE envelope around a statement: its type and its bytes, signed together.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use super::key::{PrivateKey, PublicKey};

pub const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Envelope {
    #[serde(rename = "payloadType")]
    pub payload_type: String,
    /// In base64.
    pub payload: String,
    /// Empty: unsigned.
    pub signatures: Vec<Signature>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signature {
    pub keyid: String,
    /// In base64.
    pub sig: String,
}

impl Envelope {
    pub fn around(payload: &[u8], key: Option<&PrivateKey>) -> Self {
        let message = pre_authentication(PAYLOAD_TYPE, payload);
        let signatures =
            key.map(|key| Signature { keyid: key.public().id(), sig: STANDARD.encode(key.sign(&message)) });
        Self {
            payload_type: PAYLOAD_TYPE.to_owned(),
            payload: STANDARD.encode(payload),
            signatures: signatures.into_iter().collect(),
        }
    }

    pub fn payload(&self) -> Option<Vec<u8>> {
        STANDARD.decode(&self.payload).ok()
    }

    /// One of the signatures is this key's, of this payload.
    pub fn is_signed_by(&self, key: &PublicKey) -> bool {
        let Some(payload) = self.payload() else { return false };
        let message = pre_authentication(&self.payload_type, &payload);
        self.signatures.iter().any(|signature| {
            signature.keyid == key.id()
                && STANDARD.decode(&signature.sig).is_ok_and(|bytes| key.verifies(&message, &bytes))
        })
    }

    /// As it stands in its file.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}

fn pre_authentication(kind: &str, payload: &[u8]) -> Vec<u8> {
    let head = format!("DSSEv1 {} {kind} {} ", kind.len(), payload.len());
    [head.as_bytes(), payload].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_signed_is_what_the_specification_says() {
        let example = pre_authentication("http://example.com/HelloWorld", b"hello world");
        assert_eq!(example, b"DSSEv1 29 http://example.com/HelloWorld 11 hello world");
    }

    #[test]
    fn a_signature_holds_for_its_own_payload_type_and_key_only() {
        let key = PrivateKey::parse(super::super::key::tests::PRIVATE).unwrap();
        let envelope = Envelope::around(b"{}", Some(&key));
        assert!(envelope.is_signed_by(&key.public()));
        assert!(!Envelope::around(b"{}", None).is_signed_by(&key.public()));
        for other in [
            Envelope { payload: STANDARD.encode("[]"), ..envelope.clone() },
            Envelope { payload_type: "text/plain".into(), ..envelope.clone() },
        ] {
            assert!(!other.is_signed_by(&key.public()));
        }
    }
}
