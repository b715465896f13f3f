use std::fs;
use std::path::PathBuf;

use serde_json::json;

use super::*;
use crate::contract::evidence::TransactionOutcome;
use crate::contract::failed_check::FailedCheck;
use crate::contract::invalid_input::{InputProblem, InvalidInput};
use crate::contract::reason::Reason;
use crate::contract::result::{ResultFacts, RunResult, Technical};
use crate::runs::request_hash::{Era, RequestHash};
use crate::runs::store::RunStore;

fn this_process(store: &RunStore) -> Process {
    Process::Server { id: store.server_id(), pid: std::process::id(), host: owner::this_host() }
}

fn ended(mut record: RunRecord, result: StoredResult) -> RunRecord {
    let finished_at = "2026-11-29T18:38:08.000000+00:00".to_owned();
    record.phase = Phase::Finished(Box::new(Finished { finished_at, updated_at: None, result }));
    record
}

fn updated(mut record: RunRecord, now: StoredResult) -> RunRecord {
    if let Phase::Finished(finished) = &mut record.phase {
        finished.updated_at = Some("2026-11-29T18:39:08.000000+00:00".to_owned());
        finished.result = now;
    }
    record
}

struct World {
    _temp: tempfile::TempDir,
    store: RunStore,
}

impl World {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let store = RunStore::open(&temp.path().join("runs")).unwrap();
        Self { _temp: temp, store }
    }

    fn record(&self) -> RunRecord {
        let request_id = RequestId::parse("req-1").unwrap();
        RunRecord {
            run_id: RunId::random(),
            workflow: Some("add_note".to_owned()),
            mode: Mode::Production,
            started_at: "2026-11-29T18:38:07.371259+00:00".to_owned(),
            process: this_process(&self.store),
            attempt: Some(AttemptOf {
                attempt: Attempt::FIRST,
                ledger_key: RequestHash::of(&request_id).ledger_key(Attempt::FIRST, Era::Ours),
                fingerprint: Fingerprint::parse(&"a".repeat(64)).unwrap(),
            }),
            request_id: Some(request_id),
            phase: Phase::Running,
            evidence: Map::new(),
        }
    }

    fn finished(&self, reason: Reason, facts: ResultFacts) -> RunRecord {
        let record = self.record();
        let result = RunResult {
            reason,
            run_id: Some(record.run_id.clone()),
            request_id: record.request_id.clone(),
            workflow: record.workflow.clone(),
            mode: record.mode,
            replayed: true,
            facts,
        };
        ended(record, StoredResult::of(&result).unwrap())
    }

    fn path(&self, run_id: &RunId) -> PathBuf {
        self.store.root().records().path().join(format!("{run_id}.json"))
    }

    fn read(&self, run_id: &RunId) -> RecordRead {
        self.store.read(run_id).unwrap()
    }

    fn put(&self, run_id: &RunId, text: &str) -> RecordRead {
        fs::write(self.path(run_id), text).unwrap();
        self.read(run_id)
    }
}

fn valid(read: RecordRead) -> RunRecord {
    match read {
        RecordRead::Valid(record) => *record,
        other => panic!("{other:?}"),
    }
}

/// A record in the shape that the Python agent leaves.
fn python_record(run_id: &RunId) -> Value {
    json!({
        "attempt": 1, "fingerprint": "b".repeat(64), "finished_at": "2026-11-29T18:38:41.748993+00:00", "host": "vm",
        "ledger_key": "41dbb578754ddcc06703f53a8587fb04e0a940b9:1", "mode": "production", "pid": 14947,
        "request_id": "req-normal", "run_id": run_id.as_str(), "schema": "openadapt-agent.run/v1",
        "started_at": "2026-11-29T18:38:07.371259+00:00", "state": "finished", "workflow": "add_note",
        "result": {
            "contract_version": "openadapt.run-result/v1", "label": "a label", "mode": "production", "model_calls": 0,
            "next_action": "a sentence", "next_step": "none", "outcome": "done", "proof": "local",
            "reason": "saved_and_checked", "record_changed": "yes", "request_id": "req-normal",
            "run_id": run_id.as_str(), "safe_to_retry": false, "seconds": 10.1,
            "technical": {"execution_outcome": "VERIFIED", "transaction_outcome": "VERIFIED"},
            "what_happened": "a sentence", "workflow": "add_note",
        },
    })
}

