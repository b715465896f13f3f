//! What an operation is, as bytes that two calls can be compared by: RFC 8785 after guards, and a keyed digest of it.
//! Source: lifecycle, *Canonical identity*.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::contracts::Tool;
use crate::flow::canonical::hex;
use crate::runs::key::{FingerprintKey, Sealed};

/// An operation larger than this can be shown to nobody as a whole, so nobody can approve it.
pub const SIZE_LIMIT: usize = 64 << 10;
const DEPTH_LIMIT: usize = 32;
/// Whole numbers beyond this are no longer told apart by the canonical form.
const EXACT: f64 = 9_007_199_254_740_991.0;

/// The operation can't be brought into one form without losing something of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotCanonical {
    #[error("a whole number in it is too large to be told from its neighbours")]
    Number,
    #[error("it is nested too deeply")]
    Depth,
    #[error("it is too large to be looked at as a whole")]
    Size,
}

/// The exact work that a run is asked for: the contract, the workflow by its opaque id and content, the strings that Flow will get,
/// the address. How the answer is to be presented has no place here.
pub fn run_operation(
    tool: Tool,
    workflow: &str,
    bundle: Option<&str>,
    inputs: &BTreeMap<String, String>,
    url: Option<&str>,
) -> Value {
    json!({
        "contract": [tool.as_str(), tool.contract().version],
        "workflow": workflow,
        "bundle": bundle,
        "inputs": inputs,
        "url": url,
    })
}

/// A decision of a person about a paused run.
pub fn decision_operation(tool: Tool, attention_id: &str, capability_digest: &str, idempotency_key: &str) -> Value {
    json!({
        "contract": [tool.as_str(), tool.contract().version],
        "item": attention_id,
        "capability": capability_digest,
        "key": idempotency_key,
    })
}

/// The canonical bytes of an operation.
pub fn bytes(operation: &Value) -> Result<Vec<u8>, NotCanonical> {
    guard(operation, 0)?;
    let bytes = serde_json_canonicalizer::to_vec(operation).map_err(|_| NotCanonical::Number)?;
    if bytes.len() > SIZE_LIMIT { Err(NotCanonical::Size) } else { Ok(bytes) }
}

/// Keyed, because a digest of a short note or of a record's number could be guessed.
pub fn args_digest(key: &FingerprintKey, operation: &Value) -> Result<String, NotCanonical> {
    Ok(key.digest(Sealed::Operation, &bytes(operation)?))
}

/// The same for an operation that nobody has to look at: its size doesn't matter then.
pub fn digest_of_any_size(key: &FingerprintKey, operation: &Value) -> String {
    key.digest(Sealed::Operation, &serde_json_canonicalizer::to_vec(operation).unwrap_or_default())
}

/// Of what isn't secret: digests, versions, options.
pub fn open_digest(facts: &Value) -> String {
    hex(&Sha256::digest(serde_json_canonicalizer::to_vec(facts).unwrap_or_default()))
}

fn guard(value: &Value, depth: usize) -> Result<(), NotCanonical> {
    if depth > DEPTH_LIMIT {
        return Err(NotCanonical::Depth);
    }
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(value) if value.fract() != 0.0 || is_exact(number, value) => Ok(()),
            _ => Err(NotCanonical::Number),
        },
        Value::Array(items) => items.iter().try_for_each(|item| guard(item, depth + 1)),
        Value::Object(members) => members.values().try_for_each(|member| guard(member, depth + 1)),
        Value::Null | Value::Bool(_) | Value::String(_) => Ok(()),
    }
}

fn is_exact(number: &serde_json::Number, value: f64) -> bool {
    match (number.as_u64(), number.as_i64()) {
        (Some(whole), _) => whole <= EXACT as u64,
        (None, Some(whole)) => whole >= -(EXACT as i64),
        (None, None) => value.abs() <= EXACT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operation(inputs: &[(&str, &str)]) -> Value {
        let inputs = inputs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        run_operation(Tool::RunWorkflow, "workflow_a", Some("d"), &inputs, None)
    }

    #[test]
    fn the_order_of_members_does_not_matter_and_every_value_does() {
        let one = bytes(&operation(&[("note", "x"), ("day", "y")])).unwrap();
        assert_eq!(one, bytes(&operation(&[("day", "y"), ("note", "x")])).unwrap());
        for other in [operation(&[("note", "x "), ("day", "y")]), operation(&[("note", "x")]), operation(&[])] {
            assert_ne!(one, bytes(&other).unwrap());
        }
    }

    #[test]
    fn numbers_that_would_lose_digits_are_refused() {
        for bad in ["9007199254740993", "-9007199254740993", "18446744073709551616", "1e300"] {
            let value: Value = serde_json::from_str(&format!("[{bad}]")).unwrap();
            assert_eq!(bytes(&value), Err(NotCanonical::Number), "{bad}");
        }
        for good in ["9007199254740991", "-9007199254740991", "0.1", "1e-300", "1.0", "-0.0"] {
            let value: Value = serde_json::from_str(&format!("[{good}]")).unwrap();
            assert!(bytes(&value).is_ok(), "{good}");
        }
        assert_eq!(bytes(&json!([1.0])), bytes(&json!([1])));
    }

    #[test]
    fn depth_and_size_are_bounded() {
        let nested = (0..40).fold(json!(1), |inner, _| json!([inner]));
        assert_eq!(bytes(&nested), Err(NotCanonical::Depth));
        assert_eq!(bytes(&json!("x".repeat(SIZE_LIMIT))), Err(NotCanonical::Size));
        assert!(bytes(&json!("x".repeat(SIZE_LIMIT - 2))).is_ok());
    }

    /// RFC 8785, section 3.2.3: names are sorted by UTF-16 code units.
    #[test]
    fn names_are_sorted_as_the_rfc_has_it() {
        let value = json!({"\u{20ac}": 1, "\r": 2, "\u{fb33}": 3, "1": 4, "\u{1f600}": 5, "\u{80}": 6, "\u{f6}": 7});
        let text = String::from_utf8(bytes(&value).unwrap()).unwrap();
        assert_eq!(text, "{\"\\r\":2,\"1\":4,\"\u{80}\":6,\"\u{f6}\":7,\"\u{20ac}\":1,\"\u{1f600}\":5,\"\u{fb33}\":3}");
    }
}
