//! What `certify` answers, where a script says so.

use serde::Deserialize;

/// Without any of it: a PASS for a bundle that loads.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CertifySpec {
    /// Printed in place of the PASS.
    pub stdout: Option<String>,
    pub stderr: String,
    pub exit: u8,
    /// Stays, after what it prints, until it is ended.
    pub hang: bool,
}
