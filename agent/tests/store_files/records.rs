//! Records and request entries as the store of actions has them made, and the order of a real attempt.

use std::sync::Arc;

use openadapt_agent::contract::evidence::{ExecutionOutcome, TransactionOutcome};
use openadapt_agent::contract::ids::{RequestId, RunId};
use openadapt_agent::contract::invalid_input::{InputProblem, InvalidInput};
use openadapt_agent::contract::outcome::{Mode, Outcome};
use openadapt_agent::contract::reason::Reason;
use openadapt_agent::contract::result::{ResultFacts, RunResult, Technical};
use openadapt_agent::lifecycle::contracts::Tool;
use openadapt_agent::lifecycle::machine::Ready;
use openadapt_agent::lifecycle::project::{project_ended, project_running};
use openadapt_agent::lifecycle::sealed::SealedResult;
use openadapt_agent::lifecycle::store::{Action, Dispatch, Import, NewAction, ReceiptRead, Revalidation, Sealing};
use openadapt_agent::lifecycle::types::{Execution, Origin as CameBy, Permission};
use openadapt_agent::runs::dispatch::{Intent, Order, Origin};
use openadapt_agent::runs::index::{self, EntryRead};
use openadapt_agent::runs::record::{AttemptOf, Finished, Phase, Process, RecordRead, RunRecord, StoredResult};
use openadapt_agent::runs::request_hash::{Attempt, Era, RequestHash};
use schemas::Schema;
use serde_json::{Map, Value, json};

use crate::world::{World, valid};

impl World {
    fn new_attempt(&self, request_id: &str) -> NewAction {
        let request_id = RequestId::parse(request_id).unwrap();
        let attempt = AttemptOf {
            attempt: Attempt::FIRST,
            ledger_key: RequestHash::of(&request_id).ledger_key(Attempt::FIRST, Era::Ours),
            fingerprint: self.store.fingerprint("add_note", &Map::new()),
        };
        NewAction {
            run_id: RunId::random(),
            tool: Tool::RunWorkflow,
            origin: CameBy::McpAgent,
            policy_version: self.store.actions().policy_version("p", 0, Mode::Production).unwrap(),
            args_digest: "a".to_owned(),
            conditions_digest: "c".to_owned(),
            request_id: Some(request_id),
            workflow: Some("add_note".to_owned()),
            mode: Mode::Production,
            attempt: Some(attempt),
        }
    }

    /// An attempt whose intent is committed, with its order and what others see of it.
    fn begin(&self, new: &NewAction) -> (Action, Intent) {
        let actions = self.store.actions();
        let ledger = self.store.open_ledger().unwrap();
        ledger.reserve(&new.attempt.as_ref().unwrap().ledger_key, &new.run_id).unwrap();
        let reserved = actions.reserve(actions.prepare_allowed(new).unwrap()).unwrap();
        let still = Revalidation { control_seq: 0, conditions_digest: "c" };
        let Dispatch::Started(started) = actions.commit_dispatch(Ready::Attempt(reserved), still).unwrap() else {
            panic!("nothing has changed meanwhile")
        };
        let (action, token) = started.into_parts();
        let order = Order {
            argv: vec!["flow".to_owned()],
            run_dir: self.store.root().run_dir(action.run_id()),
            time_limit_ms: 1,
            of: Origin {
                request_id: action.request_id.clone(),
                workflow: action.workflow.clone(),
                mode: action.mode,
                started_at: action.started_at.clone(),
                attempt: action.attempt.clone(),
                sandbox: None,
            },
            run_id: action.run_id().clone(),
        };
        let intent = self.store.dispatch().order(order, self.store.server_id(), &token, None).unwrap();
        project_running(&self.store, &action).unwrap();
        (action, intent)
    }

    fn action(&self, run_id: &RunId) -> Action {
        self.store.actions().find(run_id).unwrap().unwrap().action
    }

    fn record_file(&self, run_id: &RunId) -> Value {
        valid(Schema::RunRecord, &self.store.root().records().path().join(format!("{run_id}.json")))
    }

