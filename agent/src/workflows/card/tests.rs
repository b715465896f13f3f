use std::fs;

use serde_json::{Value, json};

use super::*;
use crate::workflows::inputs::Omitted;
use crate::workflows::shape::ParamType;

fn plain() -> Card {
    let param = |name: &str, kind, choices: &[&str]| Param {
        name: name.into(),
        kind,
        choices: choices.iter().map(|choice| (*choice).to_owned()).collect(),
        recorded: "recorded".into(),
    };
    let params = [
        param("note", ParamType::Text, &[]),
        param("count", ParamType::Number, &[]),
        param("ward", ParamType::Text, &["a", "b"]),
    ];
    Card::plain("workflow_0", &params)
}

fn described(text: &str) -> (Card, Option<CardProblem>) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(CARD_FILE), text).unwrap();
    plain().described_in(folder.path())
}

fn accepted(card: Value) -> Card {
    let (card, problem) = described(&card.to_string());
    assert_eq!(problem, None);
    card
}

/// Why the card was refused; the card that stands is the plain one, word for word.
fn refused(text: &str) -> CardProblem {
    let (card, problem) = described(text);
    assert_eq!((&card.name, &card.purpose, &card.done_means), (&plain().name, &plain().purpose, &plain().done_means));
    assert_eq!(card.inputs.schema(Omitted::Refused), plain().inputs.schema(Omitted::Refused));
    problem.unwrap()
}

fn refused_input(name: &str, key: &str, value: Value) -> CardProblem {
    refused(&json!({ "name": "other_name", "inputs": { name: { key: value } } }).to_string())
}

#[test]
fn a_card_brings_its_own_words() {
    let card = accepted(json!({
        "name": "file_letter", "purpose": " Files a\nletter. ", "done_means": "The letter is filed.",
        "inputs": { "note": { "description": "What to write.", "format": "date-time", "pattern": "^2", "minLength": 0, "maxLength": 40 },
                    "count": { "minimum": -1.5, "maximum": 10 }, "ward": { "enum": ["b"] } },
    }));
    assert_eq!(card.name, "file_letter");
    assert_eq!(card.purpose, "Files a letter.");
    assert_eq!(card.done_means, "The letter is filed.");
    let properties = &card.inputs.schema(Omitted::Refused)["properties"];
    assert_eq!(
        properties["note"],
        json!({ "type": "string", "description": "What to write.", "format": "date-time", "pattern": "^2", "minLength": 0, "maxLength": 40 })
    );
    assert_eq!(properties["count"]["minimum"], json!(-1.5));
    assert_eq!(properties["count"]["maximum"], json!(10));
    assert_eq!(properties["ward"]["enum"], json!(["b"]));
}

#[test]
fn what_a_card_leaves_out_stays_plain() {
    let card = accepted(json!({}));
    assert_eq!((card.name, card.purpose), (plain().name, plain().purpose));
    let (card, problem) = plain().described_in(tempfile::tempdir().unwrap().path());
    assert_eq!((card.name, problem), (plain().name, None));
}

#[test]
fn a_file_that_is_no_card_is_refused() {
    assert_eq!(refused("{"), CardProblem::Json);
    assert_eq!(refused("{\"name\":\"abc\",\"name\":\"abd\"}"), CardProblem::Json);
    assert_eq!(refused("[]"), CardProblem::NotAnObject);
    assert_eq!(refused("{\"title\":\"x\"}"), CardProblem::UnknownKey);
    assert_eq!(refused(&format!("{{}}{}", " ".repeat(256 << 10))), CardProblem::File);
}

#[cfg(unix)]
#[test]
fn a_card_behind_a_link_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("real.json"), r#"{"name":"linked_card"}"#).unwrap();
    std::os::unix::fs::symlink(folder.path().join("real.json"), folder.path().join(CARD_FILE)).unwrap();
    let (card, problem) = plain().described_in(folder.path());
    assert_eq!((card.name, problem), (plain().name, Some(CardProblem::File)));
}

