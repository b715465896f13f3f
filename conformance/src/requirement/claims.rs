//! What a program says of itself before it is judged. What isn't claimed isn't scored.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::run::smoke::Introduction;
use crate::scenario::Scenario;

pub const CLAIMS_FORMAT: &str = "openadapt.conformance-claims/v1";
const CORE: &str = "core";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claims {
    /// Always [`CLAIMS_FORMAT`].
    claims: String,
    pub product: String,
    pub version: String,
    pub profiles: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum ClaimsError {
    #[error("{0}")]
    Io(#[from] std::io::Error),
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    #[error("the file is no {CLAIMS_FORMAT}")]
    Format,
    #[error("every program claims the profile core")]
    NoCore,
    #[error("{0:?} is claimed, and no scenario is about it")]
    UnknownProfile(String),
}

impl Claims {
    /// Reads a claims file, all of whose profiles some scenario of `known` is about.
    pub fn read(path: &Path, known: &[Scenario]) -> Result<Self, ClaimsError> {
        let claims: Self = serde_json::from_slice(&std::fs::read(path)?)?;
        if claims.claims != CLAIMS_FORMAT {
            return Err(ClaimsError::Format);
        }
        if !claims.profiles.iter().any(|profile| profile == CORE) {
            return Err(ClaimsError::NoCore);
        }
        let unknown =
            claims.profiles.iter().find(|claimed| !known.iter().any(|scenario| scenario.profile == **claimed));
        match unknown {
            Some(profile) => Err(ClaimsError::UnknownProfile(profile.clone())),
            None => Ok(claims),
        }
    }

    pub fn cover(&self, scenario: &Scenario) -> bool {
        self.profiles.contains(&scenario.profile)
    }

    /// What the program says of itself, where that isn't what was claimed.
    pub fn contradicted_by(&self, server: &Introduction) -> Option<String> {
        let same = server.name == self.product && server.version == self.version;
        (!same).then(|| format!("{} {}", server.name, server.version))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::expand::expand;

    fn read(text: &str) -> Result<Claims, ClaimsError> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        Claims::read(file.path(), &expand("f", "id = \"a\"\ntitle = \"t\"\nproves = [\"RES-a\"]").unwrap())
    }

    const GOOD: &str =
        r#"{"claims":"openadapt.conformance-claims/v1","product":"p","version":"1","profiles":["core"]}"#;

    #[test]
    fn claims_name_a_program_and_profiles_that_exist() {
        let claims = read(GOOD).unwrap();
        let server = |name: &str, version: &str| Introduction {
            name: name.into(),
            version: version.into(),
            protocol: "2025-11-25".into(),
            tools: Vec::new(),
        };
        assert_eq!(claims.contradicted_by(&server("p", "1")), None);
        assert_eq!(claims.contradicted_by(&server("p", "2")), Some("p 2".into()));
    }

    #[test]
    fn claims_that_are_wrong_are_refused() {
        assert!(matches!(read(&GOOD.replace("/v1", "/v2")), Err(ClaimsError::Format)));
        assert!(matches!(read(&GOOD.replace("\"core\"", "")), Err(ClaimsError::NoCore)));
        assert!(matches!(read(&GOOD.replace("\"core\"", "\"core\",\"sandbox\"")), Err(ClaimsError::UnknownProfile(_))));
        assert!(matches!(read(&GOOD.replace("product", "prodact")), Err(ClaimsError::Json(_))));
    }
}
