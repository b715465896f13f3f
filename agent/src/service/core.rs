//! The part of the service that blocks: catalogue, store and ledger.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::admission::RunRule;
use crate::admission::run_rule::Unready;
use crate::attended::operator::Operator;
use crate::cli::{OlderOptions, ServeOptions, WorkflowSource, to_stderr};
use crate::contract::ids::RunId;
use crate::contract::outcome::Mode;
use crate::contract::reason::Reason;
use crate::contract::result::{ResultFacts, RunResult};
use crate::flow::canonical::sha256_hex;
use crate::flow::command::FlowCommand;
use crate::lifecycle::facts::LifecycleFacts;
use crate::lifecycle::policy::{InForce, Policy};
use crate::lifecycle::review::Reviewer;
use crate::lifecycle::{Store, StoreFault};
use crate::refusal::Refusal;
use crate::runs::files::Folder;
use crate::runs::key::{FingerprintKey, Sealed};
use crate::runs::ledger::{Ledger, LedgerFault};
use crate::runs::record::RecordRead;
use crate::runs::{RunStore, StoreError};
use crate::sandbox::{self, Sandbox};
use crate::workflows::{Catalog, Workflow};

use super::describer::Describer;

pub struct Core {
    pub(super) catalog: Catalog,
    pub(super) store: RunStore,
    pub(super) flow: FlowCommand,
    pub(super) timeout: Duration,
    pub(super) older: OlderOptions,
    pub(super) bundles: PathBuf,
    policy: Policy,
    /// Who answers for what this server does: a keyed digest of the effective account. `None` for one without a name.
    account: Option<String>,
    reviewer: Option<Box<dyn Reviewer>>,
    runs_enabled: bool,
    mode: Mode,
    /// In sandbox mode.
    sandbox: Option<Arc<Sandbox>>,
    run_rule: RunRule,
    /// Opened when first needed: a server that only reads may never need it.
    ledger: Mutex<Option<Arc<Ledger>>>,
}

impl Core {
    pub fn open(options: &ServeOptions) -> Result<Self, Refusal> {
        let catalog = match &options.workflows {
            WorkflowSource::Sandbox(_) => sandbox::catalog(),
            WorkflowSource::Nothing => Catalog::default(),
            WorkflowSource::Bundles { folder, describing } => {
                let describer = Describer::new(describing);
                Catalog::discover(folder, &|bundle| describer.ask(bundle)).map_err(|fault| {
                    Refusal::new(fault.to_string(), "name a folder of compiled workflows with --bundles DIR")
                })?
            }
        };
        let refusal = |fault: StoreError| Refusal::new(fault.to_string(), fault.hint());
        let store = RunStore::open(&options.runs_dir).map_err(refusal)?;
        let sandbox = match &options.workflows {
            WorkflowSource::Sandbox(settings) => {
                Some(Arc::new(Sandbox::open(settings, store.root().runs_dir(), to_stderr)?))
            }
            WorkflowSource::Bundles { .. } | WorkflowSource::Nothing => None,
        };
        let operator = Operator::of_this_process().ok();
        let store_key = store.key().clone();
        let core = Self {
            catalog,
            store,
            flow: options.flow.clone(),
            timeout: options.timeout,
            older: options.older,
            bundles: match &options.workflows {
                WorkflowSource::Bundles { folder, .. } => folder.clone(),
                WorkflowSource::Sandbox(_) | WorkflowSource::Nothing => PathBuf::new(),
            },
            account: operator.as_ref().map(|operator| key_of(&store_key, operator)),
            policy: policy_of(options, operator.is_some()),
            reviewer: options.auto_review.clone().map(|command| Box::new(command) as Box<dyn Reviewer>),
            runs_enabled: options.runs_enabled,
            mode: options.mode(),
            sandbox,
            run_rule: RunRule::of(options),
            ledger: Mutex::default(),
        };
        if core.runs_enabled {
            core.ledger().map_err(|fault| refusal(fault.into()))?;
        }
        core.say_what_is_left_out();
        Ok(core)
    }

    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The server was started to run workflows, whatever an operator has switched off since.
    pub fn runs_enabled(&self) -> bool {
        self.runs_enabled
    }

    /// A store that can't be read hides nothing: the call itself is refused then.
    pub fn runs_offered(&self) -> bool {
        self.runs_enabled && !self.in_force().is_ok_and(|policy| policy.all_revoked)
    }

    /// The policy as it stands now.
    pub fn in_force(&self) -> Result<Arc<InForce>, StoreFault> {
        self.policy.in_force(self.actions())
    }

    /// The store's own folder, for a lock beside it.
    pub fn store_folder(&self) -> &Folder {
        self.store.root().folder()
    }

    pub(super) fn account(&self) -> Option<&str> {
        self.account.as_deref()
    }

    pub(super) fn reviewer(&self) -> Option<&dyn Reviewer> {
        self.reviewer.as_deref()
    }

    pub(super) fn actions(&self) -> &Store {
        self.store.actions()
    }

    /// Of what a run would rest on, looked at now.
    pub(super) fn conditions(&self, workflow: &Workflow, policy: &InForce) -> String {
        let flow = sha256_hex(self.flow.facts().to_string().as_bytes());
        policy.conditions(workflow.digest(), &flow)
    }

    pub fn mode(&self) -> Mode {
        self.mode
    }

