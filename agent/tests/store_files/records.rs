//! Records, request entries and the intent of a real attempt.

use openadapt_agent::contract::evidence::{ExecutionOutcome, TransactionOutcome};
use openadapt_agent::contract::ids::{RequestId, RunId};
use openadapt_agent::contract::invalid_input::{InputProblem, InvalidInput};
use openadapt_agent::contract::outcome::{Mode, Outcome};
use openadapt_agent::contract::reason::Reason;
use openadapt_agent::contract::result::{ResultFacts, RunResult, Technical};
use openadapt_agent::runs::StoreError;
use openadapt_agent::runs::clock::utc_now;
use openadapt_agent::runs::dispatch::{Order, Origin};
use openadapt_agent::runs::gate::{Ask, Begin, RequestGate, Started};
use openadapt_agent::runs::index::{self, EntryRead};
use openadapt_agent::runs::record::{AttemptOf, Phase, Process, RecordRead, RunRecord, StoredResult};
use openadapt_agent::runs::request_hash::{Era, RequestHash};
use schemas::Schema;
use serde_json::{Map, Value, json};

use crate::world::{World, valid};

impl World {
    fn ask(&self) -> Ask {
        Ask {
            request_id: RequestId::parse("req-1").unwrap(),
            fingerprint: self.store.fingerprint("add_note", &Map::new()),
            workflow: "add_note".to_owned(),
            mode: Mode::Production,
        }
    }

    fn start(&self, ask: &Ask) -> Started {
        let ledger = self.store.open_ledger().unwrap();
        let begin = RequestGate::new(&self.store, &ledger).begin(ask, |_, _| Ok::<_, StoreError>(false)).unwrap();
        let Begin::Start(started) = begin else { panic!("{begin:?}") };
        started
    }

    fn record(&self, run_id: &RunId) -> RunRecord {
        match self.store.read(run_id).unwrap() {
            RecordRead::Valid(record) => *record,
            other => panic!("{other:?}"),
        }
    }

    /// The file of a record that was written and reads back as the same record.
    fn written(&self, record: &RunRecord) -> Value {
        self.store.write(record).unwrap();
        assert_eq!(self.record(&record.run_id), *record);
        self.record_file(&record.run_id)
    }

    fn record_file(&self, run_id: &RunId) -> Value {
        valid(Schema::RunRecord, &self.store.root().records().path().join(format!("{run_id}.json")))
    }

    fn refusal(&self) -> RunRecord {
        RunRecord {
            run_id: RunId::random(),
            request_id: Some(RequestId::parse("req-1").unwrap()),
            workflow: None,
            mode: Mode::Production,
            started_at: utc_now(),
            process: self.store.this_process(),
            attempt: None,
            phase: Phase::Running,
            evidence: Map::new(),
        }
    }
}

fn stored(record: &RunRecord, reason: Reason) -> StoredResult {
    let run_id = record.run_id.clone();
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
    let (request_id, workflow, mode) = (record.request_id.clone(), record.workflow.clone(), record.mode);
    let result = RunResult { reason, run_id: Some(run_id), request_id, workflow, mode, replayed: true, facts };
    StoredResult::of(&result).unwrap()
}

fn evidence() -> Map<String, Value> {
    let evidence = json!({ "run_id_sha256": "a".repeat(64), "report_sha256": "b".repeat(64) });
    evidence.as_object().unwrap().clone()
}