    /// The record of the newest receipt, as it is copied.
    fn copied(&self, run_id: &RunId) -> Value {
        let known = self.store.actions().find(run_id).unwrap().unwrap();
        let Some(ReceiptRead::Valid(receipt)) = known.receipt else { panic!("{known:?}") };
        let ledger = || self.store.open_ledger().map(Arc::new);
        project_ended(&self.store, ledger, &known.action, &receipt).unwrap();
        self.record_file(run_id)
    }
}

fn sealing(action: &Action, reason: Reason) -> Sealing {
    let started = Execution::of(reason, false) != Execution::NotStarted;
    Sealing {
        permission: Some(Permission::Allow),
        result: SealedResult::Run(stored(action, reason)),
        code: None,
        executor_started: started,
        executor_end: None,
        started_at: None,
        evidence: evidence(),
    }
}

fn stored(action: &Action, reason: Reason) -> StoredResult {
    let verified = Technical {
        execution: Some(ExecutionOutcome::Verified),
        transaction: Some(TransactionOutcome::Verified),
        approval_mode: None,
    };
    let facts = ResultFacts {
        invalid_inputs: vec![InvalidInput { input: "note".to_owned(), problem: InputProblem::Missing }],
        needs_attention_id: Some("0".repeat(24)),
        first_run_id: Some(RunId::random()),
        seconds: Some(10.149),
        model_calls: Some(2),
        technical: if reason == Reason::SavedAndChecked { verified } else { Technical::default() },
        ..ResultFacts::default()
    };
    let workflow = action.workflow.clone().filter(|_| reason != Reason::UnknownWorkflow);
    let (run_id, request_id, mode) = (action.run_id().clone(), action.request_id.clone(), action.mode);
    let result = RunResult { reason, run_id: Some(run_id), request_id, workflow, mode, replayed: true, facts };
    StoredResult::of(&result).unwrap()
}

fn evidence() -> Map<String, Value> {
    let evidence = json!({ "run_id_sha256": "a".repeat(64), "report_sha256": "b".repeat(64) });
    evidence.as_object().unwrap().clone()
}

#[test]
fn an_attempt_leaves_a_valid_record_request_entry_and_order() {
    let world = World::new();
    let new = world.new_attempt("req-1");
    let (action, intent) = world.begin(&new);
    let file = world.record_file(action.run_id());
    assert_eq!((&file["state"], &file["owner"]), (&json!("running"), &json!(world.store.server_id().to_string())));

    let (requests, hash) = (world.store.root().requests(), RequestHash::of(new.request_id.as_ref().unwrap()));
    let entry = valid(Schema::RequestEntry, &requests.path().join(format!("{}.json", hash.hex(Era::Ours))));
    assert_eq!(entry["attempts"], json!([new.run_id]));
    let read = index::read(requests, &hash, Era::Ours, world.store.key()).unwrap();
    assert!(matches!(read, EntryRead::Valid(read) if read.attempts == [new.run_id.clone()]));

    let dispatch = world.store.dispatch();
    let order = valid(Schema::DispatchIntent, &dispatch.folder(&intent.order.run_id).join("intent.json"));
    for shared in
        ["run_id", "request_id", "workflow", "mode", "started_at", "owner", "attempt", "ledger_key", "fingerprint"]
    {
        assert_eq!(order[shared], file[shared], "{shared}");
    }
    assert_eq!(dispatch.intent(&intent.order.run_id).unwrap(), Some(intent));
}

#[test]
fn a_run_that_ended_is_valid_for_every_reason_and_stays_so_when_a_review_changes_it() {
    let world = World::new();
    for reason in Reason::ALL.iter().copied().filter(|reason| reason.is_terminal()) {
        let (action, _) = world.begin(&world.new_attempt(&format!("req-{}", reason.as_str())));
        let run_id = action.run_id();
        world.store.actions().record(&action, &sealing(&action, reason)).unwrap();
        let file = world.copied(run_id);
        assert_eq!((&file["state"], &file["result"]["reason"]), (&json!("finished"), &json!(reason.as_str())));
        assert!(file.get("updated_at").is_none());
        if reason.outcome() == Outcome::NeedsReview {
            let seen = world.action(run_id);
            world.store.actions().revise(&seen, 1, &sealing(&seen, Reason::SavedAndChecked)).unwrap();
            assert!(world.copied(run_id)["updated_at"].is_string());
        }
    }
}