    pub fn sandbox(&self) -> Option<&Arc<Sandbox>> {
        self.sandbox.as_ref()
    }

    pub fn dispatch_folder(&self, run_id: &RunId) -> PathBuf {
        self.store.dispatch().folder(run_id)
    }

    /// The canonical runs folder.
    pub fn runs_dir(&self) -> &Path {
        self.store.root().runs_dir()
    }

    /// The name under which the catalogue has the workflow of a run, if it still has it.
    pub fn workflow_of(&self, run_id: &RunId) -> Option<&str> {
        let name = match self.actions().find(run_id) {
            Ok(Some(known)) => known.action.workflow?,
            _ => match self.store.read(run_id) {
                Ok(RecordRead::Valid(record)) => record.workflow?,
                _ => return None,
            },
        };
        self.catalog.by_name(&name).map(Workflow::name)
    }

    /// The answer for a run that goes on.
    pub fn going_on(&self, run_id: &RunId, reason: Reason) -> Result<RunResult, StoreError> {
        let facts = ResultFacts { sandbox: self.sandbox_of(run_id)?, ..ResultFacts::default() };
        let unfinished = RunResult { reason, facts, ..self.unfinished(run_id) };
        if let Some(known) = self.actions().find(run_id)? {
            let action = known.action;
            let mut lifecycle = LifecycleFacts::of(&action, None);
            lifecycle.waits_in_flow(reason);
            let facts = ResultFacts { lifecycle: Some(lifecycle), ..unfinished.facts.clone() };
            let (request_id, workflow, mode) = (action.request_id, action.workflow, action.mode);
            return Ok(RunResult { request_id, workflow, mode, facts, ..unfinished });
        }
        Ok(match self.store.read(run_id)? {
            RecordRead::Valid(record) => {
                RunResult { request_id: record.request_id, workflow: record.workflow, mode: record.mode, ..unfinished }
            }
            RecordRead::Missing | RecordRead::Corrupt => unfinished,
        })
    }

    pub fn unfinished(&self, run_id: &RunId) -> RunResult {
        RunResult {
            reason: Reason::Running,
            run_id: Some(run_id.clone()),
            request_id: None,
            workflow: None,
            mode: self.mode(),
            replayed: false,
            facts: ResultFacts::default(),
        }
    }

    /// Why a run of this workflow isn't started at all. Nothing of a sandbox needs to be admitted.
    pub(super) fn unready(&self, workflow: &Workflow) -> Option<Unready> {
        let asked = || self.run_rule.refuses(&workflow.bundle_dir, workflow.content_digest.as_deref());
        if self.mode == Mode::Sandbox { None } else { asked() }
    }

    /// Takes back a dispatch that no keeper has claimed.
    pub fn take_back_unclaimed(&self, run_id: &RunId) {
        if let Err(fault) = self.revoke_unclaimed(None, run_id) {
            tracing::warn!("a dispatch couldn't be taken back: {fault}");
        }
    }

    /// Ends what dead servers left open, and clears away what they left behind. Costs as much as is open.
    pub fn recover(&self) {
        if let Err(fault) = self.recover_open().and_then(|()| self.store.sweep()) {
            tracing::warn!("what dead servers left behind couldn't be cleared away: {fault}");
        }
    }

    pub(super) fn ledger(&self) -> Result<Arc<Ledger>, LedgerFault> {
        let mut opened = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ledger) = &*opened {
            return Ok(Arc::clone(ledger));
        }
        let ledger = Arc::new(self.store.open_ledger()?);
        if let Some(reason) = ledger.fallback_reason() {
            tracing::warn!("plain claim files stand in for Flow's ledger on this runs folder: {reason}");
        }
        Ok(Arc::clone(opened.insert(ledger)))
    }

    /// Opaque ids and fixed sentences: neither a label nor a path nor a text of a card.
    fn say_what_is_left_out(&self) {
        for workflow in self.catalog.iter() {
            if let Some(fault) = &workflow.load_error {
                tracing::warn!("{} is unavailable: {fault}", workflow.public_id);
            }
            if let Some(problem) = &workflow.card_problem {
                tracing::warn!("the card of {} is ignored: {problem}", workflow.public_id);
            }
        }
    }
}

/// Everything that an operator fixed at the start, in one digest.
fn policy_of(options: &ServeOptions, has_authority: bool) -> Policy {
    let facts = serde_json::json!({
        "mode": options.mode().as_str(),
        "runs": options.runs_enabled,
        "flow": options.flow.facts(),
        "timeout_ms": u64::try_from(options.timeout.as_millis()).unwrap_or(u64::MAX),
        "attended": options.attended.is_some(),
        "recording": options.recording.is_some(),
        "older": [options.older.url_override, options.older.recorded_defaults],
        "reviewer": options.auto_review.as_ref().map(|command| program_digest(command.words())),
    });
    Policy::new(facts, options.mode(), options.flow.config().map(Path::to_owned), has_authority)
}

/// Another program at the same place is another reviewer.
fn program_digest(words: &[String]) -> String {
    let program = words.first().and_then(|program| std::fs::read(program).ok()).unwrap_or_default();
    sha256_hex(format!("{}\n{}", sha256_hex(&program), words.join("\n")).as_bytes())
}

fn key_of(key: &FingerprintKey, operator: &Operator) -> String {
    key.digest(Sealed::Account, operator.as_str().as_bytes())
}
