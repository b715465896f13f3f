//! What `authoring connect` is started with: a server's options without workflows.

use std::path::PathBuf;

use super::recording::{nothing_pinned, web};
use super::{AdmissionOptions, FLOW, OlderOptions, ServeOptions, Surroundings, WorkflowSource, runs_dir, seconds};
use crate::authoring::opening::{RecordingOptions, Screens};
use crate::bridge::host::FORM_LIMIT;
use crate::flow::bridge::command::{BridgeCommand, Deployment};
use crate::flow::command::{FlowCommand, FlowSettings};
use crate::refusal::Refusal;

/// The flags of `authoring connect`.
pub struct MailboxFlags {
    pub url: Option<String>,
    pub headed: bool,
    pub runs_dir: Option<PathBuf>,
    pub flow_cli: Option<String>,
    pub flow_bridge: Option<String>,
}

/// How long Flow may take over one step.
const STEP_SECONDS: f64 = 330.0;

pub fn for_a_mailbox(flags: MailboxFlags, around: &Surroundings) -> Result<ServeOptions, Refusal> {
    let pin = match &flags.url {
        Some(url) => web(url, flags.headed)?,
        None => nothing_pinned()?,
    };
    let flow = FlowCommand::new(flags.flow_cli.as_deref().unwrap_or(FLOW), FlowSettings::default())?;
    let within = seconds(STEP_SECONDS, "the limit", "")?;
    let bridge = BridgeCommand::new(flags.flow_bridge.as_deref(), flow.words(), &Deployment::default(), within)?;
    Ok(ServeOptions {
        workflows: WorkflowSource::Nothing,
        runs_dir: runs_dir(flags.runs_dir, around)?,
        runs_enabled: false,
        flow,
        timeout: within,
        attended: None,
        recording: Some(RecordingOptions { bridge, pin, screens: Screens::Off, form_limit: FORM_LIMIT }),
        auto_review: None,
        older: OlderOptions::default(),
        admission: AdmissionOptions::default(),
    })
}
