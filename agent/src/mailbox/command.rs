//! What a mailbox may ask for, and what is said back: closed words.

use serde_json::{Map, Value, json};

use crate::authoring::request::Step;
use crate::authoring::tool::RecordingTool;
use crate::contract::outcome::closed_words;

/// One command's own name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CommandId(String);

impl CommandId {
    pub fn parse(text: &str) -> Option<Self> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte);
        ((1..=200).contains(&text.len()) && text.bytes().all(plain)).then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

closed_words! {
    /// Why a command isn't carried out.
    Refusal {
        NotAllowed = "not_allowed",
        Denied = "denied",
        TypeRefused = "type_refused",
        StaleNode = "stale_node",
        CoachOnly = "COACH_ONLY",
        InvalidEnvelope = "invalid_envelope",
        InvalidAllow = "invalid_allow",
        /// Somebody has to look what became of an earlier command.
        ReconciliationRequired = "RECONCILIATION_REQUIRED",
        Error = "error",
    }
}

closed_words! {
    /// The chat apps that a person can be asked about.
    ChatApp {
        ChatGpt = "ChatGPT",
        Claude = "Claude",
    }
}

/// What a command is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Asks that a person allow this account to record.
    BindPack,
    /// Typing is for people here.
    Type,
    Step(RecordingTool, Step),
    /// No such command, or arguments that it doesn't take.
    Unknown,
}

/// The tools of the mailbox.
const TOOLS: [RecordingTool; 9] = [
    RecordingTool::Observe,
    RecordingTool::Click,
    RecordingTool::StartRecord,
    RecordingTool::PauseForInput,
    RecordingTool::StopRecord,
    RecordingTool::Compile,
    RecordingTool::SetCoach,
    RecordingTool::GetCoach,
    RecordingTool::Halt,
];

impl Command {
    pub fn read(tool: &str, arguments: Map<String, Value>) -> Self {
        match tool {
            "bind_pack" => Self::BindPack,
            "type" | "type_text" => Self::Type,
            tool => {
                let known = RecordingTool::parse(tool).filter(|tool| TOOLS.contains(tool));
                let named_only = tool != "click" || arguments.contains_key("node_id");
                match known.map(|tool| (tool, Step::parse(tool, arguments))) {
                    Some((tool, Ok(step))) if named_only => Self::Step(tool, step),
                    _ => Self::Unknown,
                }
            }
        }
    }
}

/// What is said back of a command.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    Done(Map<String, Value>),
    Refused(Refusal),
}

impl Said {
    pub fn is_done(&self) -> bool {
        matches!(self, Self::Done(_))
    }

    pub fn result(&self) -> Map<String, Value> {
        match self {
            Self::Done(result) => result.clone(),
            Self::Refused(refusal) => match json!({ "error": refusal.as_str() }) {
                Value::Object(object) => object,
                _ => Map::new(),
            },
        }
    }
}
