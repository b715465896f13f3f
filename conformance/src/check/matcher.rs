//! What a scenario says about a value: plain values are equal, tables are partial objects, tables of test words are tests.

use regex::Regex;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// A matcher in its written form, known to be well-formed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Matcher(Value);

/// Where a value is not what was wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// JSON pointer of the place; empty for the whole.
    pub at: String,
    pub expected: String,
    pub actual: String,
}

const WORDS: &[&str] = &[
    "one_of",
    "not",
    "matches",
    "contains",
    "present",
    "type",
    "length",
    "at_least",
    "at_most",
    "unordered",
    "exactly",
    "every",
    "all_of",
];

impl Matcher {
    pub fn parse(written: Value) -> Result<Self, String> {
        well_formed(&written)?;
        Ok(Self(written))
    }

    /// The first place where `actual` differs, depth first.
    pub fn mismatch(&self, actual: &Value) -> Option<Mismatch> {
        compare(&self.0, Some(actual), "")
    }

    pub fn matches(&self, actual: &Value) -> bool {
        self.mismatch(actual).is_none()
    }

    pub fn written(&self) -> &Value {
        &self.0
    }
}

impl<'de> Deserialize<'de> for Matcher {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(Value::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

impl From<&str> for Matcher {
    fn from(text: &str) -> Self {
        Self(Value::from(text))
    }
}

fn tests_of(wanted: &Value) -> Option<&Map<String, Value>> {
    let table = wanted.as_object()?;
    (!table.is_empty() && table.keys().all(|key| WORDS.contains(&key.as_str()))).then_some(table)
}

fn well_formed(wanted: &Value) -> Result<(), String> {
    let Some(tests) = tests_of(wanted) else {
        return match wanted {
            Value::Array(items) => items.iter().try_for_each(well_formed),
            Value::Object(table) => table.values().try_for_each(well_formed),
            _ => Ok(()),
        };
    };
    for (word, argument) in tests {
        let good = match word.as_str() {
            "one_of" | "unordered" | "all_of" => argument.is_array(),
            "matches" => match argument.as_str() {
                Some(text) => Regex::new(text).map(|_| true).map_err(|error| error.to_string())?,
                None => false,
            },
            "present" => argument.is_boolean(),
            "type" => argument.is_string(),
            "at_least" | "at_most" => argument.is_number(),
            "exactly" => argument.is_object(),
            _ => true,
        };
        if !good {
            return Err(format!("{word} = {argument} is no test"));
        }
        match (word.as_str(), argument) {
            ("matches" | "present" | "type" | "at_least" | "at_most", _) => {}
            (_, Value::Array(items)) => items.iter().try_for_each(well_formed)?,
            ("exactly", Value::Object(table)) => table.values().try_for_each(well_formed)?,
            (_, other) => well_formed(other)?,
        }
    }
    Ok(())
}

fn compare(wanted: &Value, actual: Option<&Value>, at: &str) -> Option<Mismatch> {
    if let Some(tests) = tests_of(wanted) {
        return tests.iter().find_map(|(word, argument)| test(word, argument, actual, at));
    }
    let Some(value) = actual else { return Some(differs(at, wanted.to_string(), None)) };
    match (wanted, value) {
        (Value::Object(wanted), Value::Object(object)) => {
            wanted.iter().find_map(|(key, wanted)| compare(wanted, object.get(key), &below(at, key)))
        }
        (Value::Array(wanted), Value::Array(list)) if wanted.len() == list.len() => wanted
            .iter()
            .zip(list)
            .enumerate()
            .find_map(|(index, (wanted, value))| compare(wanted, Some(value), &below(at, &index.to_string()))),
        _ if equal(wanted, value) => None,
        _ => Some(differs(at, wanted.to_string(), actual)),
    }
}

fn test(word: &str, argument: &Value, actual: Option<&Value>, at: &str) -> Option<Mismatch> {
    let fails = |expected: String| Some(differs(at, expected, actual));
    if word == "present" {
        let wanted = argument == &Value::Bool(true);
        return if actual.is_some() == wanted { None } else { fails(if wanted { "present" } else { "absent" }.into()) };
    }
    if word == "not" {
        let held = actual.is_some_and(|value| compare(argument, Some(value), at).is_none());
        return if held { fails(format!("not {argument}")) } else { None };
    }
    let Some(value) = actual else { return fails(format!("{word} {argument}")) };
    let number = |value: &Value| value.as_f64();
    let holds = match word {
        "one_of" => elements(argument).iter().any(|wanted| compare(wanted, actual, at).is_none()),
        "all_of" => return elements(argument).iter().find_map(|wanted| compare(wanted, actual, at)),
        "matches" => match (argument.as_str().map(Regex::new), value.as_str()) {
            (Some(Ok(pattern)), Some(text)) => pattern.is_match(text),
            _ => false,
        },
        "contains" => match value {
            Value::String(text) => argument.as_str().is_some_and(|part| text.contains(part)),
            Value::Array(list) => list.iter().any(|element| compare(argument, Some(element), at).is_none()),
            _ => false,
        },
        "type" => argument.as_str() == Some(type_of(value)) || (argument == "number" && value.is_number()),
        "length" => return compare(argument, Some(&Value::from(length(value))), &below(at, "length")),
        "at_least" => number(value).zip(number(argument)).is_some_and(|(value, bound)| value >= bound),
        "at_most" => number(value).zip(number(argument)).is_some_and(|(value, bound)| value <= bound),
        "every" => match value {
            Value::Array(list) => {
                return list
                    .iter()
                    .enumerate()
                    .find_map(|(index, element)| compare(argument, Some(element), &below(at, &index.to_string())));
            }
            _ => false,
        },
        "unordered" => value.as_array().is_some_and(|list| same_in_any_order(elements(argument), list)),
        "exactly" => {
            let extra = match (argument.as_object(), value.as_object()) {
                (Some(wanted), Some(object)) => object.keys().any(|key| !wanted.contains_key(key)),
                _ => true,
            };
            if extra { false } else { return compare_plain(argument, value, at) }
        }
        _ => false,
    };
    if holds { None } else { fails(format!("{word} {argument}")) }
}

/// `exactly`'s table is never read as a table of test words.
fn compare_plain(wanted: &Value, value: &Value, at: &str) -> Option<Mismatch> {
    let (wanted, object) = (wanted.as_object()?, value.as_object()?);
    wanted.iter().find_map(|(key, wanted)| compare(wanted, object.get(key), &below(at, key)))
}

/// A matching between wanted and found elements, by trying: lists in scenarios are short.
fn same_in_any_order(wanted: &[Value], found: &[Value]) -> bool {
    let Some((first, rest)) = wanted.split_first() else { return found.is_empty() };
    wanted.len() == found.len()
        && (0..found.len()).any(|index| {
            compare(first, found.get(index), "").is_none() && {
                let mut others = found.to_vec();
                others.remove(index);
                same_in_any_order(rest, &others)
            }
        })
}

fn equal(wanted: &Value, value: &Value) -> bool {
    match (wanted.as_f64(), value.as_f64()) {
        (Some(wanted), Some(value)) => wanted == value,
        _ => wanted == value,
    }
}

fn elements(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn length(value: &Value) -> usize {
    match value {
        Value::String(text) => text.chars().count(),
        Value::Array(list) => list.len(),
        Value::Object(table) => table.len(),
        _ => 0,
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn below(at: &str, key: &str) -> String {
    format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"))
}

fn differs(at: &str, expected: String, actual: Option<&Value>) -> Mismatch {
    Mismatch { at: at.into(), expected, actual: actual.map_or_else(|| "absent".into(), Value::to_string) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn holds(matcher: Value, actual: Value) -> bool {
        Matcher::parse(matcher).unwrap().matches(&actual)
    }

    #[test]
    fn a_table_is_a_partial_object_and_a_plain_value_is_equal() {
        assert!(holds(json!({"a": 1}), json!({"a": 1.0, "b": 2})));
        assert!(!holds(json!({"a": 1}), json!({"b": 2})));
        assert!(!holds(json!({"a": 1}), json!({"a": "1"})));
        assert!(!holds(json!({"a": {}}), json!({"a": 1})));
    }

    #[test]
    fn a_list_has_the_same_length() {
        assert!(holds(json!([1, {"a": 1}]), json!([1, {"a": 1, "b": 1}])));
        assert!(!holds(json!([1]), json!([1, 2])));
    }

    #[test]
    fn each_test_word_tells_good_from_bad() {
        let cases = [
            (json!({"one_of": ["a", "b"]}), json!("b"), json!("c")),
            (json!({"not": "a"}), json!("b"), json!("a")),
            (json!({"matches": "^run-[0-9a-f]{24}$"}), json!("run-0123456789abcdef01234567"), json!("run-x")),
            (json!({"contains": "b"}), json!("abc"), json!("xyz")),
            (json!({"contains": {"a": 1}}), json!([{"a": 2}, {"a": 1}]), json!([{"a": 2}])),
            (json!({"type": "integer"}), json!(1), json!(1.5)),
            (json!({"type": "number"}), json!(1), json!("1")),
            (json!({"length": 2}), json!([1, 2]), json!([1])),
            (json!({"length": {"at_most": 3}}), json!("äöü"), json!("abcd")),
            (json!({"at_least": 1}), json!(1), json!(0)),
            (json!({"at_most": 1}), json!(1), json!(2)),
            (json!({"every": {"a": 1}}), json!([{"a": 1}]), json!([{"a": 1}, {"a": 2}])),
            (json!({"unordered": [1, 2]}), json!([2, 1]), json!([2, 2])),
            (json!({"exactly": {"a": 1}}), json!({"a": 1}), json!({"a": 1, "b": 1})),
            (json!({"all_of": [{"contains": "a"}, {"contains": "b"}]}), json!("ab"), json!("a")),
            (json!({"a": {"present": false}}), json!({}), json!({"a": null})),
            (json!({"a": {"present": true}}), json!({"a": null}), json!({})),
        ];
        for (matcher, good, bad) in cases {
            assert!(holds(matcher.clone(), good.clone()), "{matcher} holds for {good}");
            assert!(!holds(matcher.clone(), bad.clone()), "{matcher} doesn't hold for {bad}");
        }
    }

    #[test]
    fn a_mismatch_names_the_place_and_both_sides() {
        let matcher = Matcher::parse(json!({"inputs": [{"problem": "is missing"}]})).unwrap();
        let mismatch = matcher.mismatch(&json!({"inputs": [{"problem": "is too long"}]})).unwrap();
        assert_eq!(mismatch.at, "/inputs/0/problem");
        assert_eq!(mismatch.expected, "\"is missing\"");
        assert_eq!(mismatch.actual, "\"is too long\"");
    }

    #[test]
    fn a_test_word_with_a_wrong_argument_is_refused() {
        for bad in [json!({"matches": "("}), json!({"one_of": 1}), json!({"a": {"present": "yes"}})] {
            assert!(Matcher::parse(bad.clone()).is_err(), "{bad}");
        }
    }
}
