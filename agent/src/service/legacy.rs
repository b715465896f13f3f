//! Runs of the older run tools, and what the older tools read. Such a run has no request_id: nothing tells a repeat of it from new
//! work, so it is no attempt, and has no ledger entry and no index entry. Otherwise it goes through the one entry as every run does
//! (docs/decisions/0016-older-tools.md).

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

use super::begin::{Admitted, Begun, Caller, permission_of_refusal};
use super::core::Core;
use super::open::Scene;
use super::settle::{Ending, REPORT_SHA256};
use super::watch::{View, Watch};
use super::{Ran, RunFault, Service, kept, lost_thread, spawn_keeper};
use crate::bridge::host::FormAnswer;
use crate::cli::OlderOptions;
use crate::contract::failed_check::FailedCheck;
use crate::contract::ids::RunId;
use crate::contract::reason::Reason;
use crate::contract::result::{ResultFacts, RunResult};
use crate::flow::run_dir::{Found, RunDir};
use crate::flow::{canonical as bytes, report};
use crate::lifecycle::canonical::{self, run_operation};
use crate::lifecycle::contracts::Tool;
use crate::lifecycle::machine::Ready;
use crate::lifecycle::policy::{self, InForce, Rules};
use crate::lifecycle::review::CancelOnDrop;
use crate::lifecycle::store::{Known, NewAction, ReceiptRead};
use crate::lifecycle::types::Origin;
use crate::runs::StoreError;
use crate::runs::dispatch::{FlowEnd, Keeper};
use crate::workflows::{Omitted, Workflow};

/// A call of an older run tool, its arguments parsed.
#[derive(Debug, Clone, PartialEq)]
pub struct OlderRun {
    /// The workflow's opaque id.
    pub workflow_id: String,
    pub inputs: Map<String, Value>,
    /// The address that this one call names.
    pub url: Option<String>,
}

/// What a run left behind besides its result. Protected data: only counts of it leave, unless the operator opened the export.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LeftBehind {
    pub run_dir: PathBuf,
    /// The bytes of a report that agrees with itself and is the one that the result was read from.
    pub report: Option<Vec<u8>>,
    pub exit_code: Option<i32>,
    /// What Flow printed on stdout and stderr, as far as it was kept.
    pub printed: [String; 2],
}

/// How long one wait for a run takes before the next begins. A call waits to the run's end; its time limit ends that.
const ONE_WAIT: Duration = Duration::from_secs(600);

impl Service {
    pub fn omitted(&self) -> Omitted {
        self.core.omitted()
    }

    pub fn older(&self) -> OlderOptions {
        self.core.older
    }

    /// The folder of workflows. Protected: for the export only.
    pub fn bundles_dir(&self) -> String {
        self.core.bundles.to_string_lossy().into_owned()
    }

    /// The command that asks Flow's policy about a workflow; `None` where the operator configured none.
    pub fn certify_words(&self, workflow: &Workflow) -> Option<Vec<String>> {
        self.core.flow.for_certify(&workflow.bundle_dir)
    }

    /// Runs a workflow to its end. `None` for an id that the catalogue doesn't have.
    ///
    /// # Errors
    /// When the store can't be read or written, with what that means for the run.
    pub async fn run_older(
        &self,
        call: OlderRun,
        shows_forms: bool,
        answer: Option<FormAnswer>,
    ) -> Result<Option<Ran>, RunFault> {
        let given_up = CancelOnDrop::default();
        let caller = Caller { shows_forms, answer, canceled: given_up.flag() };
        // A task of its own, as for every run: a call that is given up leaves no intent without a keeper behind.
        let begun = tokio::spawn(begin(Arc::clone(&self.core), Arc::clone(&self.watch), call, caller));
        let begun = begun.await.map_err(|fault| RunFault::NotStarted(lost_thread(fault)))?;
        let run_id = match begun.map_err(RunFault::NotStarted)? {
            None => return Ok(None),
            Some(Going::Answer(ran)) => return Ok(Some(ran)),
            Some(Going::On(run_id)) => run_id,
        };
        loop {
            match self.watch.wait(&run_id, ONE_WAIT, false).await {
                View::Running { .. } => {}
                view => {
                    let result = self.result_of(&run_id, view).await.map_err(RunFault::NotKnown)?;
                    let result = result.unwrap_or_else(|| self.core.unfinished(&run_id));
                    return Ok(Some(Ran::Result(Box::new(result))));
                }
            }
        }
    }

