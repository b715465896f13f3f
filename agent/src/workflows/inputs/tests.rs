use proptest::prelude::*;

use super::*;
use crate::contract::invalid_input::InputProblem;

fn param(name: &str, kind: ParamType, choices: &[&str], recorded: &str) -> Param {
    let choices = choices.iter().map(|choice| (*choice).to_owned()).collect();
    Param { name: name.into(), kind, choices, recorded: recorded.into() }
}

fn inputs() -> InputSet {
    InputSet::of(&[
        param("note", ParamType::Text, &[], "recorded note"),
        param("seen_on", ParamType::Date, &[], "2026-01-02"),
        param("count", ParamType::Number, &[], "3"),
        param("urgent", ParamType::Boolean, &[], "true"),
        param("ward", ParamType::Text, &["east", "west"], "east"),
    ])
}

fn sent() -> Value {
    json!({ "note": "well", "seen_on": "2026-02-03", "count": 4, "urgent": false, "ward": "west" })
}

/// The one problem that replacing one input makes; none if it is accepted.
fn problem(set: &InputSet, name: &str, value: Value) -> Option<InputProblem> {
    let mut given = sent();
    given[name] = value;
    match set.check(&given, Omitted::Refused) {
        Ok(_) => None,
        Err(rows) => {
            assert_eq!(rows.len(), 1);
            assert_eq!(rows[0].input, name);
            Some(rows[0].problem)
        }
    }
}

fn with(name: &str, edit: impl FnOnce(&mut InputSpec)) -> InputSet {
    let mut set = inputs();
    edit(set.get_mut(name).unwrap());
    set
}

#[test]
fn the_schema_is_a_closed_object_with_every_input_required_in_order() {
    let mut set = inputs();
    let note = set.get_mut("note").unwrap();
    note.pattern = Some(Regex::new("^[a-z]+$").unwrap());
    note.min_length = Some(1);
    note.max_length = Some(9);
    set.get_mut("count").unwrap().minimum = Some(1.into());
    let schema = set.schema(Omitted::Refused);
    assert_eq!(
        schema,
        json!({
            "type": "object",
            "properties": {
                "count": { "type": "number", "description": "What to enter for count.", "minimum": 1 },
                "note": {
                    "type": "string", "description": "What to enter for note.", "pattern": "^[a-z]+$",
                    "minLength": 1, "maxLength": 9,
                },
                "seen_on": { "type": "string", "description": "What to enter for seen on.", "format": "date" },
                "urgent": { "type": "boolean", "description": "What to enter for urgent." },
                "ward": { "type": "string", "description": "What to enter for ward.", "enum": ["east", "west"] },
            },
            "required": ["count", "note", "seen_on", "urgent", "ward"],
            "additionalProperties": false,
        })
    );
    assert_eq!(set.schema(Omitted::FilledFromRecording)["required"], json!([]));
    assert!(!schema.to_string().contains("recorded"));
}

#[test]
fn accepted_inputs_are_rendered_as_strings() {
    let checked = inputs().check(&sent(), Omitted::Refused).unwrap();
    let rendered: Vec<_> = checked.rendered().iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    assert_eq!(
        rendered,
        [("count", "4"), ("note", "well"), ("seen_on", "2026-02-03"), ("urgent", "false"), ("ward", "west")]
    );
    assert_eq!(Value::Object(checked.values().clone()), sent());
}

#[test]
fn what_is_no_object_is_one_problem_with_the_whole() {
    for given in [json!(null), json!([]), json!("x"), json!(1)] {
        let rows = inputs().check(&given, Omitted::Refused).unwrap_err();
        assert_eq!(rows, [InvalidInput { input: "inputs".into(), problem: InputProblem::NotAnObject }]);
    }
}

#[test]
fn unknown_names_come_first_once_and_unnamed() {
    let given = json!({ "zz SECRET": 1, "aa SECRET": 2, "note": 3 });
    let rows = inputs().check(&given, Omitted::Refused).unwrap_err();
    let order: Vec<_> = rows.iter().map(|row| (row.input.as_str(), row.problem)).collect();
    assert_eq!(
        order,
        [
            ("(unknown)", InputProblem::Unknown),
            ("count", InputProblem::Missing),
            ("note", InputProblem::NotText),
            ("seen_on", InputProblem::Missing),
            ("urgent", InputProblem::Missing),
            ("ward", InputProblem::Missing),
        ]
    );
    assert!(!serde_json::to_string(&rows).unwrap().contains("SECRET"));
}

