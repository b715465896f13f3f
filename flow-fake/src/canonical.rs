//! Canonical JSON (keys sorted, no spaces, non-ASCII kept), its digests and the pause signature.

use hmac::{Hmac, Mac};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// The canonical text of a value. Float text is what `serde_json` prints, which keeps the `.0` of whole numbers as Flow does.
pub fn canonical(value: &Value) -> String {
    let mut out = String::new();
    write_canonical(value, &mut out);
    out
}

/// Lowercase hex sha256.
pub fn sha256_hex(bytes: impl AsRef<[u8]>) -> String {
    hex(&Sha256::digest(bytes))
}

/// `sha256:` + the digest of the canonical text.
pub fn digest(value: &Value) -> String {
    format!("sha256:{}", sha256_hex(canonical(value)))
}

/// `hmac-sha256:` + HMAC-SHA256 in lowercase hex.
pub fn hmac_sha256(key: &[u8], message: &[u8]) -> String {
    match Hmac::<Sha256>::new_from_slice(key) {
        Ok(mut mac) => {
            mac.update(message);
            format!("hmac-sha256:{}", hex(&mac.finalize().into_bytes()))
        }
        // HMAC takes a key of any length, so this arm is never reached.
        Err(_) => String::new(),
    }
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes behind pairs of hex digits; `None` for anything else.
pub fn unhex(text: &str) -> Option<Vec<u8>> {
    if !text.is_ascii() || !text.len().is_multiple_of(2) {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}

fn write_canonical(value: &Value, out: &mut String) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_canonical(item, out);
            }
            out.push(']');
        }
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by(|left, right| left.0.cmp(right.0));
            out.push('{');
            for (index, (key, item)) in entries.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                out.push_str(&Value::from(key.as_str()).to_string());
                out.push(':');
                write_canonical(item, out);
            }
            out.push('}');
        }
        scalar => out.push_str(&scalar.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_are_sorted_and_non_ascii_text_and_whole_floats_are_kept() {
        let value = json!({"b": [604800.0, 1, null, true], "a": "é — \n\u{1}\"", "á": {}});
        assert_eq!(canonical(&value), "{\"a\":\"é — \\n\\u0001\\\"\",\"b\":[604800.0,1,null,true],\"á\":{}}");
    }

    #[test]
    fn hex_is_read_back_and_odd_or_foreign_text_is_refused() {
        assert_eq!(unhex(&hex(&[0, 15, 255])), Some(vec![0, 15, 255]));
        assert_eq!(unhex("abc"), None);
        assert_eq!(unhex("zz"), None);
        assert_eq!(unhex("é"), None);
    }
}
