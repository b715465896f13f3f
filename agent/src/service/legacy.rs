//! Runs of the older run tools, and what the older tools read. Such a run has no request_id: nothing tells a repeat of it from new
//! work, so it has no attempt, no ledger entry and no index entry. It has a record and a keeper as every run has
//! (docs/decisions/0016-older-tools.md).

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

use super::begin::Begun;
use super::core::Core;
use super::watch::{View, Watch};
use super::{RunFault, Service, lost_thread, start_keeper};
use crate::cli::OlderOptions;
use crate::contract::failed_check::FailedCheck;
use crate::contract::ids::RunId;
use crate::contract::reason::Reason;
use crate::contract::result::{ResultFacts, RunResult};
use crate::flow::command::url_word;
use crate::flow::run_dir::{Found, RunDir};
use crate::flow::{canonical, report};
use crate::runs::StoreError;
use crate::runs::clock::utc_now;
use crate::runs::dispatch::{DispatchState, FlowEnd, Order, Origin};
use crate::runs::record::{Phase, RecordRead, RunRecord, StoredResult};
use crate::workflows::{CheckedInputs, Omitted, Workflow};

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
    pub async fn run_older(&self, call: OlderRun) -> Result<Option<RunResult>, RunFault> {
        // A task of its own, as for every run: a call that is given up leaves no intent without a keeper behind.
        let begun = tokio::spawn(begin(Arc::clone(&self.core), Arc::clone(&self.watch), call));
        let begun = begun.await.map_err(|fault| RunFault::NotStarted(lost_thread(fault)))?;
        match begun.map_err(RunFault::NotStarted)? {
            None => Ok(None),
            Some(Begun::Answer(result)) => Ok(Some(*result)),
            Some(Begun::Replay(run_id) | Begun::Dispatched(run_id)) => loop {
                match self.watch.wait(&run_id, ONE_WAIT, false).await {
                    View::Running { .. } => {}
                    view => return self.result_of(&run_id, view).await.map_err(RunFault::NotKnown),
                }
            },
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

async fn begin(core: Arc<Core>, watch: Arc<Watch>, call: OlderRun) -> Result<Option<Begun>, StoreError> {
    let beginning = Arc::clone(&core);
    let begun = tokio::task::spawn_blocking(move || beginning.begin_older(&call)).await.map_err(lost_thread)??;
    if let Some(Begun::Dispatched(run_id)) = &begun {
        start_keeper(core, &watch, run_id);
    }
    Ok(begun)
}

impl Core {
    pub(super) fn omitted(&self) -> Omitted {
        if self.older.recorded_defaults { Omitted::FilledFromRecording } else { Omitted::Refused }
    }

    /// The checks in the order of run_workflow's.
    fn begin_older(&self, call: &OlderRun) -> Result<Option<Begun>, StoreError> {
        let Some(workflow) = self.catalog().by_public_id(&call.workflow_id) else { return Ok(None) };
        let none = ResultFacts::default;
        let refused = |reason, facts| self.refused_older(workflow, reason, facts).map(Some);
        if workflow.recheck().is_err() {
            return refused(Reason::WorkflowUnavailable, none());
        }
        if !self.runs_enabled() {
            return refused(Reason::RunsDisabled, none());
        }
        if call.url.is_some() && !self.older.url_override {
            let failed_checks = vec![FailedCheck::UrlOverrideNotAllowed];
            return refused(Reason::NotReadyToRun, ResultFacts { failed_checks, ..none() });
        }
        match workflow.card.inputs.check(&Value::Object(call.inputs.clone()), self.omitted()) {
            Ok(inputs) => self.dispatch_older(workflow, &inputs, call.url.as_deref()).map(Some),
            Err(invalid_inputs) => refused(Reason::InvalidInput, ResultFacts { invalid_inputs, ..none() }),
        }
    }

    fn refused_older(&self, workflow: &Workflow, reason: Reason, facts: ResultFacts) -> Result<Begun, StoreError> {
        let record = self.new_record(workflow);
        let result = RunResult {
            reason,
            run_id: Some(record.run_id.clone()),
            request_id: None,
            workflow: record.workflow.clone(),
            mode: record.mode,
            replayed: false,
            facts,
        };
        if let Some(stored) = StoredResult::of(&result) {
            self.store.write(&record.finished(stored))?;
        }
        Ok(Begun::Answer(Box::new(result)))
    }

    /// The record comes first, so that whoever finds the dispatch finds a run; an intent that can't be committed whole is revoked,
    /// which proves that nothing was started.
    fn dispatch_older(
        &self,
        workflow: &Workflow,
        inputs: &CheckedInputs,
        url: Option<&str>,
    ) -> Result<Begun, StoreError> {
        let record = self.new_record(workflow);
        self.store.write(&record)?;
        let dispatch = self.store.dispatch();
        let run_id = record.run_id;
        let (run_dir, params_file) = (self.store.root().run_dir(&run_id), dispatch.params_file(&run_id));
        let argv = match url {
            None => self.flow.for_run(&workflow.bundle_dir, &run_dir, &params_file),
            Some(_) => {
                let word = dispatch.placeholder(&run_id);
                self.flow.for_run_elsewhere(&workflow.bundle_dir, &run_dir, &params_file, word)
            }
        };
        let order = Order {
            argv,
            run_dir,
            time_limit_ms: u64::try_from(self.timeout.as_millis()).unwrap_or(u64::MAX),
            of: Origin {
                request_id: None,
                workflow: record.workflow,
                mode: record.mode,
                started_at: record.started_at,
                attempt: None,
            },
            run_id: run_id.clone(),
        };
        let params = serde_json::to_vec(inputs.rendered()).unwrap_or_default();
        let committed = dispatch.commit(order, self.store.server_id(), Some(&params)).map_err(StoreError::from);
        let whole = committed.and_then(|_| match url {
            Some(url) => Ok(dispatch.put_private_word(&run_id, &url_word(url))?),
            None => Ok(()),
        });
        if let Err(fault) = whole {
            tracing::warn!("a run couldn't be dispatched, so nothing was started: {fault}");
            self.revoke_unclaimed(&run_id);
        }
        Ok(Begun::Dispatched(run_id))
    }

    fn new_record(&self, workflow: &Workflow) -> RunRecord {
        RunRecord {
            run_id: RunId::random(),
            request_id: None,
            workflow: Some(workflow.name().to_owned()),
            mode: self.mode(),
            started_at: utc_now(),
            process: self.store.this_process(),
            attempt: None,
            phase: Phase::Running,
            evidence: Map::new(),
        }
    }

    fn left_behind(&self, run_id: &RunId) -> Result<LeftBehind, StoreError> {
        let run_dir = self.store.root().run_dir(run_id);
        let dispatch = self.store.dispatch();
        let exit_code = match dispatch.state(run_id)? {
            DispatchState::Exited(facts) => match facts.end {
                FlowEnd::Exited(code) => Some(code),
                FlowEnd::NeverStarted | FlowEnd::Signaled(_) => None,
            },
            _ => None,
        };
        let report = self.report_behind_the_result(run_id, &RunDir::open(&run_dir))?;
        Ok(LeftBehind { run_dir, report, exit_code, printed: dispatch.printed(run_id) })
    }

    /// A report that took the place of the one that was judged is nobody's.
    fn report_behind_the_result(&self, run_id: &RunId, folder: &RunDir) -> Result<Option<Vec<u8>>, StoreError> {
        let RecordRead::Valid(record) = self.store.read(run_id)? else { return Ok(None) };
        let Found::Bytes(bytes) = folder.read(report::NAME, report::SIZE_LIMIT) else { return Ok(None) };
        let judged = record.evidence.get(super::settle::REPORT_SHA256).and_then(Value::as_str);
        Ok((judged == Some(canonical::sha256_hex(&bytes).as_str())).then_some(bytes))
    }
}