#[test]
fn a_row_is_a_name_and_a_sentence() {
    let row = InvalidInput { input: "note".into(), problem: InputProblem::TooLong };
    assert_eq!(serde_json::to_value(&row).unwrap(), json!({ "input": "note", "problem": "is too long" }));
}

#[test]
fn types_are_not_coerced() {
    let set = inputs();
    for (name, expected, wrong) in [
        ("note", InputProblem::NotText, vec![json!(1), json!(true), json!(null), json!(["x"])]),
        ("seen_on", InputProblem::NotText, vec![json!(20260101)]),
        ("count", InputProblem::NotANumber, vec![json!("4"), json!(true), json!(null), json!(1e300)]),
        ("urgent", InputProblem::NotABoolean, vec![json!("true"), json!(1), json!(null)]),
    ] {
        for value in wrong {
            assert_eq!(problem(&set, name, value.clone()), Some(expected), "{name}: {value}");
        }
    }
}

#[test]
fn choices_bind_every_type() {
    assert_eq!(problem(&inputs(), "ward", json!("East")), Some(InputProblem::NotListed));
    let choices = |texts: &[&str]| Some(texts.iter().map(|text| (*text).to_owned()).collect());
    let counts = with("count", |count| count.choices = choices(&["1", "2.50", "many"]));
    assert_eq!(problem(&counts, "count", json!(2.5)), None);
    assert_eq!(problem(&counts, "count", json!(1.0)), None);
    assert_eq!(problem(&counts, "count", json!(3)), Some(InputProblem::NotListed));
    let flags = with("urgent", |urgent| urgent.choices = choices(&["true"]));
    assert_eq!(problem(&flags, "urgent", json!(true)), None);
    assert_eq!(problem(&flags, "urgent", json!(false)), Some(InputProblem::NotListed));
}

#[test]
fn lengths_count_code_points_and_are_inclusive() {
    let set = with("note", |note| (note.min_length, note.max_length) = (Some(2), Some(3)));
    for (text, expected) in
        [("é", Some(InputProblem::TooShort)), ("éé", None), ("😀😀😀", None), ("éééé", Some(InputProblem::TooLong))]
    {
        assert_eq!(problem(&set, "note", json!(text)), expected, "{text}");
    }
}

#[test]
fn formats_are_checked() {
    assert_eq!(problem(&inputs(), "seen_on", json!("2026-02-30")), Some(InputProblem::NotADate));
    let set = with("note", |note| note.format = Some(Format::DateTime));
    assert_eq!(problem(&set, "note", json!("2026-02-03")), Some(InputProblem::NotADateTime));
    assert_eq!(problem(&set, "note", json!("2026-02-03 04:05:06Z")), None);
}

#[test]
fn a_pattern_may_match_anywhere_unless_it_is_anchored() {
    let set = |pattern| with("note", |note| note.pattern = Some(Regex::new(pattern).unwrap()));
    assert_eq!(problem(&set("b+"), "note", json!("abbc")), None);
    assert_eq!(problem(&set("^b+$"), "note", json!("abbc")), Some(InputProblem::Mismatch));
    assert_eq!(problem(&set("^b+$"), "note", json!("bb\n")), Some(InputProblem::Mismatch));
}

#[test]
fn bounds_are_inclusive_and_exact_for_large_whole_numbers() {
    let set = with("count", |count| (count.minimum, count.maximum) = (Some(1.into()), Some(i64::MAX.into())));
    assert_eq!(problem(&set, "count", json!(1)), None);
    assert_eq!(problem(&set, "count", json!(0.999)), Some(InputProblem::TooSmall));
    assert_eq!(problem(&set, "count", json!(i64::MAX)), None);
    assert_eq!(problem(&set, "count", json!(i64::MAX as u64 + 1)), Some(InputProblem::TooLarge));
}

