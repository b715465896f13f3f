//! The top-level members of a report that anybody here reads. Everything else is checked as JSON and dropped, so that a
//! large report costs its bytes and no tree.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use crate::flow::canonical::DEPTH_LIMIT;

const WANTED: [&str; 14] = [
    "approval",
    "bundle_content_digest",
    "execution_completed",
    "execution_outcome",
    "execution_profile",
    "external_network_calls",
    "model_calls",
    "outcome_envelope",
    "production_eligible",
    "run_id_sha256",
    "started_at",
    "success",
    "transaction_outcome",
    "workflow_contract_sha256",
];

#[derive(Debug)]
pub struct Members(BTreeMap<String, Value>);

impl Members {
    /// `None` unless the bytes are one UTF-8 JSON object, at most [`DEPTH_LIMIT`] deep, that names no wanted member twice.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        if depth(bytes) > DEPTH_LIMIT {
            return None;
        }
        serde_json::from_str(text).ok()
    }

    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    /// The member, with `null` and absent told apart from a value.
    pub fn value(&self, key: &str) -> Option<&Value> {
        self.get(key).filter(|value| !value.is_null())
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(TopLevel)
    }
}

struct TopLevel;

impl<'de> Visitor<'de> for TopLevel {
    type Value = Members;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a report object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
        let mut members = BTreeMap::new();
        while let Some(key) = map.next_key::<String>()? {
            if WANTED.contains(&key.as_str()) {
                if members.insert(key, map.next_value()?).is_some() {
                    return Err(A::Error::custom("a member stands twice"));
                }
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(Members(members))
    }
}

/// How deep brackets nest outside strings. Counted by hand because skipped members aren't limited by the parser.
fn depth(bytes: &[u8]) -> usize {
    let (mut depth, mut deepest, mut in_string, mut escaped) = (0_usize, 0, false, false);
    for byte in bytes {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}
