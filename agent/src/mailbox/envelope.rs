//! One command as the mailbox hands it over: parsed once, closed.

use serde_json::{Map, Value};

use super::command::{ChatApp, Command, CommandId};
use crate::flow::hex_text::is_hex;

/// Who asks: the digest of an account at the chat app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sub(String);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    pub id: CommandId,
    pub sub: Sub,
    pub app: Option<ChatApp>,
    pub command: Command,
}

/// What is known of an envelope that isn't one: at most what it can be answered by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoEnvelope(pub Option<CommandId>);

const SCHEMA_VERSION: &str = "openadapt.authoring.command/v1";
const KEYS: [&str; 6] = ["schema_version", "tool", "command_id", "args", "oauth_sub_sha256", "client_display"];

impl Envelope {
    pub fn read(mut said: Map<String, Value>) -> Result<Self, NoEnvelope> {
        let id = said.get("command_id").and_then(Value::as_str).and_then(CommandId::parse);
        let Some(id) = id else { return Err(NoEnvelope(None)) };
        let no = || NoEnvelope(Some(id.clone()));
        let version = said.get("schema_version").is_none_or(|version| version == SCHEMA_VERSION);
        if !version || said.keys().any(|key| !KEYS.contains(&key.as_str())) {
            return Err(no());
        }
        let text = |key: &str| said.get(key).and_then(Value::as_str).map(str::to_owned).ok_or_else(no);
        let (tool, sub, app) = (text("tool")?, text("oauth_sub_sha256")?, text("client_display")?);
        if !is_hex(&sub, 64) {
            return Err(no());
        }
        let Some(Value::Object(arguments)) = said.remove("args") else { return Err(no()) };
        let command = Command::read(&tool, arguments);
        Ok(Self { id, sub: Sub(sub), app: ChatApp::parse(&app), command })
    }
}