#[test]
fn the_first_broken_rule_of_an_input_is_its_problem() {
    let set = with("ward", |ward| (ward.min_length, ward.pattern) = (Some(9), Some(Regex::new("x").unwrap())));
    assert_eq!(problem(&set, "ward", json!("north")), Some(InputProblem::NotListed));
    assert_eq!(problem(&set, "ward", json!("west")), Some(InputProblem::TooShort));
}

#[test]
fn what_is_left_out_is_missing_unless_recordings_fill_it() {
    let set = inputs();
    let rows = set.check(&json!({}), Omitted::Refused).unwrap_err();
    assert!(rows.len() == 5 && rows.iter().all(|row| row.problem == InputProblem::Missing));
    let filled = set.check(&json!({}), Omitted::FilledFromRecording).unwrap();
    let spelled_out =
        json!({ "note": "recorded note", "seen_on": "2026-01-02", "count": 3, "urgent": true, "ward": "east" });
    assert_eq!(filled, set.check(&spelled_out, Omitted::Refused).unwrap());
}

#[test]
fn a_recorded_value_is_held_to_the_rules_too() {
    let set = InputSet::of(&[param("count", ParamType::Number, &[], "three")]);
    let rows = set.check(&json!({}), Omitted::FilledFromRecording).unwrap_err();
    assert_eq!(rows, [InvalidInput { input: "count".into(), problem: InputProblem::NotANumber }]);
}

fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[0-9]{4}-[0-9]{2}-[0-9]{2}".prop_map(Value::from),
        prop_oneof![Just("east"), Just("west")].prop_map(Value::from),
        prop::collection::vec(any::<u8>(), 0..3).prop_map(Value::from),
    ]
}

fn any_inputs() -> impl Strategy<Value = Value> {
    let name = prop_oneof![
        Just("note".to_owned()),
        Just("seen_on".to_owned()),
        Just("count".to_owned()),
        Just("urgent".to_owned()),
        Just("ward".to_owned()),
        "[a-z]{1,6}",
    ];
    let object = prop::collection::btree_map(name, any_value(), 0..8);
    prop_oneof![9 => object.prop_map(|map| map.into_iter().collect()), 1 => any_value()]
}

proptest! {
    #[test]
    fn checking_is_total_and_accepts_exactly_what_the_rules_accept(given in any_inputs()) {
        let set = inputs();
        let acceptable = acceptable(&given);
        match set.check(&given, Omitted::Refused) {
            Ok(checked) => {
                prop_assert!(acceptable);
                prop_assert_eq!(&Value::Object(checked.values().clone()), &given);
                prop_assert_eq!(checked.rendered().len(), 5);
            }
            Err(rows) => {
                prop_assert!(!rows.is_empty() && !acceptable);
                let known: Vec<_> = rows.iter().filter(|row| row.input != "(unknown)").collect();
                prop_assert!(known.is_sorted_by_key(|row| &row.input));
                prop_assert!(rows.iter().skip(1).all(|row| row.input != "(unknown)"));
            }
        }
    }

    #[test]
    fn filling_never_leaves_an_input_out(given in any_inputs()) {
        if let Ok(checked) = inputs().check(&given, Omitted::FilledFromRecording) {
            prop_assert_eq!(checked.rendered().len(), 5);
            prop_assert_eq!(inputs().check(&Value::Object(checked.values().clone()), Omitted::Refused), Ok(checked));
        }
    }
}

/// The rules for [`inputs`], said a second time and plainly.
fn acceptable(given: &Value) -> bool {
    let Some(map) = given.as_object() else { return false };
    let text = |name: &str| map.get(name).and_then(Value::as_str);
    map.len() == 5
        && text("note").is_some()
        && text("seen_on")
            .is_some_and(|date| date.len() == 10 && date.parse::<jiff::civil::Date>().is_ok_and(|d| d.year() > 0))
        && map.get("count").is_some_and(|n| n.is_i64() || n.as_f64().is_some_and(|n| n.abs() < 9_007_199_254_740_992.0))
        && map.get("urgent").is_some_and(Value::is_boolean)
        && matches!(text("ward"), Some("east" | "west"))
}
