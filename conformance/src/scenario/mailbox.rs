//! What the mailbox of a scenario answers, call by call.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One answer. Without any, a claim gives a lease, a poll nothing, and the rest is taken.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MailboxAnswer {
    /// The call that it is for: claim, poll, callback, allow.
    pub to: String,
    pub status: Option<u16>,
    pub body: Option<Value>,
    /// Instead: a text that needn't be JSON.
    pub text: Option<String>,
    /// Without `cache-control: no-store`.
    pub kept: bool,
    pub location: Option<String>,
    pub fault: Option<MailboxFault>,
}

/// What goes wrong on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MailboxFault {
    /// No answer comes.
    Silent,
    /// The connection is closed without one.
    HangUp,
    /// Half of the body comes.
    Half,
    /// More comes than anybody reads.
    Huge,
}
