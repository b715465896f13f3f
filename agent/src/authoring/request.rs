//! Arguments of the recording tools, parsed once. What doesn't fit is answered by the tool's usage and never repeated.

use serde_json::{Map, Value, json};

use super::label::{LONGEST, Label};
use super::tool::RecordingTool;

/// The longest text that is typed at once, in characters.
const LONGEST_TEXT: usize = 10_000;
const FARTHEST: u64 = 100_000;

/// One call of a recording tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    Observe,
    StartRecord,
    Click(Place),
    Halt,
    Type { text: String, param: Option<Param>, node: Option<Node> },
    Pause { node: Option<Node>, param: Option<Param>, secret: bool },
    Continue,
    StopRecord,
    Compile,
    Admit,
    CommandResult { command: Option<String> },
    SetCoach(Option<Label>),
    GetCoach,
    BindStatus,
    Screen,
}

/// Where a click goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    Node(Node),
    Pixels { x: u64, y: u64 },
}

/// A node's name as it was sent; whether there is such a node, the session knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node(String);

/// The name of an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Param(String);

/// The arguments don't have the shape of the tool's input schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Misshapen;

impl Step {
    pub fn parse(tool: RecordingTool, arguments: Map<String, Value>) -> Result<Self, Misshapen> {
        let mut given = Arguments(arguments);
        let step = match tool {
            RecordingTool::Observe => Self::Observe,
            RecordingTool::StartRecord => Self::StartRecord,
            RecordingTool::Click => Self::Click(given.place()?),
            RecordingTool::Halt => Self::Halt,
            RecordingTool::Type => {
                let text = given.text("text", LONGEST_TEXT)?.ok_or(Misshapen)?;
                Self::Type { text, param: given.param()?, node: given.node()? }
            }
            RecordingTool::PauseForInput => {
                let (node, param) = (given.node()?, given.param()?);
                Self::Pause { node, param, secret: given.flag("secret")? }
            }
            RecordingTool::ContinueInput => Self::Continue,
            RecordingTool::StopRecord => Self::StopRecord,
            RecordingTool::Compile => Self::Compile,
            RecordingTool::Admit => Self::Admit,
            RecordingTool::GetCommandResult => Self::CommandResult { command: given.text("command_id", 200)? },
            RecordingTool::SetCoach => {
                let hint = given.text("hint", 200)?.ok_or(Misshapen)?;
                Self::SetCoach(Label::guarded(&hint, LONGEST))
            }
            RecordingTool::GetCoach => Self::GetCoach,
            RecordingTool::BindStatus => Self::BindStatus,
            RecordingTool::Screen => Self::Screen,
        };
        if given.0.is_empty() { Ok(step) } else { Err(Misshapen) }
    }

    /// What the bridge is asked: the operation and its fields. Source: docs/flow-bridge.md.
    pub fn operation(&self) -> (&'static str, Map<String, Value>) {
        let (op, fields) = match self {
            Self::StartRecord => ("authoring.start_record", json!({})),
            Self::Click(Place::Node(node)) => ("authoring.click", json!({ "node_id": node.0 })),
            Self::Click(Place::Pixels { x, y }) => ("authoring.click", json!({ "x": x, "y": y })),
            Self::Halt => ("authoring.halt", json!({})),
            Self::Type { text, param, node } => {
                let (param, node) = (param.as_ref().map(Param::as_str), node.as_ref().map(Node::as_str));
                ("authoring.type", json!({ "text": text, "param": param, "node_id": node }))
            }
            Self::Pause { node, param, secret } => {
                let (param, node) = (param.as_ref().map(Param::as_str), node.as_ref().map(Node::as_str));
                ("authoring.pause_for_input", json!({ "node_id": node, "param": param, "secret": secret }))
            }
            Self::Continue => ("authoring.continue_input", json!({})),
            Self::StopRecord => ("authoring.stop_record", json!({})),
            Self::Compile => ("authoring.compile", json!({})),
            Self::Admit => ("authoring.admit", json!({})),
            _ => ("authoring.observe", json!({})),
        };
        (op, if let Value::Object(fields) = fields { fields } else { Map::new() })
    }
}

