//! A store of actions in a temporary runs folder, for the tests of this room and its neighbours.

use crate::contract::ids::{RequestId, RunId};
use crate::contract::outcome::Mode;
use crate::contract::reason::Reason;
use crate::contract::result::{ResultFacts, RunResult};
use crate::lifecycle::contracts::Tool;
use crate::lifecycle::executor::StartToken;
use crate::lifecycle::machine::Ready;
use crate::lifecycle::sealed::SealedResult;
use crate::lifecycle::store::{Action, Dispatch, NewAction, Revalidation, Sealing};
use crate::lifecycle::types::{Origin, Permission};
use crate::runs::RunStore;
use crate::runs::record::{AttemptOf, StoredResult};
use crate::runs::request_hash::{Attempt, Era, RequestHash};

pub struct World {
    pub temp: tempfile::TempDir,
    pub store: RunStore,
}

impl World {
    pub(crate) fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let store = RunStore::open(&temp.path().join("runs")).unwrap();
        Self { temp, store }
    }

    /// Another server on the same folder.
    pub fn another(&self) -> RunStore {
        RunStore::open(&self.temp.path().join("runs")).unwrap()
    }

    pub fn new_action(&self, request_id: &str, attempt: usize) -> NewAction {
        let request_id = RequestId::parse(request_id).unwrap();
        let attempt = Attempt::at(attempt - 1);
        let ledger_key = RequestHash::of(&request_id).ledger_key(attempt, Era::Ours);
        let fingerprint = self.store.fingerprint("add_note", &serde_json::Map::new());
        NewAction {
            run_id: RunId::random(),
            tool: Tool::RunWorkflow,
            origin: Origin::McpAgent,
            policy_version: self.store.actions().policy_version("p", 0, Mode::Production).unwrap(),
            args_digest: "a".to_owned(),
            conditions_digest: "c".to_owned(),
            request_id: Some(request_id),
            workflow: Some("add_note".to_owned()),
            mode: Mode::Production,
            attempt: Some(AttemptOf { attempt, ledger_key, fingerprint }),
        }
    }

    /// An attempt whose intent is committed.
    pub fn dispatched(&self, new: &NewAction) -> (Action, StartToken) {
        let actions = self.store.actions();
        let reserved = actions.reserve(actions.prepare_allowed(new).unwrap()).unwrap();
        let still = Revalidation { control_seq: 0, conditions_digest: "c" };
        match actions.commit_dispatch(Ready::Attempt(reserved), still).unwrap() {
            Dispatch::Started(started) => started.into_parts(),
            Dispatch::Stale(code) => panic!("{code:?}"),
        }
    }

    pub fn found(&self, run_id: &RunId) -> Action {
        self.store.actions().find(run_id).unwrap().unwrap().action
    }
}

/// What a run with this reason is sealed with.
pub fn sealing(action: &Action, reason: Reason, started: bool) -> Sealing {
    let result = RunResult {
        reason,
        run_id: Some(action.run_id().clone()),
        request_id: action.request_id.clone(),
        workflow: action.workflow.clone(),
        mode: action.mode,
        replayed: false,
        facts: ResultFacts::default(),
    };
    Sealing {
        permission: Some(Permission::Allow),
        result: SealedResult::Run(StoredResult::of(&result).unwrap()),
        code: None,
        executor_started: started,
        executor_end: None,
        started_at: None,
        evidence: serde_json::Map::new(),
    }
}
