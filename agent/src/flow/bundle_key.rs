//! The key of encrypted workflows, under the name that Flow reads. It goes from environment to environment, and into no file.

use crate::variable;

const FLOWS: &str = "OPENADAPT_BUNDLE_KEY";
/// As the host of an MCP bundle hands it to this program.
const HOSTS: &str = "OPENADAPT_AGENT_BUNDLE_KEY";

/// What Flow's environment needs besides this program's own.
pub fn handed_on() -> Option<(&'static str, String)> {
    if variable::of_this_process(FLOWS).is_some() {
        return None;
    }
    variable::of_this_process(HOSTS).map(|key| (FLOWS, key))
}
