//! The journal as a file: it agrees with the store, goes on counting, and belongs to one server.

use mockmed::{Options, StartError, start};
use proptest::prelude::*;
use schemas::Schema;
use serde_json::json;

use crate::desk::{Desk, encounter, read_journal, replayed};
use crate::wire;

#[test]
fn it_begins_and_ends_with_the_server() {
    let mut desk = Desk::open();
    desk.stop();
    let lines = desk.journal();
    let events: Vec<&str> = lines.iter().map(|line| line["event"].as_str().unwrap()).collect();
    assert_eq!(events, ["started", "stopped"]);
    assert_eq!(lines[0]["pid"], std::process::id());
}

#[test]
fn a_second_server_goes_on_where_the_first_ended() {
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("journal.jsonl");
    let options =
        Options { journal: Some(journal.clone()), db: Some(folder.path().join("clinic.sqlite")), ..Options::default() };
    for _ in 0..2 {
        let running = start(&options).unwrap();
        wire::post(running.address(), "/api/encounter", &encounter("x", None).to_string());
        running.stop().unwrap();
    }
    let lines = read_journal(&journal);
    let writes: Vec<u64> =
        lines.iter().filter(|line| line["event"] == "told").map(|line| line["write"].as_u64().unwrap()).collect();
    assert_eq!(writes, [1, 2]);
    let restarted = lines.iter().filter(|line| line["event"] == "started").nth(1).unwrap();
    assert_eq!(restarted["records"].as_array().unwrap().len(), 1);
}

#[test]
fn a_torn_last_line_stays_alone_and_spoils_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("journal.jsonl");
    std::fs::write(
        &journal,
        "{\"seq\":7,\"at\":\"2026-01-01T00:00:00.000000+00:00\",\"event\":\"stopped\"}\n{\"seq\":8,\"a",
    )
    .unwrap();
    start(&Options { journal: Some(journal.clone()), ..Options::default() }).unwrap().stop().unwrap();
    let text = std::fs::read_to_string(&journal).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[1], "{\"seq\":8,\"a");
    assert!(lines[2].starts_with("{\"seq\":8,"), "{}", lines[2]);
}

#[test]
fn two_servers_never_share_a_journal() {
    let desk = Desk::open();
    let options = Options { journal: Some(desk.journal_path()), ..Options::default() };
    let refused = start(&options).unwrap_err();
    assert!(matches!(refused, StartError::Journal(_)));
    assert!(refused.to_string().ends_with("journal.jsonl is in use by another process"), "{refused}");
}

#[cfg(unix)]
#[test]
fn it_is_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let desk = Desk::open();
    let mode = std::fs::metadata(desk.journal_path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[cfg(unix)]
#[test]
fn a_device_is_no_journal() {
    let refused = start(&Options { journal: Some("/dev/zero".into()), ..Options::default() }).unwrap_err();
    assert_eq!(refused.to_string(), "the journal /dev/zero is not a regular file");
}

#[test]
fn the_schema_refuses_a_line_that_says_two_things() {
    let line = |fields: serde_json::Value| {
        let mut line = json!({ "seq": 1, "at": "2026-01-01T00:00:00.000000+00:00" });
        line.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        Schema::MockmedJournalLine.check(&line)
    };
    let nothing = json!({ "event": "stored", "write": 1, "effect": "nothing", "record": null, "removed": [], "rejected_writes": 0 });
    assert!(line(nothing.clone()).is_ok());
    let mut claims_a_row = nothing.clone();
    claims_a_row["effect"] = json!("inserted");
    assert!(line(claims_a_row).is_err());
    assert!(line(json!({ "event": "told", "write": 1, "status": null, "body": {} })).is_err());
    assert!(line(json!({ "event": "told", "write": 1, "status": 200, "body": null })).is_err());
    assert!(
        line(json!({ "event": "attempt", "write": 1, "fault": "ok", "bytes": 2, "asked": null, "problem": null }))
            .is_err()
    );
    assert!(line(json!({ "event": "stopped", "more": 1 })).is_err());
    assert!(
        line(json!({ "event": "started", "pid": 1, "url": "http://0.0.0.0:1/", "records": [], "rejected_writes": 0 }))
            .is_err()
    );
}

#[derive(Debug, Clone)]
enum Step {
    Save { fault: &'static str, patient: &'static str, key: Option<&'static str> },
    Reset { seeded: bool },
    Delete { id: u8 },
    Garbage,
}

fn step() -> impl Strategy<Value = Step> {
    let fault =
        prop::sample::select(vec!["ok", "partial", "optimistic", "session", "stale", "double", "idempotent", "x"]);
    let key = prop::option::of(prop::sample::select(vec!["k1", "k2"]));
    let patient = prop::sample::select(vec!["p1", "p2"]);
    prop_oneof![
        8 => (fault, patient, key).prop_map(|(fault, patient, key)| Step::Save { fault, patient, key }),
        1 => any::<bool>().prop_map(|seeded| Step::Reset { seeded }),
        2 => (1u8..6).prop_map(|id| Step::Delete { id }),
        1 => Just(Step::Garbage),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn the_journal_alone_tells_what_the_store_holds(steps in prop::collection::vec(step(), 1..24)) {
        let desk = Desk::open();
        for step in steps {
            match step {
                Step::Save { fault, patient, key } => {
                    let body = json!({ "patient_id": patient, "note": "n", "key": key });
                    let answer = desk.post(&format!("/api/encounter?fault={fault}"), &body);
                    let told = desk.told().pop().unwrap();
                    prop_assert_eq!(&told["status"], answer.status);
                    prop_assert_eq!(&told["body"], &answer.json());
                }
                Step::Reset { seeded } => drop(desk.post("/api/reset", &json!({ "seed_concurrent": seeded }))),
                Step::Delete { id } => {
                    let host = format!("Host: {}\r\n", desk.address());
                    wire::send(desk.address(), "DELETE", &format!("/api/encounter/{id}"), &host, "");
                }
                Step::Garbage => drop(wire::post(desk.address(), "/api/encounter?fault=stale", "{")),
            }
            prop_assert_eq!(replayed(&desk.journal()), desk.db());
        }
    }
}
