//! What a call of a recording tool does: its arguments are parsed once, and the room carries it out.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::host::{CallContext, Form, ToolAnswer, ToolSpec};
use super::recording_tools;
use crate::authoring::copy;
use crate::authoring::opening::{Opened, RecordingOptions, Screens};
use crate::authoring::request::Step;
use crate::authoring::room::{Given, Room, Told};
use crate::authoring::tool::RecordingTool;
use crate::lifecycle::types::Origin;
use crate::refusal::Refusal;
use crate::service::Service;

/// The recording half of the bridge.
pub struct Recording {
    room: Arc<Room>,
}

impl Recording {
    /// Opens the session. Without one there is no server.
    pub fn open(service: &Service, options: &RecordingOptions) -> Result<Self, Refusal> {
        let core = service.decisions();
        let opened = Opened::open(options, core.store_folder(), service.runs_dir())?;
        Ok(Self { room: Arc::new(Room::new(core, Origin::McpAgent, options.screens, opened)) })
    }

    pub fn tools(&self) -> impl Iterator<Item = ToolSpec> {
        recording_tools::all(self.room.screens())
    }

    /// `None` for a tool that isn't one of these.
    pub async fn call(&self, name: &str, arguments: Map<String, Value>, cx: CallContext) -> Option<ToolAnswer> {
        let tool = RecordingTool::parse(name)
            .filter(|tool| *tool != RecordingTool::Screen || self.room.screens() != Screens::Off)?;
        let Ok(step) = Step::parse(tool, arguments) else { return Some(ToolAnswer::Refused(copy::usage(tool))) };
        let room = Arc::clone(&self.room);
        let given = cx.answer.map(|answer| Given { outcome: answer.given, binding: answer.binding });
        let forms = cx.client.form_elicitation;
        // On a thread that goes on when the call is given up: what was begun is sealed.
        let told = tokio::task::spawn_blocking(move || room.call(tool, &step, forms, given.as_ref())).await;
        Some(match told {
            Ok(Told::Answer(answer)) => ToolAnswer::Object(answer),
            Ok(Told::Refused(sentence)) => ToolAnswer::Refused(sentence),
            Ok(Told::Ask { binding }) => {
                ToolAnswer::Ask(Form { message: copy::QUESTION.to_owned(), field_title: copy::TICK, binding })
            }
            Ok(Told::Unknown) | Err(_) => ToolAnswer::Refused(copy::UNKNOWN),
        })
    }
}
