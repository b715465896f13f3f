//! The recording tools as an MCP client sees them.

use schemas::Schema;

use super::host::{Annotations, ToolSpec};
use super::tools::READ_ONLY;
use crate::authoring::opening::Screens;
use crate::authoring::tool::RecordingTool;

const ACTING: Annotations = Annotations { read_only: false, destructive: false, idempotent: false, open_world: true };
const ENDING: Annotations = Annotations { read_only: false, destructive: true, idempotent: true, open_world: false };
const MAKING: Annotations = Annotations { read_only: false, destructive: false, idempotent: true, open_world: false };

/// In the order of the design's table; `screen` only where an operator opened it.
pub fn all(screens: Screens) -> impl Iterator<Item = ToolSpec> {
    let shown = move |tool: &RecordingTool| *tool != RecordingTool::Screen || screens != Screens::Off;
    RecordingTool::ALL.iter().copied().filter(shown).map(spec)
}

/// What a tool takes.
pub const fn input_of(tool: RecordingTool) -> Schema {
    match tool {
        RecordingTool::Click => Schema::ClickInput,
        RecordingTool::Type => Schema::TypeInput,
        RecordingTool::PauseForInput => Schema::PauseForInputInput,
        RecordingTool::GetCommandResult => Schema::GetCommandResultInput,
        RecordingTool::SetCoach => Schema::SetCoachInput,
        _ => Schema::RecordingInput,
    }
}

fn spec(tool: RecordingTool) -> ToolSpec {
    let (title, description) = words(tool);
    ToolSpec {
        name: tool.as_str().to_owned(),
        title,
        description: description.to_owned(),
        input_schema: input_of(tool).for_tool_list(),
        output_schema: None,
        annotations: annotations(tool),
        meta: None,
    }
}

const fn annotations(tool: RecordingTool) -> Annotations {
    match tool {
        RecordingTool::Observe
        | RecordingTool::GetCommandResult
        | RecordingTool::GetCoach
        | RecordingTool::BindStatus
        | RecordingTool::Screen => READ_ONLY,
        RecordingTool::Halt | RecordingTool::StopRecord => ENDING,
        RecordingTool::Compile | RecordingTool::Admit => MAKING,
        RecordingTool::StartRecord
        | RecordingTool::Click
        | RecordingTool::Type
        | RecordingTool::PauseForInput
        | RecordingTool::ContinueInput
        | RecordingTool::SetCoach => ACTING,
    }
}

const fn words(tool: RecordingTool) -> (&'static str, &'static str) {
    match tool {
        RecordingTool::Observe => (
            "Look at the window",
            "Tells what is in the pinned window: kinds, places and short labels, each with a node_id for click. No values, titles, \
             addresses or pictures. Call it again after everything that changes the window.",
        ),
        RecordingTool::StartRecord => (
            "Start recording",
            "Begins the recording of a first demonstration in the pinned window. What is done with click and type from now on is recorded.",
        ),
        RecordingTool::Click => (
            "Click",
            "Clicks one node of the latest observe, or a place in pixels, and records it. A click proves nothing about what was saved.",
        ),
        RecordingTool::Halt => {
            ("Abandon the recording", "Ends the recording session without a draft. It stops no run of a workflow.")
        }
        RecordingTool::Type => (
            "Type",
            "Types text that you supply where the last click was, and records it; with param as an input of the workflow. Never use it \
             for a secret, or for what a person should type.",
        ),
        RecordingTool::PauseForInput => (
            "Let a person type",
            "Pauses so that the person can type in the app. Tell them where and what. With secret true nothing of it is kept.",
        ),
        RecordingTool::ContinueInput => (
            "Go on after a person typed",
            "Takes what the person typed into the recording and goes on. Call it only after they say that they have typed. While \
             recorded is false the pause goes on.",
        ),
        RecordingTool::StopRecord => ("Stop recording", "Finishes the recording without making a draft of it."),
        RecordingTool::Compile => {
            ("Make a draft", "Makes a draft workflow of the recording. A person still has to accept it: call admit.")
        }
        RecordingTool::Admit => (
            "Ask a person to accept the draft",
            "Asks the person at the computer, in a form, to accept the draft. You can't accept it for them.",
        ),
        RecordingTool::GetCommandResult => (
            "Look up the last answer",
            "Tells again what the last recording tool answered, for clients that look answers up afterwards.",
        ),
        RecordingTool::SetCoach => (
            "Set a hint for the person",
            "Keeps a hint of at most 80 characters for the person who watches. No names, numbers or anything about somebody.",
        ),
        RecordingTool::GetCoach => ("Read the hint", "Tells the last hint for the person."),
        RecordingTool::BindStatus => {
            ("Tell how this server is bound", "Tells that this server is on the computer itself, over stdio.")
        }
        RecordingTool::Screen => (
            "Show the window",
            "Shows the pinned window as a picture, in the pixels that click takes. The operator has opened this.",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_picture_is_listed_last_and_only_where_it_was_opened() {
        let names = |screens| all(screens).map(|tool| tool.name).collect::<Vec<_>>();
        assert_eq!(names(Screens::Off).len(), 14);
        assert_eq!(names(Screens::Scrubbed).last().map(String::as_str), Some("screen"));
        assert!(!names(Screens::Off).contains(&"screen".to_owned()));
    }
}