#[test]
fn an_attempt_leaves_a_valid_record_request_entry_and_intent() {
    let world = World::new();
    let ask = world.ask();
    let started = world.start(&ask);
    let record = world.record(&started.run_id);
    let file = world.record_file(&started.run_id);
    assert_eq!((&file["state"], &file["owner"]), (&json!("running"), &json!(world.store.server_id().to_string())));

    let (requests, hash) = (world.store.root().requests(), RequestHash::of(&ask.request_id));
    let entry = valid(Schema::RequestEntry, &requests.path().join(format!("{}.json", hash.hex(Era::Ours))));
    assert_eq!(entry["attempts"], json!([started.run_id]));
    let read = index::read(requests, &hash, Era::Ours, world.store.key()).unwrap();
    assert!(matches!(read, EntryRead::Valid(read) if read.attempts == [started.run_id.clone()]));

    let attempt = AttemptOf { attempt: started.attempt, ledger_key: started.ledger_key, fingerprint: ask.fingerprint };
    assert_eq!(record.attempt, Some(attempt.clone()));
    let order = Order {
        argv: vec!["flow".to_owned()],
        run_dir: world.store.root().run_dir(&started.run_id),
        time_limit_ms: 1,
        of: Origin {
            request_id: Some(ask.request_id),
            workflow: Some(ask.workflow),
            mode: ask.mode,
            started_at: started.started_at,
            attempt: Some(attempt),
            sandbox: None,
        },
        run_id: started.run_id,
    };
    let dispatch = world.store.dispatch();
    let intent = dispatch.commit(order, world.store.server_id(), None).unwrap();
    let file = valid(Schema::DispatchIntent, &dispatch.folder(&intent.order.run_id).join("intent.json"));
    let entered = world.record_file(&intent.order.run_id);
    for shared in
        ["run_id", "request_id", "workflow", "mode", "started_at", "owner", "attempt", "ledger_key", "fingerprint"]
    {
        assert_eq!(file[shared], entered[shared], "{shared}");
    }
    assert_eq!(dispatch.intent(&intent.order.run_id).unwrap(), Some(intent));
}

#[test]
fn a_run_that_ended_is_valid_for_every_reason_and_stays_so_when_a_review_changes_it() {
    let world = World::new();
    let running = world.record(&world.start(&world.ask()).run_id);
    for reason in Reason::ALL.iter().copied().filter(|reason| reason.is_terminal()) {
        let workflow = running.workflow.clone().filter(|_| reason != Reason::UnknownWorkflow);
        let bound = RunRecord { workflow, evidence: evidence(), ..running.clone() };
        let result = stored(&bound, reason);
        let finished = bound.finished(result);
        let file = world.written(&finished);
        assert_eq!((&file["state"], &file["result"]["reason"]), (&json!("finished"), &json!(reason.as_str())));
        assert!(file.get("updated_at").is_none());
        if reason.outcome() == Outcome::NeedsReview {
            let updated = world.written(&finished.updated(stored(&running, Reason::SavedAndChecked)));
            assert!(updated["updated_at"].is_string());
        }
    }
}

#[test]
fn a_refusal_and_the_record_of_a_lost_reservation_are_valid() {
    let world = World::new();
    let refusal = world.refusal();
    let result = stored(&refusal, Reason::UnknownWorkflow);
    let file = world.written(&refusal.finished(result));
    assert!(file.get("attempt").is_none() && file["workflow"].is_null());

    let running = world.record(&world.start(&world.ask()).run_id);
    let file = world.written(&RunRecord { process: Process::Nobody, ..running });
    assert!(file["host"].is_null() && file["pid"].is_null() && file.get("owner").is_none());
}

#[test]
fn a_record_of_the_python_agent_is_valid_before_and_after_a_review_rewrites_it() {
    let world = World::new();
    let process = Process::Python { pid: Some(7), host: Some("vm".to_owned()) };
    let record = RunRecord { process, ..world.refusal() };
    let result = stored(&record, Reason::PersonNeeded);
    let mut file = world.written(&record.finished(result));
    file.as_object_mut().unwrap().remove("mac");
    assert!(Schema::RunRecord.check(&file).is_ok());

    let path = world.store.root().records().path().join(format!("{}.json", file["run_id"].as_str().unwrap()));
    std::fs::write(path, file.to_string()).unwrap();
    let read = world.record(&RunId::parse(file["run_id"].as_str().unwrap()).unwrap());
    let decided = stored(&read, Reason::SavedAndChecked);
    let bound = RunRecord { evidence: evidence(), ..read };
    assert!(world.written(&bound.updated(decided))["mac"].is_string());
}
