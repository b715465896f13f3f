//! The options that stand apart from ordinary operation: what the older tools may take, and what a trusted client may see.
//! Source: *Modes and tool registration*.

use super::heading;
use crate::refusal::Refusal;

#[derive(Debug, clap::Args)]
pub struct OlderFlags {
    /// Lets a single call name another address, with the older run tools.
    #[arg(long, help_heading = heading::RUNS)]
    pub(super) allow_url_override: bool,
    /// For made-up demonstrations only: inputs that a call leaves out get the values that were recorded.
    #[arg(long, help_heading = heading::APART)]
    pub(super) allow_synthetic_recorded_defaults: bool,
    /// Adds labels, recorded values, intents, local paths, reports and what Flow printed to answers. Only for a client inside the same
    /// protected data boundary.
    #[arg(long, help_heading = heading::APART)]
    pub(super) allow_protected_export: bool,
}

/// What the operator opened. Nothing of it is open by itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OlderOptions {
    /// A call of an older run tool may name the app's address.
    pub url_override: bool,
    /// An input that is left out gets its recorded value.
    pub recorded_defaults: bool,
    /// Protected data leaves with the answers.
    pub protected_export: bool,
}

impl OlderFlags {
    pub fn resolve(&self, runs_enabled: bool) -> Result<OlderOptions, Refusal> {
        let with_runs = [
            ("--allow-url-override", self.allow_url_override),
            ("--allow-synthetic-recorded-defaults", self.allow_synthetic_recorded_defaults),
        ];
        if let Some((flag, _)) = with_runs.into_iter().find(|(_, given)| *given && !runs_enabled) {
            return Err(Refusal::new(
                format!("{flag} goes with runs, and this server would only list workflows"),
                format!("add --mode production, or leave {flag} out"),
            ));
        }
        Ok(OlderOptions {
            url_override: self.allow_url_override,
            recorded_defaults: self.allow_synthetic_recorded_defaults,
            protected_export: self.allow_protected_export,
        })
    }
}
