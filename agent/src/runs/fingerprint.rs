//! What a request asks for, as a keyed digest: two calls can be compared, and no input can be guessed from what is stored.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::key::FingerprintKey;
use super::python_json::python_json;

/// HMAC-SHA256 of (workflow, inputs) under the folder's key, in hex. Equal to the Python agent's for equal requests.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct Fingerprint(String);

impl Fingerprint {
    /// `inputs` are the caller's, after defaults were filled in: leaving an input out and sending its default are one request.
    pub fn of(key: &FingerprintKey, workflow: &str, inputs: &Map<String, Value>) -> Self {
        Self(key.sign(&python_json(&json!({"workflow": workflow, "inputs": inputs}))))
    }

    pub fn parse(text: &str) -> Option<Self> {
        let well_formed = text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        well_formed.then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?)
            .ok_or_else(|| serde::de::Error::custom("the text is not a fingerprint"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::files::Folder;

    fn key() -> FingerprintKey {
        let temp = tempfile::tempdir().unwrap();
        let bytes: Vec<u8> = (0..32).collect();
        Folder::open(temp.path()).unwrap().write_durable("fingerprint.key", &bytes).unwrap();
        FingerprintKey::open(&Folder::open(temp.path()).unwrap()).unwrap()
    }

    fn of(workflow: &str, inputs: Value) -> Fingerprint {
        Fingerprint::of(&key(), workflow, inputs.as_object().unwrap())
    }

    /// Digests printed by CPython's hmac, hashlib and json under the key 00 01 … 1f.
    #[test]
    fn fingerprints_are_those_of_python() {
        let plain = of("add_note", json!({"note": "x", "urgent": true}));
        assert_eq!(plain.as_str(), "e0536fc1cc729dcfcd202f4bb97a3b4d7a1319eea2924432d186f457c743fda4");
        let awkward = of("add_note", json!({"zeta": 1.0, "note": "Grüße 😀\n\"q\"", "amount": 1e-7, "nothing": null}));
        assert_eq!(awkward.as_str(), "42ff105a7485d001646362c361da07651d41119ef4e57ab2cd821567719f4c9f");
    }

    #[test]
    fn the_order_of_inputs_does_not_matter_and_everything_else_does() {
        let one = of("w", json!({"a": 1, "b": {"c": 2, "d": 3}}));
        assert_eq!(one, of("w", json!({"b": {"d": 3, "c": 2}, "a": 1})));
        for other in [json!({"a": 1}), json!({"a": "1", "b": {"c": 2, "d": 3}}), json!({"a": 1, "b": {"c": 2, "d": 4}})]
        {
            assert_ne!(one, of("w", other));
        }
        assert_ne!(one, of("v", json!({"a": 1, "b": {"c": 2, "d": 3}})));
    }
}
