//! What a certificate says before its evidence: who judged, with what, and whom.

use serde::{Deserialize, Serialize};

use super::program::Program;
use crate::requirement::Claims;

pub const CERTIFICATE_FORMAT: &str = "openadapt.conformance-certificate/v1";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// Always [`CERTIFICATE_FORMAT`].
    pub format: String,
    /// The judge's own version.
    pub conformance: String,
    /// The frozen set's name, and the digest of its list.
    pub set: String,
    pub set_sha256: String,
    pub flow: Program,
    pub agent: Program,
    /// The program that shows the app.
    pub browser: Option<String>,
    /// Left out: every profile of the set.
    pub claims: Option<Claims>,
    pub seconds: f64,
}

impl Header {
    pub fn title(&self) -> String {
        format!("Conformance of openadapt-flow {}", self.flow.version)
    }
}
