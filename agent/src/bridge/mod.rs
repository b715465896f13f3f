//! The transport-free half of the server: what tools there are and what a call of one does.

pub mod arguments;
mod attention;
mod attention_tools;
pub mod host;
mod listing;
mod older;
mod recording;
pub mod recording_tools;
pub mod tools;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::authoring::tool::RecordingTool;
use crate::cli::{ServeOptions, WorkflowSource};
use crate::contract::outcome::Mode;
use crate::refusal::Refusal;
use crate::service::{Ran, RunFault, Service};
use arguments::{GetRunArguments, RunWorkflowArguments, nothing_more};
use attention::Attention;
use host::{AnswerFuture, CallContext, ClientTraits, ToolAnswer, ToolHost, ToolSpec};
use older::OlderTools;
use recording::Recording;

const INSTRUCTIONS: &str = "OpenAdapt enters data in an app on this computer and checks that it was saved. Call list_workflows, then \
    run_workflow with the inputs it asks for and a request_id of your own. Use the same request_id whenever you repeat the same piece \
    of work; it never saves twice. Act on the outcome: done means saved and checked; needs_review means stopped before saving, and a \
    person decides; not_sure_if_saved means that a person checks the record, so don't retry; did_not_run means that this call wrote \
    nothing, and safe_to_retry says whether to call again. While the outcome is running, call get_run. Tell the user what_happened, and \
    call nothing but done a success.";
const READ_ONLY_INSTRUCTIONS: &str = " This server only lists workflows and reads runs; it starts none.";
const SANDBOX_INSTRUCTIONS: &str = " This is a sandbox: one made-up workflow on a made-up app, to try every outcome. No real record is \
    touched; say so when you tell the user what happened.";
const ATTENTION_INSTRUCTIONS: &str = " list_needs_attention tells which runs wait for a person.";
const OLDER_INSTRUCTIONS: &str = " get_workflow, get_run_report and the run_ tools of single workflows are older: use run_workflow and \
    get_run instead. An older run tool takes no request_id, so calling it again can write twice.";
const RECORDING_INSTRUCTIONS: &str = "This server records a first demonstration in one window. Call observe, start_record, then click and \
    type what the person asks for; pause_for_input where they type themselves. After stop_record, compile makes a draft, and admit asks \
    the person to accept it. Nothing that you record is a proof that something was saved.";
const DECISION_INSTRUCTIONS: &str = " The decision tools ask the person at the computer; only that person decides.";

/// The bridge: registration and dispatch.
pub struct Bridge {
    service: Arc<Service>,
    /// A sandbox has none.
    of_bundles: Option<OfBundles>,
    /// Only where a recording session was opened.
    recording: Option<Recording>,
    /// A server that only records has no workflows to list.
    has_workflows: bool,
    form_limit: Duration,
}

/// The tools that only a server of bundles has.
struct OfBundles {
    attention: Attention,
    older: OlderTools,
}

impl Bridge {
    pub fn open(service: Arc<Service>, options: &ServeOptions) -> Result<Self, Refusal> {
        let of_bundles = match options.workflows {
            WorkflowSource::Sandbox(_) | WorkflowSource::Nothing => None,
            WorkflowSource::Bundles { .. } => Some(OfBundles {
                attention: Attention::open(Arc::clone(&service), options)?,
                older: OlderTools::new(Arc::clone(&service)),
            }),
        };
        let recording = options.recording.as_ref().map(|recording| Recording::open(&service, recording)).transpose()?;
        let limits = [
            options.attended.as_ref().map(|attended| attended.form_limit),
            options.recording.as_ref().map(|recording| recording.form_limit),
        ];
        let form_limit = limits.into_iter().flatten().next().unwrap_or(host::FORM_LIMIT);
        let has_workflows = options.workflows != WorkflowSource::Nothing;
        Ok(Self { of_bundles, recording, has_workflows, form_limit, service })
    }

    /// `None` for a tool that a server of bundles doesn't have, and for every tool of them in a sandbox.
    async fn of_bundles(&self, name: &str, arguments: Map<String, Value>, cx: CallContext) -> Option<ToolAnswer> {
        let OfBundles { attention, older } = self.of_bundles.as_ref()?;
        match older::is_older(name) {
            true => older.call(name, arguments, cx, attention).await,
            false => attention.call(name, arguments, cx).await,
        }
    }