    /// What became of a run, as get_run tells it, and what it left. `None` for a run that nobody was ever told of. Every view of a
    /// run is this one: a report can't say what its record doesn't.
    ///
    /// # Errors
    /// When the store can't be read.
    pub async fn report_of(&self, run_id: RunId) -> Result<Option<(RunResult, LeftBehind)>, StoreError> {
        let view = self.watch.wait(&run_id, Duration::ZERO, false).await;
        let Some(result) = self.result_of(&run_id, view).await? else { return Ok(None) };
        let core = Arc::clone(&self.core);
        let left = tokio::task::spawn_blocking(move || core.left_behind(&run_id)).await.map_err(lost_thread)??;
        Ok(Some((result, left)))
    }
}

/// A call that has begun.
enum Going {
    Answer(Ran),
    On(RunId),
}

async fn begin(
    core: Arc<Core>,
    watch: Arc<Watch>,
    call: OlderRun,
    caller: Caller,
) -> Result<Option<Going>, StoreError> {
    let beginning = Arc::clone(&core);
    let begun = if core.reviewer().is_some() {
        // A reviewer may take its time, and the threads for what blocks are few.
        let (sender, receiver) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || sender.send(beginning.begin_older(&call, &caller)));
        receiver.await.map_err(|_| std::io::Error::other("a worker of the server was lost"))??
    } else {
        tokio::task::spawn_blocking(move || beginning.begin_older(&call, &caller)).await.map_err(lost_thread)??
    };
    Ok(begun.map(|begun| match begun {
        Begun::Answer(result) => Going::Answer(Ran::Result(result)),
        Begun::Ask(form) => Going::Answer(Ran::Ask(form)),
        Begun::Replay(run_id) | Begun::Over(run_id) => Going::On(run_id),
        Begun::Cast(part) => Going::On(part.run_id().clone()),
        Begun::Dispatched(run_id, token) => {
            let keeper = spawn_keeper(&core, &run_id, token);
            watch.tend(&run_id, kept(core, run_id.clone(), keeper));
            Going::On(run_id)
        }
    }))
}

impl Core {
    pub(super) fn omitted(&self) -> Omitted {
        if self.older.recorded_defaults { Omitted::FilledFromRecording } else { Omitted::Refused }
    }

    /// The checks in the order of run_workflow's.
    fn begin_older(&self, call: &OlderRun, caller: &Caller) -> Result<Option<Begun>, StoreError> {
        let Some(workflow) = self.catalog().by_public_id(&call.workflow_id) else { return Ok(None) };
        let policy = self.in_force()?;
        let none = ResultFacts::default;
        let refused = |ending| self.refused_older(workflow, ending, &policy).map(Some);
        let for_reason = |reason, facts| refused(Ending { facts, ..Ending::not_started(reason) });
        if workflow.recheck().is_err() {
            return for_reason(Reason::WorkflowUnavailable, none());
        }
        let rules = Rules {
            has_authority: policy.has_authority,
            outside_mode: !self.runs_enabled(),
            denied: policy.denies(workflow.name(), &workflow.public_id),
            asks: self.reviewer().is_some(),
            ..Rules::default()
        };
        if let policy::Decision::Deny(reason, code) = policy::decide(rules) {
            return refused(Ending { code, ..Ending::not_started(reason) });
        }
        if call.url.is_some() && !self.older.url_override {
            let failed_checks = vec![FailedCheck::UrlOverrideNotAllowed];
            return for_reason(Reason::NotReadyToRun, ResultFacts { failed_checks, ..none() });
        }
        let inputs = match workflow.card.inputs.check(&Value::Object(call.inputs.clone()), self.omitted()) {
            Ok(inputs) => inputs,
            Err(invalid_inputs) => return for_reason(Reason::InvalidInput, ResultFacts { invalid_inputs, ..none() }),
        };
        if let Some(unready) = self.unready(workflow) {
            return for_reason(unready.reason, ResultFacts { failed_checks: unready.failed_checks, ..none() });
        }
        let url = call.url.as_deref();
        let (bundle, fixed) = (workflow.digest(), self.flow.url());
        let operation = run_operation(Tool::RunOlder, &workflow.public_id, bundle, inputs.rendered(), url.or(fixed));
        let args_digest = canonical::digest_of_any_size(self.store.key(), &operation);
        let admitted = Admitted { workflow, inputs, operation, args_digest };
        self.dispatch_older(&admitted, url, &policy, caller).map(Some)
    }

