//! Which one window a server records in.

use serde_json::{Value, json};

use super::observe::Backend;

/// The window that the operator pinned when the server was started. There is one at most.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pin {
    /// A new browser with no cookies, opened at this address.
    Web { url: String, headed: bool },
    /// A native Windows app, through an agent server that the operator has started.
    WindowsAgent { url: String },
    /// The window of a remote-desktop client on this computer.
    Remote { app: String, title: Option<String>, citrix: bool },
    /// The frontmost window.
    Frontmost,
    /// Nothing: a person acts, and nobody else.
    Nothing,
}

impl Pin {
    pub const fn backend(&self) -> Backend {
        match self {
            Self::Web { .. } => Backend::Web,
            Self::WindowsAgent { .. } | Self::Nothing => Backend::Windows,
            Self::Remote { citrix: true, .. } => Backend::Citrix,
            Self::Remote { citrix: false, .. } => Backend::Rdp,
            Self::Frontmost => Backend::Macos,
        }
    }

    /// As the bridge is told of it. Source: docs/flow-bridge.md.
    pub fn to_value(&self) -> Value {
        let kind = self.backend().as_str();
        match self {
            Self::Web { url, headed } => json!({ "kind": kind, "url": url, "headed": headed }),
            Self::WindowsAgent { url } => json!({ "kind": kind, "agent_url": url }),
            Self::Remote { app, title, .. } => json!({ "kind": kind, "window": app, "window_title": title }),
            Self::Frontmost => json!({ "kind": kind }),
            Self::Nothing => json!({ "kind": "none" }),
        }
    }
}
