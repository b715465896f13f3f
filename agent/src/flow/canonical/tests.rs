use proptest::prelude::*;
use serde_json::Value;

use super::*;

const PAUSE: &str = r#"{
 "status": "approved", "stale_after_s": 604800.0,
 "note": "Grüße 😀 \u007f\u0001\n\"q\" \\",
 "zeta": [1, -2.5, 1e-7, null, true, false], "Ä": {}, "a": [],
 "detail": {"b": 1, "a": "ﬀ", "😀": 0, "\uffff": 1}
}"#;

fn parse(text: &str) -> Result<Tree, ParseFault> {
    Tree::parse(text.as_bytes(), 1 << 20)
}

/// Digests printed by CPython's json and hashlib over the same document.
#[test]
fn digests_are_those_of_python() {
    let mut pause = parse(PAUSE).unwrap();
    assert_eq!(pause.sha256_hex(), "32ae4806549c3fad4f557fee6ab9678da2676169d956bb4cba43fd66f1ecbcfa");
    assert_eq!(
        sha256_hex(&pause.ascii_canonical_bytes()),
        "dc5417b88bc04db2d9fa0acedb9fdf87117e45be74fac696c84d7e65020e2f42"
    );
    pause.as_map_mut().unwrap().insert("status".into(), Tree::text("pending"));
    assert_eq!(pause.sha256_hex(), "01cc13e98644c358741784a4f58e000be5379a05278acfba6d568a31cc227e9f");
}

#[test]
fn the_two_byte_forms_differ_in_everything_but_printable_ascii() {
    let tree = parse(r#"{"b":"é😀\u007f\u001f\b\f\r\t\/","a":1.0}"#).unwrap();
    assert_eq!(
        String::from_utf8(tree.canonical_bytes()).unwrap(),
        "{\"a\":1.0,\"b\":\"é😀\u{7f}\\u001f\\b\\f\\r\\t/\"}"
    );
    assert_eq!(
        String::from_utf8(tree.ascii_canonical_bytes()).unwrap(),
        r#"{"a":1.0,"b":"\u00e9\ud83d\ude00\u007f\u001f\b\f\r\t/"}"#
    );
}

#[test]
fn keys_stand_in_code_point_order_not_utf16_order() {
    let tree = parse(r#"{"😀":1,"\uffff":2}"#).unwrap();
    assert_eq!(String::from_utf8(tree.canonical_bytes()).unwrap(), "{\"\u{ffff}\":2,\"😀\":1}");
}

#[test]
fn a_number_keeps_its_literal_and_offers_its_value() {
    let tree = parse(r#"{"i":7,"f":7.0,"big":123456789012345678901234567890}"#).unwrap();
    assert_eq!(tree.get("f"), Some(&Tree::Number("7.0".into())));
    assert_eq!(tree.get("i").unwrap().as_i64(), Some(7));
    assert_eq!(tree.get("f").unwrap().as_i64(), None);
    assert_eq!(tree.get("f").unwrap().as_f64(), Some(7.0));
    assert_eq!(tree.get("big").unwrap().as_i64(), None);
}

#[test]
fn accessors_of_a_wrong_type_answer_nothing() {
    let tree = parse(r#"{"a":{"b":[true,null,"x"]}}"#).unwrap();
    let items = tree.at(["a", "b"]).unwrap().as_list().unwrap();
    assert_eq!(items[0].as_bool(), Some(true));
    assert!(items[1].is_null());
    assert_eq!(items[2].as_text(), Some("x"));
    assert_eq!(tree.at(["a", "b", "c"]), None);
    assert_eq!((items[0].as_text(), items[2].as_bool(), items[2].as_f64()), (None, None, None));
    assert_eq!((items[0].as_list(), items[0].as_map(), items[1].as_i64()), (None, None, None));
}

#[test]
fn a_key_that_stands_twice_is_refused_even_when_spelled_with_an_escape() {
    assert_eq!(parse(r#"{"a":1,"a":1}"#), Err(ParseFault::DuplicateKey));
    assert_eq!(parse(r#"[{"a":1,"\u0061":2}]"#), Err(ParseFault::DuplicateKey));
}

#[test]
fn nesting_is_read_to_128_levels_and_no_deeper() {
    let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    assert!(parse(&nested(128)).is_ok());
    assert_eq!(parse(&nested(129)), Err(ParseFault::TooDeep));
    assert_eq!(parse(&"[".repeat(1 << 20)), Err(ParseFault::TooDeep));
    assert_eq!(parse(&(r#"{"a":"#.repeat(129))), Err(ParseFault::TooDeep));
}

#[test]
fn the_size_limit_is_inclusive() {
    assert_eq!(Tree::parse(b"[1]", 3), Ok(Tree::List(vec![Tree::Number("1".into())])));
    assert_eq!(Tree::parse(b"[1] ", 3), Err(ParseFault::TooLarge));
}

#[test]
fn what_json_forbids_is_refused() {
    assert_eq!(Tree::parse(b"\"\xff\"", 10), Err(ParseFault::NotUtf8));
    for text in [
        "",
        " ",
        "nul",
        "nullx",
        "True",
        "NaN",
        "Infinity",
        "-Infinity",
        "-",
        "01",
        "1.",
        ".5",
        "+1",
        "1e",
        "0x1",
        "'a'",
        "\"a",
        "\"\\\"",
        "\"\\x\"",
        "\"\n\"",
        "\"\\ud800\"",
        "\"\\udc00\\ud800\"",
        "[1,]",
        "[,1]",
        "[1 2]",
        "[",
        "]",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{a:1}",
        "{1:1}",
        "{\"a\" 1}",
        "{} {}",
        "[1]]",
        "\u{feff}{}",
        "/**/1",
        "\u{a0}1",
    ] {
        assert_eq!(parse(text), Err(ParseFault::Malformed), "{text:?}");
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..6).prop_map(|map| map.into_iter().collect()),
        ]
    })
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused_as_serde_json_does(text in r#"[\[\]{},:"\\ 0-9a-fu.eE+\-tnrls]{0,24}"#) {
        match parse(&text) {
            Ok(_) | Err(ParseFault::DuplicateKey) => prop_assert!(serde_json::from_str::<&serde_json::value::RawValue>(&text).is_ok()),
            Err(_) => prop_assert!(serde_json::from_str::<Value>(&text).is_err_and(|error| !error.to_string().contains("out of range"))),
        }
    }

    #[test]
    fn both_byte_forms_read_back_as_the_same_value(value in any_json()) {
        let tree = parse(&serde_json::to_string_pretty(&value).unwrap()).unwrap();
        for bytes in [tree.canonical_bytes(), tree.ascii_canonical_bytes()] {
            prop_assert_eq!(&serde_json::from_slice::<Value>(&bytes).unwrap(), &value);
            prop_assert_eq!(Tree::parse(&bytes, usize::MAX).unwrap().canonical_bytes(), tree.canonical_bytes());
        }
        prop_assert!(tree.ascii_canonical_bytes().is_ascii());
    }
}