#[test]
fn a_running_record_is_read_back_as_it_was_written() {
    let world = World::new();
    let mut record = world.record();
    record.evidence =
        json!({"run_id_sha256": "ab", "weight": 0.1, "deep": {"a": [1e300, 3]}}).as_object().unwrap().clone();
    world.store.write_lightly(&record).unwrap();
    assert_eq!(valid(world.read(&record.run_id)), record);
    assert_eq!(record.owner(), Some(world.store.server_id()));
}

#[test]
fn a_result_is_read_back_as_its_reason_and_facts() {
    let world = World::new();
    let facts = [
        (
            Reason::SavedAndChecked,
            ResultFacts {
                seconds: Some(10.1),
                model_calls: Some(0),
                technical: Technical { transaction: Some(TransactionOutcome::Verified), ..Technical::default() },
                ..ResultFacts::default()
            },
        ),
        (
            Reason::NotReadyToRun,
            ResultFacts {
                failed_checks: vec![FailedCheck::NotCertified, FailedCheck::Other],
                ..ResultFacts::default()
            },
        ),
        (
            Reason::InvalidInput,
            ResultFacts {
                invalid_inputs: vec![
                    InvalidInput { input: "note".to_owned(), problem: InputProblem::Missing },
                    InvalidInput { input: "(unknown)".to_owned(), problem: InputProblem::NotText },
                ],
                ..ResultFacts::default()
            },
        ),
        (Reason::RequestIdConflict, ResultFacts { first_run_id: Some(RunId::random()), ..ResultFacts::default() }),
        (
            Reason::SaveNotConfirmed,
            ResultFacts { needs_attention_id: Some("0123456789abcdef01234567".to_owned()), ..ResultFacts::default() },
        ),
    ];
    for (reason, facts) in facts {
        let record = world.finished(reason, facts.clone());
        world.store.write_lightly(&record).unwrap();
        let read = valid(world.read(&record.run_id));
        assert_eq!((read.result().unwrap().reason, &read.result().unwrap().facts), (reason, &facts));
    }
}

#[test]
fn a_result_that_a_re_read_changed_says_when() {
    let world = World::new();
    let review = world.finished(Reason::PersonNeeded, ResultFacts::default());
    let done = world.finished(Reason::SavedAndChecked, ResultFacts::default()).result().unwrap().clone();
    let updated = updated(review.clone(), done.clone());
    world.store.write_lightly(&updated).unwrap();
    let Phase::Finished(end) = valid(world.read(&review.run_id)).phase else { panic!("not finished") };
    assert_eq!((end.result, end.updated_at.is_some()), (done.clone(), true));
}

#[test]
fn every_terminal_reason_can_be_stored_and_no_other() {
    let world = World::new();
    for reason in Reason::ALL {
        let result = RunResult {
            reason: *reason,
            run_id: None,
            request_id: None,
            workflow: None,
            mode: Mode::Production,
            replayed: false,
            facts: ResultFacts::default(),
        };
        assert_eq!(StoredResult::of(&result).is_some(), reason.is_terminal(), "{reason:?}");
    }
    drop(world);
}

#[test]
fn what_is_written_is_sorted_sealed_and_says_nothing_of_a_replay() {
    let world = World::new();
    let record = world.finished(Reason::Canceled, ResultFacts::default());
    world.store.write_lightly(&record).unwrap();
    let text = fs::read_to_string(world.path(&record.run_id)).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(text, crate::runs::python_json::python_json(&value));
    assert_eq!(value["mac"].as_str().unwrap().len(), 64);
    assert_eq!(value["result"]["outcome"], "did_not_run");
    assert!(value["result"].get("replayed").is_none());
}

