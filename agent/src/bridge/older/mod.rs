//! The older tools: one workflow by its opaque id, one run's status and counts, and a deprecated run tool for each workflow. Source:
//! *Modes and tool registration*.

mod answer;
mod arguments;
mod copy;
mod summary;
mod tools;

use std::sync::Arc;

use serde_json::{Map, Value};

use super::attention::Attention;
use super::host::{CallContext, ToolAnswer, ToolSpec};
use crate::contract::ids::RunId;
use crate::contract::reason::Reason;
use crate::flow::certify::Certifier;
use crate::service::{LeftBehind, Ran, RunFault, Service};
use crate::workflows::Workflow;
use answer::Status;

/// Whether a name is one of these tools', listed here or not.
pub fn is_older(name: &str) -> bool {
    let of_a_workflow = || tools::workflow_of(name).is_some_and(|id| id.starts_with("workflow_"));
    name == tools::GET_WORKFLOW || name == tools::GET_RUN_REPORT || of_a_workflow()
}

/// The older half of the bridge.
pub struct OlderTools {
    service: Arc<Service>,
    certifier: Certifier,
}

impl OlderTools {
    pub fn new(service: Arc<Service>) -> Self {
        Self { service, certifier: Certifier::default() }
    }

    /// Listed between the contract's tools and the queue's.
    pub fn reads(&self) -> [ToolSpec; 2] {
        [tools::get_workflow(), tools::get_run_report()]
    }

    /// Listed last: one for each workflow that loaded, by id.
    pub fn runs(&self) -> Vec<ToolSpec> {
        if !self.service.runs_offered() {
            return Vec::new();
        }
        let mut loaded: Vec<&Workflow> =
            self.service.catalog().iter().filter(|workflow| workflow.available()).collect();
        loaded.sort_unstable_by(|one, other| one.public_id.cmp(&other.public_id));
        loaded.into_iter().map(|workflow| tools::run(workflow, self.service.omitted(), self.service.older())).collect()
    }

    /// `None` for a tool that isn't one of these.
    pub async fn call(
        &self,
        name: &str,
        arguments: Map<String, Value>,
        cx: CallContext,
        queue: &Attention,
    ) -> Option<ToolAnswer> {
        match name {
            tools::GET_WORKFLOW => Some(match arguments::workflow(arguments) {
                Ok(id) => self.workflow(&id).await,
                Err(_) => ToolAnswer::Refused(copy::WORKFLOW_USAGE),
            }),
            tools::GET_RUN_REPORT => Some(match arguments::run_id(arguments) {
                Ok(run_id) => self.report(&run_id).await,
                Err(_) => ToolAnswer::Refused(copy::REPORT_USAGE),
            }),
            name => self.run(tools::workflow_of(name)?, arguments, cx, queue).await,
        }
    }

    async fn workflow(&self, id: &str) -> ToolAnswer {
        let Some(workflow) = self.service.catalog().by_public_id(id) else {
            return ToolAnswer::Refused(copy::UNKNOWN_WORKFLOW);
        };
        let certification = self.certification(workflow).await;
        let omitted = self.service.omitted();
        ToolAnswer::Object(answer::workflow(workflow, omitted, certification, self.service.older().protected_export))
    }

    /// Asked anew each time: what a policy says may change.
    async fn certification(&self, workflow: &Workflow) -> answer::Certification {
        let (listed, service) = (workflow.clone(), Arc::clone(&self.service));
        let argv =
            tokio::task::spawn_blocking(move || listed.recheck().is_ok().then(|| service.certify_words(&listed)));
        match argv.await.ok().flatten() {
            None => answer::Certification::of(copy::UNLOADABLE),
            Some(None) => answer::Certification::of(copy::NO_POLICY),
            Some(Some(argv)) => answer::Certification::asked(self.certifier.ask(&argv).await),
        }
    }

    async fn report(&self, run_id: &str) -> ToolAnswer {
        let Ok(run_id) = RunId::parse(run_id) else { return ToolAnswer::Refused(copy::UNKNOWN_RUN) };
        match self.service.report_of(run_id).await {
            Ok(None) => ToolAnswer::Refused(copy::UNKNOWN_RUN),
            Ok(Some((result, _))) if matches!(result.reason, Reason::Running | Reason::WaitingForApproval) => {
                ToolAnswer::Refused(copy::NO_REPORT_YET)
            }
            Ok(Some((result, left))) => ToolAnswer::Object(self.told(&result, &left)),
            Err(fault) => {
                tracing::warn!("a call can't be answered: {fault}");
                ToolAnswer::Refused(super::tools::RUN_NOT_READ)
            }
        }
    }

    /// `None` where no workflow that loaded has the id.
    async fn run(
        &self,
        id: &str,
        arguments: Map<String, Value>,
        cx: CallContext,
        queue: &Attention,
    ) -> Option<ToolAnswer> {
        let workflow = self.service.catalog().by_public_id(id).filter(|workflow| workflow.available())?;
        let Ok(call) = arguments::run(workflow, arguments, self.service.omitted(), self.service.older()) else {
            return Some(ToolAnswer::Refused(copy::RUN_USAGE));
        };
        let mut result = match self.service.run_older(call, cx.client.form_elicitation, cx.answer).await {
            Ok(ran) => match ran? {
                Ran::Result(result) => *result,
                Ran::Ask(form) => return Some(ToolAnswer::Ask(*form)),
            },
            Err(fault) => {
                tracing::warn!("a call can't be answered: {fault}");
                return Some(ToolAnswer::Refused(match fault {
                    RunFault::NotStarted(_) => copy::NOT_STARTED,
                    RunFault::NotKnown(_) => copy::NOT_KNOWN,
                }));
            }
        };
        let mut left = LeftBehind::default();
        if let Some(run_id) = result.run_id.clone()
            && let Ok(Some(read)) = self.service.report_of(run_id).await
        {
            (result, left) = read;
        }
        let mut object = self.told(&result, &left);
        object.insert("workflow_id".to_owned(), id.into());
        if let (Status::Halt, Some(run_id)) = (Status::of(result.reason), &result.run_id) {
            object.insert("needs_attention".to_owned(), queue.item_of(run_id).await.into());
        }
        Some(ToolAnswer::Object(object))
    }

    fn told(&self, result: &crate::contract::result::RunResult, left: &LeftBehind) -> Map<String, Value> {
        answer::run(result, left, self.service.older().protected_export)
    }
}
