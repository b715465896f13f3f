//! flow-fake's launch journal: one JSON object for each line, in the order of the file.

use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JournalLine(pub Value);

impl JournalLine {
    pub fn parse(line: &str) -> Self {
        Self(serde_json::from_str(line).unwrap_or_else(|_| Value::String(line.to_owned())))
    }

    pub fn event(&self) -> &str {
        self.text("event").unwrap_or_default()
    }

    /// The name of a hold or a grandchild.
    pub fn name(&self) -> Option<&str> {
        self.text("name")
    }

    pub fn pid(&self) -> Option<u32> {
        self.0.get("pid").and_then(Value::as_u64).and_then(|pid| u32::try_from(pid).ok())
    }

    pub fn number(&self, key: &str) -> Option<u32> {
        self.0.get(key).and_then(Value::as_u64).and_then(|number| u32::try_from(number).ok())
    }

    /// The run that this line is about: the last part of Flow's run folder.
    pub fn run_id(&self) -> Option<&str> {
        self.text("run_dir")?.trim_end_matches('/').rsplit('/').next()
    }

    pub fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key).and_then(Value::as_str)
    }

    pub fn is_launch(&self) -> bool {
        self.event() == "launch"
    }

    pub fn is_effect(&self) -> bool {
        self.event() == "effect"
    }
}