#[test]
fn a_record_that_was_edited_is_corrupt_whatever_was_edited() {
    let world = World::new();
    let record = world.finished(Reason::SavedAndChecked, ResultFacts::default());
    world.store.write_lightly(&record).unwrap();
    let good: Value = serde_json::from_slice(&fs::read(world.path(&record.run_id)).unwrap()).unwrap();
    assert!(matches!(world.put(&record.run_id, &good.to_string()), RecordRead::Valid(_)), "other spacing is no edit");
    for (pointer, value) in [
        ("/result/reason", json!("canceled")),
        ("/result/what_happened", json!("another sentence")),
        ("/started_at", json!("2020-01-01T00:00:00+00:00")),
        ("/request_id", json!("req-2")),
        ("/owner", json!("00000000-0000-4000-8000-000000000000")),
        ("/pid", json!(1)),
        ("/mac", json!("00".repeat(32))),
        ("/mac", json!(null)),
        ("/mac", json!(7)),
    ] {
        let mut edited = good.clone();
        *edited.pointer_mut(pointer).unwrap() = value;
        assert_eq!(world.put(&record.run_id, &edited.to_string()), RecordRead::Corrupt, "{pointer}");
    }
    for gone in ["mac", "owner", "workflow", "result"] {
        let mut edited = good.clone();
        edited.as_object_mut().unwrap().shift_remove(gone);
        assert_eq!(world.put(&record.run_id, &edited.to_string()), RecordRead::Corrupt, "without {gone}");
    }
    let mut added = good.clone();
    added["evidence"] = json!({"x": 1});
    assert_eq!(world.put(&record.run_id, &added.to_string()), RecordRead::Corrupt);
}

#[test]
fn a_record_without_its_owner_and_seal_is_still_known_as_ours_by_its_key() {
    let world = World::new();
    let record = world.finished(Reason::Canceled, ResultFacts::default());
    world.store.write_lightly(&record).unwrap();
    let mut value: Value = serde_json::from_slice(&fs::read(world.path(&record.run_id)).unwrap()).unwrap();
    for key in ["mac", "owner"] {
        value.as_object_mut().unwrap().shift_remove(key);
    }
    assert_eq!(world.put(&record.run_id, &value.to_string()), RecordRead::Corrupt);
}

#[test]
fn a_truncated_oversized_or_foreign_file_is_corrupt() {
    let world = World::new();
    let (record, other) = (world.record(), world.record());
    world.store.write_lightly(&record).unwrap();
    let good = fs::read_to_string(world.path(&record.run_id)).unwrap();
    for bad in ["", "null", "[]", "7", "\"x\"", "{}", &good[..good.len() / 2], &good[..good.len() - 1]] {
        assert_eq!(world.put(&record.run_id, bad), RecordRead::Corrupt, "{bad:.40}");
    }
    let padded = format!("{good}{}", " ".repeat(1 << 20));
    assert_eq!(world.put(&record.run_id, &padded), RecordRead::Corrupt);
    assert_eq!(world.put(&record.run_id, &"[".repeat(100_000)), RecordRead::Corrupt);
    assert_eq!(world.put(&other.run_id, &good), RecordRead::Corrupt, "it speaks of another run");
    fs::write(world.path(&record.run_id), [0xff, 0xfe]).unwrap();
    assert_eq!(world.read(&record.run_id), RecordRead::Corrupt);
    assert_eq!(world.read(&RunId::random()), RecordRead::Missing);
}

#[test]
fn a_record_behind_a_symlink_is_corrupt() {
    let world = World::new();
    let (record, link) = (world.record(), RunId::random());
    world.store.write_lightly(&record).unwrap();
    std::os::unix::fs::symlink(world.path(&record.run_id), world.path(&link)).unwrap();
    assert_eq!(world.read(&link), RecordRead::Corrupt);
}

#[test]
fn a_corrupt_record_is_kept_beside_the_one_that_replaces_it() {
    let world = World::new();
    let record = world.record();
    fs::write(world.path(&record.run_id), "half a rec").unwrap();
    world.store.set_aside(&record.run_id).unwrap();
    world.store.write_lightly(&record).unwrap();
    assert_eq!(valid(world.read(&record.run_id)), record);
    let aside = format!("{}.corrupt-1", world.path(&record.run_id).display());
    assert_eq!(fs::read_to_string(aside).unwrap(), "half a rec");
}

