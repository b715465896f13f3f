//! Names of scenarios and requirements, parsed once.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

/// Path-like: `outcomes/timeout/after-the-save`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct ScenarioId(String);

/// `AREA-slug`: `RES-timeout-is-uncertain`. Never renumbered.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct RequirementId(String);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a well-formed {what}")]
pub struct MalformedName {
    what: &'static str,
    text: String,
}

impl ScenarioId {
    pub fn parse(text: &str) -> Result<Self, MalformedName> {
        let well_formed = !text.is_empty() && text.split('/').all(is_slug);
        well_formed
            .then(|| Self(text.to_owned()))
            .ok_or_else(|| MalformedName { what: "scenario id", text: text.to_owned() })
    }

    /// The id of one variant of this scenario. `name` may be any text; it is slugged.
    pub fn variant(&self, name: &str) -> Result<Self, MalformedName> {
        Self::parse(&format!("{}/{}", self.0, slug(name)))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl RequirementId {
    pub fn parse(text: &str) -> Result<Self, MalformedName> {
        let well_formed = text.split_once('-').is_some_and(|(area, rest)| {
            !area.is_empty()
                && area.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
                && !rest.is_empty()
                && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        });
        well_formed
            .then(|| Self(text.to_owned()))
            .ok_or_else(|| MalformedName { what: "requirement id", text: text.to_owned() })
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Lowercase letters and digits, everything else becomes one dash.
pub fn slug(text: &str) -> String {
    let mut slug = String::with_capacity(text.len());
    for character in text.chars().flat_map(char::to_lowercase) {
        if character.is_ascii_alphanumeric() {
            slug.push(character);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.truncate(slug.trim_end_matches('-').len());
    if slug.is_empty() { "empty".into() } else { slug }
}

fn is_slug(part: &str) -> bool {
    !part.is_empty()
        && !part.starts_with('-')
        && !part.ends_with('-')
        && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_.".contains(&byte))
}

impl fmt::Display for ScenarioId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Display for RequirementId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl<'de> Deserialize<'de> for ScenarioId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

impl<'de> Deserialize<'de> for RequirementId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenario_ids_are_slugs_between_slashes() {
        for good in ["a", "outcomes/timeout-after", "gate/check_1/v2.0"] {
            assert!(ScenarioId::parse(good).is_ok(), "{good}");
        }
        for bad in ["", "/a", "a/", "a//b", "A", "a b", "-a", "a-"] {
            assert!(ScenarioId::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn requirement_ids_have_an_area_and_a_slug() {
        assert!(RequirementId::parse("RES-timeout-is-uncertain").is_ok());
        for bad in ["", "RES", "RES-", "res-x", "-x", "RES x-y"] {
            assert!(RequirementId::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn any_text_becomes_the_name_of_a_variant() {
        assert_eq!(slug("Sealed manifest + version pin"), "sealed-manifest-version-pin");
        assert_eq!(slug("-1"), "1");
        assert_eq!(slug("…"), "empty");
    }
}
