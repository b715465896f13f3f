//! Identifiers that cross the contract. Each is parsed once, at the edge, and stays what it was parsed as.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The caller's own id for one piece of work: `^[A-Za-z0-9][A-Za-z0-9._:-]{3,127}$`, the whole string and nothing after it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct RequestId(String);

/// One run: a single safe path component of at most 128 characters that starts with `run-`. New ids are `run-` and 24 hex digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct RunId(String);

/// A text is not an identifier of the kind that was asked for. The text itself is never repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the text is not a well-formed {0}")]
pub struct MalformedId(&'static str);

impl RequestId {
    pub fn parse(text: &str) -> Result<Self, MalformedId> {
        let well_formed = (4..=128).contains(&text.len())
            && text.starts_with(|first: char| first.is_ascii_alphanumeric())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._:-".contains(&byte));
        well_formed.then(|| Self(text.to_owned())).ok_or(MalformedId("request_id"))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl RunId {
    pub fn parse(text: &str) -> Result<Self, MalformedId> {
        let rest = text.strip_prefix("run-").unwrap_or_default();
        let well_formed = (1..=124).contains(&rest.len())
            && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
            && !rest.contains("..");
        well_formed.then(|| Self(text.to_owned())).ok_or(MalformedId("run_id"))
    }

    /// A new id with 96 random bits.
    pub fn random() -> Self {
        let hex = uuid::Uuid::new_v4().simple().to_string();
        Self(format!("run-{}", &hex[..12]) + &uuid::Uuid::new_v4().simple().to_string()[..12])
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for RequestId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

impl<'de> Deserialize<'de> for RunId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_id_with_a_trailing_newline_is_refused() {
        assert!(RequestId::parse("abcd").is_ok());
        assert!(RequestId::parse("abcd\n").is_err());
    }

    #[test]
    fn request_ids_are_four_to_128_safe_characters_that_start_alphanumeric() {
        for good in ["abcd", "A.b:c-d_e", &"x".repeat(128)] {
            assert!(RequestId::parse(good).is_ok(), "{good}");
        }
        for bad in ["", "abc", "-abc", ".abc", "ab c", "abcé", "ab/cd", &"x".repeat(129)] {
            assert!(RequestId::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_run_id_is_one_safe_path_component() {
        assert!(RunId::parse(RunId::random().as_str()).is_ok());
        for bad in ["run-", "run-../x", "run-a..b", "run-a/b", "run-a\n", "job-a", &format!("run-{}", "x".repeat(125))]
        {
            assert!(RunId::parse(bad).is_err(), "{bad}");
        }
    }
}
