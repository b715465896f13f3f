//! What a skill and its folder are called: the workflow's name in the form that the Agent Skills format asks for.

use std::fmt;

use crate::workflows::Workflow;

/// 1 to 64 lower-case letters, digits and single hyphens, none of them at either end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillName(String);

/// Names of other OpenAdapt skills, which a workflow's own must never take the place of.
const RESERVED: [&str; 3] = ["computer-use", "openadapt-gui-write", "openadapt"];
/// Clients refuse a skill that calls itself by their maker's or their model's name.
const RESERVED_WORDS: [&str; 2] = ["anthropic", "claude"];

impl SkillName {
    /// The card's name with hyphens, or one made of the opaque id where that can't be a skill's name.
    pub fn of(workflow: &Workflow) -> Self {
        Self::parse(&workflow.name().replace('_', "-"))
            .filter(|name| !name.is_reserved())
            .unwrap_or_else(|| Self(format!("openadapt-{}", workflow.public_id.replace('_', "-"))))
    }

    pub fn parse(text: &str) -> Option<Self> {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let well_formed = (1..=64).contains(&text.len())
            && text.bytes().all(plain)
            && !text.starts_with('-')
            && !text.ends_with('-')
            && !text.contains("--");
        well_formed.then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn is_reserved(&self) -> bool {
        RESERVED.contains(&self.as_str()) || RESERVED_WORDS.iter().any(|word| self.0.contains(word))
    }
}

impl fmt::Display for SkillName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_format_s_own_names_parse() {
        for good in ["a", "pdf-processing", "a1-b2", &"a".repeat(64)] {
            assert!(SkillName::parse(good).is_some(), "{good}");
        }
        for bad in ["", "-a", "a-", "a--b", "A", "a_b", "a b", "ä", "a.b", "a/b", "..", &"a".repeat(65)] {
            assert!(SkillName::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn names_of_others_are_reserved() {
        for taken in ["computer-use", "openadapt-gui-write", "openadapt", "my-claude-notes", "anthropic-x"] {
            assert!(SkillName::parse(taken).unwrap().is_reserved(), "{taken}");
        }
        assert!(!SkillName::parse("computer-use-notes").unwrap().is_reserved());
    }
}