impl Node {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Param {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn read(text: String) -> Result<Self, Misshapen> {
        let begins = text.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase());
        let plain = text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
        if begins && plain && text.len() <= 32 { Ok(Self(text)) } else { Err(Misshapen) }
    }
}

struct Arguments(Map<String, Value>);

impl Arguments {
    fn text(&mut self, key: &str, longest: usize) -> Result<Option<String>, Misshapen> {
        match self.0.remove(key) {
            None => Ok(None),
            Some(Value::String(text)) if !text.is_empty() && text.chars().count() <= longest => Ok(Some(text)),
            Some(_) => Err(Misshapen),
        }
    }

    fn node(&mut self) -> Result<Option<Node>, Misshapen> {
        Ok(self.text("node_id", 64)?.map(Node))
    }

    fn param(&mut self) -> Result<Option<Param>, Misshapen> {
        self.text("param", 32)?.map(Param::read).transpose()
    }

    fn flag(&mut self, key: &str) -> Result<bool, Misshapen> {
        match self.0.remove(key) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(_) => Err(Misshapen),
        }
    }

    /// A whole number, however JSON spells it.
    fn pixels(&mut self, key: &str) -> Result<Option<u64>, Misshapen> {
        let Some(value) = self.0.remove(key) else { return Ok(None) };
        let whole = value.as_u64().or_else(|| {
            let number = value.as_f64().filter(|number| number.fract() == 0.0)?;
            (0.0..=FARTHEST as f64).contains(&number).then_some(number as u64)
        });
        whole.filter(|pixels| *pixels <= FARTHEST).map(Some).ok_or(Misshapen)
    }

    fn place(&mut self) -> Result<Place, Misshapen> {
        match (self.node()?, self.pixels("x")?, self.pixels("y")?) {
            (Some(node), None, None) => Ok(Place::Node(node)),
            (None, Some(x), Some(y)) => Ok(Place::Pixels { x, y }),
            _ => Err(Misshapen),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(tool: RecordingTool, arguments: Value) -> Result<Step, Misshapen> {
        let Value::Object(arguments) = arguments else { panic!("an object was expected") };
        Step::parse(tool, arguments)
    }

    #[test]
    fn a_click_has_one_place_and_a_whole_one() {
        let click = |arguments| parse(RecordingTool::Click, arguments);
        assert_eq!(click(json!({"x": 1, "y": 2.0})), Ok(Step::Click(Place::Pixels { x: 1, y: 2 })));
        assert_eq!(click(json!({"node_id": "n_1"})), Ok(Step::Click(Place::Node(Node("n_1".to_owned())))));
        for bad in [
            json!({}),
            json!({"x": 1}),
            json!({"y": 1}),
            json!({"x": -1, "y": 1}),
            json!({"x": 1, "y": 1, "node_id": "n"}),
            json!({"node_id": ""}),
            json!({"x": 1.5, "y": 1}),
        ] {
            assert_eq!(click(bad.clone()), Err(Misshapen), "{bad}");
        }
    }

    #[test]
    fn nothing_more_is_taken_than_a_tool_declares() {
        for tool in RecordingTool::ALL {
            let declared = crate::bridge::recording_tools::input_of(*tool);
            let mut more = match tool {
                RecordingTool::Click => json!({"node_id": "n_1"}),
                RecordingTool::Type => json!({"text": "x"}),
                RecordingTool::SetCoach => json!({"hint": "x"}),
                _ => json!({}),
            };
            assert!(parse(*tool, more.clone()).is_ok(), "{}", tool.as_str());
            assert!(declared.check(&more).is_ok());
            more["confirmed"] = true.into();
            assert_eq!(parse(*tool, more.clone()), Err(Misshapen), "{}", tool.as_str());
            assert!(declared.check(&more).is_err());
        }
    }

    #[test]
    fn the_name_of_an_input_is_a_small_word() {
        for (name, fits) in [
            ("note", true),
            ("a_1", true),
            ("Note", false),
            ("1a", false),
            ("", false),
            ("a-b", false),
            ("a\u{e9}", false),
        ] {
            assert_eq!(parse(RecordingTool::PauseForInput, json!({"param": name})).is_ok(), fits, "{name}");
        }
        assert!(parse(RecordingTool::PauseForInput, json!({"param": "a".repeat(33)})).is_err());
    }
}
