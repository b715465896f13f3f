//! JSON as Python's `json.dumps(value, sort_keys=True)` writes it, byte for byte, so that keyed digests agree across both agents.

use serde_json::{Map, Number, Value};

use crate::flow::canonical::write_ascii_text;

/// Sorted keys at every level, separators `, ` and `: `, everything outside printable ASCII escaped.
pub fn python_json(value: &Value) -> String {
    let mut out = String::new();
    write_value(value, &mut out);
    out
}

fn write_value(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => out.push_str(&number_text(number)),
        Value::String(text) => write_ascii_text(text, out),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                separate(index, out);
                write_value(item, out);
            }
            out.push(']');
        }
        Value::Object(members) => write_members(members, out),
    }
}

fn write_members(members: &Map<String, Value>, out: &mut String) {
    let mut sorted: Vec<_> = members.iter().collect();
    sorted.sort_unstable_by_key(|(key, _)| *key);
    out.push('{');
    for (index, (key, member)) in sorted.into_iter().enumerate() {
        separate(index, out);
        write_ascii_text(key, out);
        out.push_str(": ");
        write_value(member, out);
    }
    out.push('}');
}

fn separate(index: usize, out: &mut String) {
    if index > 0 {
        out.push_str(", ");
    }
}

/// Python's `repr`: fixed notation from 1e-4 up to below 1e16, else an exponent of at least two digits.
fn number_text(number: &Number) -> String {
    let Some(float) = number.as_f64().filter(|_| number.is_f64()) else { return number.to_string() };
    let scientific = format!("{float:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    match exponent.parse::<i32>().unwrap_or_default() {
        -4..16 => {
            let fixed = float.to_string();
            if fixed.contains('.') { fixed } else { fixed + ".0" }
        }
        exponent => format!("{mantissa}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.unsigned_abs()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Right-hand sides printed by CPython 3.11.
    #[test]
    fn texts_keys_and_numbers_are_written_as_python_writes_them() {
        let value = json!({
            "z": [1, -2.5, 1e-7, null, true, false], "Ä": {}, "a": [], "😀": 0, "\u{ffff}": 1,
            "note": "Grüße 😀 \u{7f}\u{1}\n\"q\" \\ / \u{8}\u{c}\r\t",
        });
        assert_eq!(
            python_json(&value),
            r#"{"a": [], "note": "Gr\u00fc\u00dfe \ud83d\ude00 \u007f\u0001\n\"q\" \\ / \b\f\r\t", "z": [1, -2.5, 1e-07, null, true, false], "\u00c4": {}, "\uffff": 1, "\ud83d\ude00": 0}"#
        );
        for (number, python) in [
            (json!(100_000.0), "100000.0"),
            (json!(0.0001), "0.0001"),
            (json!(0.00001), "1e-05"),
            (json!(1e15), "1000000000000000.0"),
            (json!(1e16), "1e+16"),
            (json!(1.7976931348623157e308), "1.7976931348623157e+308"),
            (json!(5e-324), "5e-324"),
            (json!(-0.0), "-0.0"),
            (json!(u64::MAX), "18446744073709551615"),
        ] {
            assert_eq!(python_json(&number), python);
        }
    }
}