/// E02: the store alone is enough, and makes the same bytes.
#[test]
fn a_record_that_was_lost_is_made_again_to_the_letter() {
    let world = World::new();
    let (action, _) = world.begin(&world.new_attempt("req-1"));
    world.store.actions().record(&action, &sealing(&action, Reason::SavedAndChecked)).unwrap();
    world.copied(action.run_id());
    let path = world.store.root().records().path().join(format!("{}.json", action.run_id()));
    let before = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    world.copied(action.run_id());
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn a_refusal_leaves_a_valid_record_without_an_attempt() {
    let world = World::new();
    let new = NewAction { attempt: None, workflow: None, ..world.new_attempt("req-1") };
    let prepared = world.store.actions().prepare(&new).unwrap();
    let refused = Sealing { permission: None, ..sealing(prepared.action(), Reason::UnknownWorkflow) };
    world.store.actions().record(prepared.action(), &refused).unwrap();
    let file = world.copied(&new.run_id);
    assert!(file.get("attempt").is_none() && file["workflow"].is_null());
}

#[test]
fn a_run_that_left_nothing_has_a_valid_record_that_nobody_answers_for() {
    let world = World::new();
    let new = world.new_attempt("req-1");
    let record = RunRecord { process: Process::Nobody, attempt: new.attempt.clone(), ..older(&new) };
    world.store.actions().import(&import(&world, &record, Reason::Interrupted)).unwrap();
    let file = world.copied(&new.run_id);
    assert!(file["host"].is_null() && file["pid"].is_null() && file.get("owner").is_none());
}

#[test]
fn a_record_of_the_python_agent_is_valid_before_and_after_a_review_rewrites_it() {
    let world = World::new();
    let new = NewAction { attempt: None, ..world.new_attempt("req-1") };
    let finished_at = "2026-11-29T18:38:08.000000+00:00".to_owned();
    let shown = world.store.actions().prepare(&new).unwrap();
    let result = stored(shown.action(), Reason::PersonNeeded);
    let another = NewAction { run_id: RunId::random(), ..new };
    let ended = Phase::Finished(Box::new(Finished { finished_at, updated_at: None, result }));
    let record = RunRecord { phase: ended, ..older(&another) };
    world.store.write_lightly(&record).unwrap();
    let mut file = world.record_file(&another.run_id);
    file.as_object_mut().unwrap().remove("mac");
    assert!(Schema::RunRecord.check(&file).is_ok());

    std::fs::write(world.store.root().records().path().join(format!("{}.json", another.run_id)), file.to_string())
        .unwrap();
    let RecordRead::Valid(read) = world.store.read(&another.run_id).unwrap() else { panic!("not believed") };
    world.store.actions().import(&import(&world, &read, Reason::PersonNeeded)).unwrap();
    let seen = world.action(&another.run_id);
    world.store.actions().revise(&seen, 1, &sealing(&seen, Reason::SavedAndChecked)).unwrap();
    assert!(world.copied(&another.run_id)["mac"].is_string());
}

fn older(new: &NewAction) -> RunRecord {
    RunRecord {
        run_id: new.run_id.clone(),
        request_id: new.request_id.clone(),
        workflow: new.workflow.clone(),
        mode: new.mode,
        started_at: "2026-11-29T18:38:07.371259+00:00".to_owned(),
        process: Process::Python { pid: Some(7), host: Some("vm".to_owned()) },
        attempt: None,
        phase: Phase::Running,
        evidence: Map::new(),
    }
}

fn import<'a>(world: &World, record: &'a RunRecord, reason: Reason) -> Import<'a> {
    let result = RunResult {
        reason,
        run_id: Some(record.run_id.clone()),
        request_id: record.request_id.clone(),
        workflow: record.workflow.clone(),
        mode: record.mode,
        replayed: false,
        facts: ResultFacts::default(),
    };
    Import {
        record,
        result: StoredResult::of(&result).unwrap(),
        code: None,
        executor_started: true,
        executor_end: None,
        evidence: Map::new(),
        projected: false,
        policy_version: world.store.actions().policy_version("p", 0, Mode::Production).unwrap(),
    }
}
