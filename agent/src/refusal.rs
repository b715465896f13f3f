//! An expected error of the operator's side: what is wrong, and what to do about it.

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{sentence}\n\nhint: {hint}")]
pub struct Refusal {
    pub sentence: String,
    pub hint: String,
}

impl Refusal {
    pub fn new(sentence: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { sentence: sentence.into(), hint: hint.into() }
    }
}