    async fn dispatch(&self, name: &str, arguments: Map<String, Value>, cx: CallContext) -> ToolAnswer {
        if let Some(recording) = &self.recording
            && (!self.has_workflows || RecordingTool::parse(name).is_some())
        {
            return recording.call(name, arguments, cx).await.unwrap_or(ToolAnswer::UnknownTool);
        }
        match name {
            tools::LIST_WORKFLOWS => match nothing_more(&arguments) {
                Ok(()) => ToolAnswer::Object(listing::workflows(&self.service)),
                Err(_) => ToolAnswer::Refused(tools::LIST_WORKFLOWS_USAGE),
            },
            // Answered by a read-only server, too: a client that holds an older list learns that nothing was started.
            tools::RUN_WORKFLOW => match RunWorkflowArguments::parse(arguments) {
                Ok(arguments) => {
                    match self.service.run_workflow(arguments, cx.client.form_elicitation, cx.answer).await {
                        Ok(Ran::Result(result)) => ToolAnswer::Object(result.to_object()),
                        Ok(Ran::Ask(form)) => ToolAnswer::Ask(*form),
                        Err(fault @ RunFault::NotStarted(_)) => {
                            refused_for(&fault, fault.hint(), tools::RUN_NOT_STARTED)
                        }
                        Err(fault @ RunFault::NotKnown(_)) => refused_for(&fault, fault.hint(), tools::RUN_NOT_KNOWN),
                    }
                }
                Err(_) => ToolAnswer::Refused(tools::RUN_WORKFLOW_USAGE),
            },
            tools::GET_RUN => match GetRunArguments::parse(arguments) {
                Ok(arguments) => match self.service.get_run(arguments).await {
                    Ok(Some(result)) => ToolAnswer::Object(result.to_object()),
                    Ok(None) => ToolAnswer::Refused(tools::UNKNOWN_RUN),
                    Err(fault) => refused_for(&fault, fault.hint(), tools::RUN_NOT_READ),
                },
                Err(_) => ToolAnswer::Refused(tools::GET_RUN_USAGE),
            },
            _ => self.of_bundles(name, arguments, cx).await.unwrap_or(ToolAnswer::UnknownTool),
        }
    }
}

/// Nothing is known then, and a result would have to say something. The cause is the operator's to read.
fn refused_for(fault: &dyn std::error::Error, hint: &str, sentence: &'static str) -> ToolAnswer {
    tracing::warn!("a call can't be answered: {fault}; hint: {hint}");
    ToolAnswer::Refused(sentence)
}

impl ToolHost for Bridge {
    fn instructions(&self) -> String {
        if !self.has_workflows {
            return RECORDING_INSTRUCTIONS.to_owned();
        }
        if self.service.sandbox().is_some() {
            return format!("{INSTRUCTIONS}{SANDBOX_INSTRUCTIONS}");
        }
        let runs = if self.service.runs_enabled() { "" } else { READ_ONLY_INSTRUCTIONS };
        let decisions = if self.service.mode() == Mode::Attended { DECISION_INSTRUCTIONS } else { "" };
        let recording = if self.recording.is_some() { format!(" {RECORDING_INSTRUCTIONS}") } else { String::new() };
        format!("{INSTRUCTIONS}{runs}{ATTENTION_INSTRUCTIONS}{decisions}{OLDER_INSTRUCTIONS}{recording}")
    }

    fn tools(&self, client: ClientTraits) -> Vec<ToolSpec> {
        let recording = self.recording.iter().flat_map(Recording::tools);
        if !self.has_workflows {
            return recording.collect();
        }
        let runs = self.service.runs_offered().then(tools::run_workflow);
        let contract = [tools::list_workflows()].into_iter().chain(runs).chain([tools::get_run()]);
        let Some(OfBundles { attention, older }) = &self.of_bundles else { return contract.collect() };
        contract.chain(older.reads()).chain(attention.tools(client)).chain(older.runs()).chain(recording).collect()
    }

    fn tools_offered(&self) -> u64 {
        u64::from(self.service.runs_offered())
    }

    /// Also for a tool that was taken off the list since the client read it.
    fn has_output_schema(&self, name: &str, _: ClientTraits) -> bool {
        self.has_workflows
            && (matches!(name, tools::LIST_WORKFLOWS | tools::GET_RUN)
                || name == tools::RUN_WORKFLOW && self.service.runs_enabled())
    }

    fn form_limit(&self) -> Duration {
        self.form_limit
    }

    fn call<'a>(&'a self, name: &'a str, arguments: Map<String, Value>, cx: CallContext) -> AnswerFuture<'a> {
        Box::pin(self.dispatch(name, arguments, cx))
    }
}
