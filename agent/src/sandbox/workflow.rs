//! The sandbox's one workflow: its card and its inputs.

use std::collections::BTreeMap;

use crate::contract::sandbox::SandboxCase;
use crate::workflows::{Card, Catalog, CheckedInputs, InputSet, InputSpec};

const NAME: &str = "add_triage_note";
const NOTE: &str = "note";
const CASE: &str = "sandbox_case";
/// Characters that a note may have.
const LONGEST_NOTE: u64 = 500;

pub fn catalog() -> Catalog {
    let mut note = InputSpec::text("The note to add to the first referral. Make it up: this is a sandbox.");
    (note.min_length, note.max_length) = (Some(1), Some(LONGEST_NOTE));
    let mut case = InputSpec::text("What the made-up app does in this run.");
    case.choices = Some(SandboxCase::ALL.iter().map(|case| case.as_str().to_owned()).collect());
    case.default = Some(SandboxCase::Normal.as_str().to_owned());
    Catalog::built_in(Card {
        name: NAME.to_owned(),
        purpose: "Adds a triage note to the first referral of a made-up clinic, to show what each outcome looks like."
            .to_owned(),
        done_means: "The note is in the clinic's record store, and reading it back confirmed it.".to_owned(),
        inputs: InputSet::built_in([(NOTE, note), (CASE, case)]),
    })
}

/// The case that inputs of this workflow ask for.
pub fn case_of(inputs: &CheckedInputs) -> Option<SandboxCase> {
    inputs.rendered().get(CASE).and_then(|word| SandboxCase::parse(word))
}

/// What the engine gets: the case is the app's business, not the workflow's.
pub fn params(inputs: &CheckedInputs) -> BTreeMap<String, String> {
    inputs
        .rendered()
        .iter()
        .filter(|(name, _)| *name == NOTE)
        .map(|(name, text)| (name.clone(), text.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::contract::invalid_input::{InputProblem, InvalidInput};
    use crate::workflows::Omitted;

    fn check(given: &Value) -> Result<CheckedInputs, Vec<InvalidInput>> {
        let catalog = catalog();
        let workflow = catalog.by_name(NAME).expect("the workflow is listed");
        workflow.card.inputs.check(given, Omitted::Refused)
    }

    #[test]
    fn a_case_that_is_left_out_is_the_normal_one_and_the_same_request() {
        let left_out = check(&json!({"note": "x"})).expect("these inputs are taken");
        let sent = check(&json!({"note": "x", "sandbox_case": "normal"})).expect("these inputs are taken");
        assert_eq!(left_out.values(), sent.values());
        assert_eq!(case_of(&left_out), Some(SandboxCase::Normal));
    }

    #[test]
    fn the_engine_gets_the_note_and_nothing_else() {
        let inputs = check(&json!({"note": "x", "sandbox_case": "app_offline"})).expect("these inputs are taken");
        assert_eq!(params(&inputs), BTreeMap::from([("note".to_owned(), "x".to_owned())]));
    }

    #[test]
    fn a_note_has_1_to_500_code_points_of_any_kind() {
        for text in ["x", "\u{1f9d1}\u{200d}\u{2695}\u{fe0f}", "שלום", "<b>\"a\"\n'b'</b>"] {
            assert!(check(&json!({ "note": text })).is_ok(), "{text}");
        }
        assert!(check(&json!({ "note": "\u{1f600}".repeat(500) })).is_ok());
        let problem = |text: String| check(&json!({ "note": text })).expect_err("it is refused")[0].problem;
        assert_eq!(problem("\u{1f600}".repeat(501)), InputProblem::TooLong);
        assert_eq!(problem(String::new()), InputProblem::TooShort);
    }

    #[test]
    fn the_listing_has_the_default_and_requires_the_note_only() {
        let catalog = catalog();
        let row = catalog.by_name(NAME).expect("the workflow is listed").row(Omitted::Refused);
        assert_eq!(row["inputs"]["required"], json!(["note"]));
        assert_eq!(row["inputs"]["properties"]["sandbox_case"]["default"], "normal");
        assert!(!row.contains_key("id") && !row.contains_key("step_count"));
    }
}