#[test]
fn a_record_of_the_python_agent_is_believed_without_a_seal_but_only_its_closed_facts() {
    let (world, run_id) = (World::new(), RunId::random());
    let record = valid(world.put(&run_id, &python_record(&run_id).to_string()));
    let result = record.result().unwrap();
    assert_eq!(result.reason, Reason::SavedAndChecked);
    assert_eq!((result.facts.seconds, result.facts.model_calls), (Some(10.1), Some(0)));
    assert_eq!(result.facts.technical.transaction, Some(TransactionOutcome::Verified));
    assert_eq!(record.process, Process::Python { pid: Some(14947), host: Some("vm".to_owned()) });
    assert_eq!(record.attempt.unwrap().ledger_key.era(), Era::Python);
}

#[test]
fn a_python_record_of_a_wrong_type_or_against_itself_is_corrupt() {
    let (world, run_id) = (World::new(), RunId::random());
    for (pointer, value) in [
        ("/result", json!(null)),
        ("/result", json!({})),
        ("/result", json!([])),
        ("/result/reason", json!("running")),
        ("/result/reason", json!("waiting_for_approval")),
        ("/result/reason", json!("a reason of its own")),
        ("/result/reason", json!("canceled")),
        ("/result/outcome", json!("did_not_run")),
        ("/result/safe_to_retry", json!(true)),
        ("/result/record_changed", json!("no")),
        ("/result/seconds", json!("10.1")),
        ("/result/seconds", json!(-1.0)),
        ("/result/model_calls", json!(1.5)),
        ("/result/technical", json!("text")),
        ("/result/technical/transaction_outcome", json!("FINE")),
        ("/schema", json!("openadapt-agent.run/v2")),
        ("/state", json!("paused")),
        ("/state", json!("running")),
        ("/mode", json!("demo")),
        ("/request_id", json!("req-other")),
        ("/request_id", json!(null)),
        ("/attempt", json!(2)),
        ("/attempt", json!("1")),
        ("/ledger_key", json!("x:1")),
        ("/fingerprint", json!("short")),
        ("/workflow", json!("some text with <b>markup</b>")),
        ("/pid", json!("14947")),
        ("/run_id", json!("run-other")),
    ] {
        let mut edited = python_record(&run_id);
        *edited.pointer_mut(pointer).unwrap() = value.clone();
        assert_eq!(world.put(&run_id, &edited.to_string()), RecordRead::Corrupt, "{pointer} {value}");
    }
}

#[test]
fn free_text_in_a_python_record_never_comes_back() {
    let (world, run_id) = (World::new(), RunId::random());
    let mut record = python_record(&run_id);
    for key in ["attempt", "fingerprint", "ledger_key"] {
        record.as_object_mut().unwrap().shift_remove(key);
    }
    record["result"] = json!({
        "outcome": "did_not_run", "reason": "invalid_input", "safe_to_retry": true, "record_changed": "no",
        "what_happened": "SECRET", "label": "SECRET", "extra": "SECRET",
        "invalid_inputs": [{"input": "SECRET name", "problem": "SECRET"}, {"input": "note", "problem": "is too long"}],
    });
    let record = valid(world.put(&run_id, &record.to_string()));
    let facts = &record.result().unwrap().facts;
    assert!(!format!("{:?} {facts:?}", record.result().unwrap().reason).contains("SECRET"));
    assert_eq!(
        facts.invalid_inputs[0],
        InvalidInput { input: "(unknown)".to_owned(), problem: InputProblem::NotValid }
    );
    assert_eq!(facts.invalid_inputs[1], InvalidInput { input: "note".to_owned(), problem: InputProblem::TooLong });
}

#[test]
fn evidence_in_a_record_without_a_seal_is_no_evidence() {
    let (world, run_id) = (World::new(), RunId::random());
    let mut record = python_record(&run_id);
    record["evidence"] = json!({"run_id_sha256": "made up"});
    assert!(valid(world.put(&run_id, &record.to_string())).evidence.is_empty());
}