    fn refused_older(&self, workflow: &Workflow, ending: Ending, policy: &InForce) -> Result<Begun, StoreError> {
        let draft = self.actions().draft(&self.new_older(workflow, policy))?;
        let permission = permission_of_refusal(ending.reason);
        let result = self.refuse_and_tell(&draft, &Ending { permission, ..ending })?;
        Ok(Begun::Answer(Box::new(result)))
    }

    /// Reviewed where there is a reviewer, and dispatched once: there is no attempt to reserve.
    fn dispatch_older(
        &self,
        admitted: &Admitted<'_>,
        url: Option<&str>,
        policy: &InForce,
        caller: &Caller,
    ) -> Result<Begun, StoreError> {
        let new = NewAction {
            args_digest: admitted.args_digest.clone(),
            conditions_digest: self.conditions(admitted.workflow, policy),
            ..self.new_older(admitted.workflow, policy)
        };
        let held = self.store.lock_run(&new.run_id, None)?;
        let authorized = match self.reviewer() {
            None => self.actions().prepare_allowed(&new)?,
            Some(reviewer) => match self.reviewed_first(&held, reviewer, &new, admitted, caller)? {
                Ok(authorized) => authorized,
                Err(begun) => return Ok(begun),
            },
        };
        let run_id = authorized.action().run_id().clone();
        let scene = Scene {
            workflow: admitted.workflow,
            flow: &self.flow,
            bundle: &admitted.workflow.bundle_dir,
            params: admitted.inputs.rendered(),
            url,
            sandbox: None,
            control_seq: policy.control_seq,
        };
        Ok(match self.dispatch(Some(&held), Ready::Once(authorized), &scene)? {
            Ok(token) => Begun::Dispatched(run_id, token),
            Err(result) => Begun::Answer(result),
        })
    }

    fn new_older(&self, workflow: &Workflow, policy: &InForce) -> NewAction {
        NewAction {
            run_id: RunId::random(),
            tool: Tool::RunOlder,
            origin: Origin::McpAgent,
            policy_version: policy.version,
            args_digest: String::new(),
            conditions_digest: String::new(),
            request_id: None,
            workflow: Some(workflow.name().to_owned()),
            mode: self.mode(),
            attempt: None,
        }
    }

    fn left_behind(&self, run_id: &RunId) -> Result<LeftBehind, StoreError> {
        let run_dir = self.store.root().run_dir(run_id);
        let dispatch = self.store.dispatch();
        let printed = dispatch.printed(run_id);
        let Some(Known { action, receipt }) = self.actions().find(run_id)? else {
            return Ok(LeftBehind { run_dir, printed, ..LeftBehind::default() });
        };
        let exit_code = match dispatch.keeper(run_id, action.token.as_deref().unwrap_or_default())? {
            Keeper::Exited(facts) => match facts.end {
                FlowEnd::Exited(code) => Some(code),
                FlowEnd::NeverStarted | FlowEnd::Signaled(_) => None,
            },
            Keeper::Alive | Keeper::Gone => None,
        };
        let evidence = match &receipt {
            Some(ReceiptRead::Valid(receipt)) => receipt.evidence.clone(),
            _ => Map::new(),
        };
        let report = judged_report(&RunDir::open(&run_dir), &evidence);
        Ok(LeftBehind { run_dir, report, exit_code, printed })
    }
}

/// A report that took the place of the one that was judged is nobody's.
fn judged_report(folder: &RunDir, evidence: &Map<String, Value>) -> Option<Vec<u8>> {
    let Found::Bytes(report) = folder.read(report::NAME, report::SIZE_LIMIT) else { return None };
    let judged = evidence.get(REPORT_SHA256).and_then(Value::as_str);
    (judged == Some(bytes::sha256_hex(&report).as_str())).then_some(report)
}
