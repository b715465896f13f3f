//! Certificates: a Flow is judged against a frozen list, and what was seen is stored so that others can judge it again.

pub mod body;
pub mod envelope;
pub mod frozen;
pub mod header;
pub mod key;
pub mod places;
pub mod program;
pub mod readme;
pub mod render;
pub mod scrub;
pub mod statement;
pub mod stored;
pub mod verify;

#[cfg(test)]
pub(crate) mod sample;

/// What a certificate is and what it isn't, in so many words. Everything that is made of one repeats it.
pub const WHAT_IT_IS: &str = "This is synthetic conformance evidence: made-up data, a made-up clinic, one machine. \
It is neither an admission nor a Seal, and it says nothing about any other version, workflow or app.";
