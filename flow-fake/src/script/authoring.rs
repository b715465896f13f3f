//! What a script says about the recording session: what is in the window, and what goes wrong.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// A session; a plain one where nothing is said.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AuthoringSpec {
    /// No session opens, for this reason.
    pub not_opened: Option<String>,
    /// Only a person acts.
    pub coach_only: bool,
    /// What the session says that its window is; the pinned kind where nothing is said.
    pub backend: Option<String>,
    /// The nodes of the window, as the session shows them.
    pub tree: Vec<Value>,
    /// The whole answer of `observe` instead.
    pub observe: Option<Value>,
    /// Why what a person typed can't be taken; it is taken where nothing is said.
    pub unrecorded: Option<String>,
    /// The session has no `admit`.
    pub no_admit: bool,
    /// Pictures can be scrubbed.
    pub scrubs: bool,
    /// A code for each operation that is refused, whatever the session's state.
    pub refuse: BTreeMap<String, String>,
    /// Operations that end in an exception that nobody expected.
    pub fail: Vec<String>,
    /// The operation at which the process dies, after it was done.
    pub die: Option<String>,
}
