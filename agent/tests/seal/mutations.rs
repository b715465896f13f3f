//! A good receipt with one thing changed is no Seal, whatever the thing.

use openadapt_agent::seal::{Keys, document};
use serde_json::{Value, json};

use crate::forge::{Issuer, canonical, pinned, receipt};

fn good() -> (Value, Keys) {
    let issuer = Issuer::new(1);
    (issuer.sealed(&receipt()), pinned(&[issuer.entry()]))
}

fn is_seal(bytes: &[u8], keys: &Keys) -> bool {
    document::look(bytes, keys).is_seal()
}

/// JSON pointers to everything below.
fn places(value: &Value, here: &str, found: &mut Vec<String>) {
    let children: Vec<(String, &Value)> = match value {
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(index, value)| (index.to_string(), value)).collect(),
        _ => Vec::new(),
    };
    for (key, child) in children {
        let place = format!("{here}/{key}");
        places(child, &place, found);
        found.push(place);
    }
}

#[test]
fn a_flipped_bit_anywhere_is_no_seal() {
    let (good, keys) = good();
    let bytes = canonical(&good);
    assert!(is_seal(&bytes, &keys));
    let mut mutations = 0;
    for at in 0..bytes.len() {
        for bit in [0, 3, 6] {
            let mut other = bytes.clone();
            other[at] ^= 1 << bit;
            assert!(!is_seal(&other, &keys), "byte {at}, bit {bit}");
            mutations += 1;
        }
    }
    assert!(mutations > 1500, "{mutations} mutations");
}

#[test]
fn another_value_or_none_anywhere_is_no_seal() {
    let (good, keys) = good();
    let mut found = Vec::new();
    places(&good, "", &mut found);
    let others = [json!(null), json!(true), json!(0), json!(1.5), json!(""), json!("verified "), json!([]), json!({})];
    let mut mutations = 0;
    for place in &found {
        for other in &others {
            let mut changed = good.clone();
            let value = changed.pointer_mut(place).unwrap();
            if value == other {
                continue;
            }
            *value = other.clone();
            assert!(!is_seal(changed.to_string().as_bytes(), &keys), "{other} at {place}");
            mutations += 1;
        }
        let (parent, key) = place.rsplit_once('/').unwrap();
        let mut changed = good.clone();
        let taken = match changed.pointer_mut(parent).unwrap() {
            Value::Object(map) => map.shift_remove(key).is_some(),
            Value::Array(items) => {
                items.remove(key.parse().unwrap());
                true
            }
            _ => false,
        };
        assert!(taken && !is_seal(changed.to_string().as_bytes(), &keys), "without {place}");
        mutations += 1;
    }
    assert!(mutations > 150, "{mutations} mutations");
}

#[test]
fn a_key_twice_or_a_second_document_is_no_seal() {
    let (good, keys) = good();
    let text = good.to_string();
    assert!(is_seal(text.as_bytes(), &keys));
    assert!(is_seal(format!(" {text}\n").as_bytes(), &keys));
    for other in [
        text.replacen('{', "{\"outcome\":\"verified\",", 1),
        text.replacen("\"outcome\"", "\"outcome\":\"halted\",\"outcome\"", 1),
        format!("{text}{text}"),
        format!("\u{feff}{text}"),
    ] {
        assert!(!is_seal(other.as_bytes(), &keys), "{other}");
    }
}
