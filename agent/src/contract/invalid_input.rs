//! What is wrong with an input: closed texts, so that no value and no name that a caller made up is repeated.

use serde::{Serialize, Serializer};

use super::outcome::closed_words;

closed_words! {
    /// The `problem` of an `invalid_inputs` row.
    InputProblem {
        NotAnObject = "must be an object",
        Unknown = "isn't an input of this workflow; list_workflows shows those that are",
        Missing = "is missing",
        NotText = "must be text",
        NotListed = "must be one of the listed values",
        TooShort = "is too short",
        TooLong = "is too long",
        NotADate = "must be a date like 2026-01-31",
        NotADateTime = "must be a date and time like 2026-01-31T14:05:00",
        Mismatch = "doesn't match the expected format",
        /// Also a number so large that its digits would be lost.
        NotANumber = "must be a number",
        NotABoolean = "must be true or false",
        TooSmall = "is too small",
        TooLarge = "is too large",
        /// Only of a row that an older agent recorded in other words.
        NotValid = "isn't valid",
    }
}

/// One row of `invalid_inputs`. `input` is a declared name, `inputs` for the whole, or `(unknown)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidInput {
    pub input: String,
    pub problem: InputProblem,
}

impl Serialize for InvalidInput {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let row = [("input", self.input.as_str()), ("problem", self.problem.as_str())];
        serializer.collect_map(row)
    }
}