#[test]
fn names_are_three_to_64_lower_case_characters() {
    for good in ["abc", "a_1", &"a".repeat(64)] {
        assert_eq!(accepted(json!({ "name": good })).name, good);
    }
    for bad in [
        json!("ab"),
        json!("a".repeat(65)),
        json!("Abc"),
        json!("1bc"),
        json!("_bc"),
        json!("a-c"),
        json!("abc\n"),
        json!("äbc"),
        json!(7),
    ] {
        assert_eq!(refused(&json!({ "name": bad }).to_string()), CardProblem::Name, "{bad}");
    }
}

#[test]
fn texts_have_limits_and_carry_no_identifier() {
    for key in ["purpose", "done_means"] {
        accepted(json!({ key: "é".repeat(300) }));
        assert_eq!(refused(&json!({ key: "é".repeat(301) }).to_string()), CardProblem::TooLong);
        assert_eq!(refused(&json!({ key: " \n" }).to_string()), CardProblem::NotText);
        assert_eq!(refused(&json!({ key: 7 }).to_string()), CardProblem::NotText);
        assert_eq!(refused(&json!({ key: "chart 12345" }).to_string()), CardProblem::LooksLikeIdentifier);
    }
    assert_eq!(refused_input("note", "description", json!("x".repeat(201))), CardProblem::TooLong);
    assert_eq!(refused_input("note", "description", json!("ask a@b.example")), CardProblem::LooksLikeIdentifier);
}

#[test]
fn inputs_are_only_narrowed() {
    for inputs in [json!([]), json!({ "note": "x" }), json!(null)] {
        assert_eq!(refused(&json!({ "inputs": inputs }).to_string()), CardProblem::Inputs);
    }
    assert_eq!(refused_input("other", "description", json!("x")), CardProblem::UnknownInput);
    assert_eq!(refused_input("note", "default", json!("x")), CardProblem::UnknownInputKey);
    assert_eq!(refused_input("note", "format", json!("email")), CardProblem::Format);
    assert_eq!(refused_input("count", "format", json!("date")), CardProblem::Format);
    for value in [json!([]), json!([""]), json!(["x", 1]), json!("a"), json!(null)] {
        assert_eq!(refused_input("note", "enum", value), CardProblem::Enum);
    }
    assert_eq!(refused_input("ward", "enum", json!(["a", "c"])), CardProblem::Enum);
    for value in [json!(-1), json!(1.0), json!("1"), json!(true), json!(null)] {
        assert_eq!(refused_input("note", "minLength", value.clone()), CardProblem::Length);
        assert_eq!(refused_input("note", "maxLength", value), CardProblem::Length);
    }
    for value in [json!("1"), json!(true), json!(null)] {
        assert_eq!(refused_input("count", "minimum", value.clone()), CardProblem::Bound);
        assert_eq!(refused_input("count", "maximum", value), CardProblem::Bound);
    }
}

#[test]
fn patterns_that_cannot_be_matched_in_linear_time_are_refused() {
    accepted(json!({ "inputs": { "note": { "pattern": r"^\d{3}-\w+$" } } }));
    for pattern in [json!("("), json!("(a)\\1"), json!("(?=a)"), json!("a".repeat(201)), json!("\\w{120}"), json!(7)] {
        assert_eq!(refused_input("note", "pattern", pattern.clone()), CardProblem::Pattern, "{pattern}");
    }
}

#[test]
fn no_problem_repeats_the_card() {
    for text in [
        r#"{"SECRET":1}"#,
        r#"{"name":"SECRET"}"#,
        r#"{"inputs":{"SECRET":{}}}"#,
        r#"{"inputs":{"note":{"SECRET":1}}}"#,
        r#"{"inputs":{"note":{"pattern":"SECRET("}}}"#,
        r#"{"purpose": SECRET"#,
    ] {
        assert!(!refused(text).to_string().contains("SECRET"), "{text}");
    }
}
