//! Each fault mode: what the client is told, what is stored, what the journal says.

use serde_json::{Value, json};

use crate::desk::{Desk, LATE_BY, encounter};
use crate::wire;

const KEY: &str = "mockmed-triage-p1-v1";

fn row(id: i64, note: &str, key: Option<&str>) -> Value {
    json!({ "id": id, "patient_id": "p1", "type": "Triage", "note": note, "source": "replay", "key": key })
}

/// The journal's lines about one write, without number and time.
fn about(desk: &Desk, write: u64) -> Vec<Value> {
    let strip = |mut line: Value| {
        let fields = line.as_object_mut().unwrap();
        fields.retain(|name, _| !matches!(name.as_str(), "seq" | "at" | "write"));
        line
    };
    desk.journal().into_iter().filter(|line| line["write"] == write).map(strip).collect()
}

fn attempt(fault: &str, asked: Value) -> Value {
    let bytes = encounter(asked["note"].as_str().unwrap(), asked["key"].as_str()).to_string().len();
    json!({ "event": "attempt", "fault": fault, "bytes": bytes, "asked": asked, "problem": null })
}

fn asked(note: &str, key: Option<&str>) -> Value {
    json!({ "patient_id": "p1", "type": "Triage", "note": note, "key": key })
}

#[test]
fn ok_stores_the_row_and_says_so() {
    let desk = Desk::open();
    let answer = desk.save("ok", "first", Some(KEY));
    assert_eq!((answer.status, answer.json()), (200, json!({ "ok": true, "id": 1 })));
    assert_eq!(desk.db(), json!({ "records": [row(1, "first", Some(KEY))], "rejected_writes": 0 }));
    assert_eq!(
        about(&desk, 1),
        [
            attempt("ok", asked("first", Some(KEY))),
            json!({ "event": "stored", "effect": "inserted", "record": row(1, "first", Some(KEY)), "removed": [], "rejected_writes": 0 }),
            json!({ "event": "told", "status": 200, "body": { "ok": true, "id": 1 } }),
        ]
    );
}

#[test]
fn partial_loses_the_note_and_still_says_saved() {
    let desk = Desk::open();
    let answer = desk.save("partial", "lost", None);
    assert_eq!((answer.status, answer.json()), (200, json!({ "ok": true, "id": 1, "partial": true })));
    assert_eq!(desk.db()["records"], json!([row(1, "", None)]));
    let lines = about(&desk, 1);
    assert_eq!((&lines[0]["asked"]["note"], &lines[1]["record"]["note"]), (&json!("lost"), &json!("")));
}

#[test]
fn optimistic_stores_nothing_and_counts_the_rejection() {
    let desk = Desk::open();
    assert_eq!(desk.save("optimistic", "never", Some(KEY)).status, 409);
    let answer = desk.save("optimistic", "never", None);
    assert_eq!((answer.status, &answer.json()["ok"]), (409, &json!(false)));
    assert_eq!(desk.db(), json!({ "records": [], "rejected_writes": 2 }));
    let lines = about(&desk, 2);
    assert_eq!(
        lines[1],
        json!({ "event": "stored", "effect": "nothing", "record": null, "removed": [], "rejected_writes": 2 })
    );
    assert_eq!(lines[2]["status"], 409);
}

#[test]
fn session_stores_nothing_and_counts_nothing() {
    let desk = Desk::open();
    let answer = desk.save("session", "never", None);
    assert_eq!((answer.status, &answer.json()["ok"]), (401, &json!(false)));
    assert_eq!(desk.db(), json!({ "records": [], "rejected_writes": 0 }));
    let lines = about(&desk, 1);
    assert_eq!((&lines[1]["effect"], &lines[2]["status"]), (&json!("nothing"), &json!(401)));
}

#[test]
fn timeout_stores_first_and_answers_late() {
    let desk = Desk::open();
    let began = std::time::Instant::now();
    let answer = desk.save("timeout", "late", None);
    assert!(began.elapsed() >= LATE_BY);
    assert_eq!((answer.status, answer.json()), (200, json!({ "ok": true, "id": 1 })));
    let events: Vec<Value> = about(&desk, 1).into_iter().map(|line| line["event"].clone()).collect();
    assert_eq!(events, ["attempt", "stored", "told"]);
}

#[test]
fn timeout_is_three_seconds_late_unless_a_test_says_otherwise() {
    assert_eq!(mockmed::Options::default().late_by.as_millis(), 3000);
}

#[test]
fn a_client_that_leaves_before_the_late_answer_was_told_nothing() {
    let mut desk = Desk::open_with(|options| options.late_by = std::time::Duration::from_secs(3600));
    let body = encounter("stored anyway", None).to_string();
    let request = wire::head(
        "POST",
        "/api/encounter?fault=timeout",
        &format!("Host: {}\r\nContent-Length: {}\r\n", desk.address(), body.len()),
    );
    let mut stream = wire::open(desk.address()).unwrap();
    std::io::Write::write_all(&mut stream, (request + &body).as_bytes()).unwrap();
    wait_for(&desk, |desk| desk.notes() == ["stored anyway"]);
    assert_eq!(desk.told().len(), 0);
    drop(stream);
    wait_for(&desk, |desk| desk.told().len() == 1);
    assert_eq!((&desk.told()[0]["status"], &desk.told()[0]["body"]), (&Value::Null, &Value::Null));
    desk.stop();
}

#[test]
fn a_stop_during_the_late_answer_is_noted_as_nobody_told() {
    let mut desk = Desk::open_with(|options| options.late_by = std::time::Duration::from_secs(3600));
    let body = encounter("stored anyway", None).to_string();
    let headers = format!("Host: {}\r\nContent-Length: {}\r\n", desk.address(), body.len());
    let mut stream = wire::open(desk.address()).unwrap();
    let request = wire::head("POST", "/api/encounter?fault=timeout", &headers) + &body;
    std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
    wait_for(&desk, |desk| desk.notes().len() == 1);
    desk.stop();
    let events: Vec<Value> = desk.journal().into_iter().map(|line| line["event"].clone()).collect();
    assert_eq!(events, ["started", "attempt", "stored", "told", "stopped"]);
    assert_eq!(desk.told()[0]["status"], Value::Null);
    assert!(wire::read(&mut stream).is_err());
}

#[test]
fn stale_removes_what_others_wrote_about_the_patient() {
    let desk = Desk::open();
    desk.post("/api/reset", &json!({ "seed_concurrent": true }));
    desk.post("/api/encounter?fault=ok", &json!({ "patient_id": "p2", "note": "another patient" }));
    assert_eq!(desk.save("stale", "ours", None).json(), json!({ "ok": true, "id": 3 }));
    assert_eq!(desk.notes(), ["another patient", "ours"]);
    assert_eq!(about(&desk, 2)[1]["removed"], json!([1]));
}

#[test]
fn duplicate_and_double_store_each_post() {
    for mode in ["duplicate", "double"] {
        let desk = Desk::open();
        let ids: Vec<Value> = (0..2).map(|_| desk.save(mode, "twice", None).json()["id"].clone()).collect();
        assert_eq!((ids, desk.notes()), (vec![json!(1), json!(2)], vec!["twice".to_owned(); 2]), "{mode}");
        assert_eq!(about(&desk, 2)[0]["fault"], mode);
    }
}

#[test]
fn a_key_makes_one_row_of_two_posts_in_every_mode_that_stores() {
    for mode in ["idempotent", "duplicate", "double", "ok", "", "stale"] {
        let desk = Desk::open();
        let ids: Vec<Value> =
            ["one", "two"].map(|note| desk.save(mode, note, Some("enc-7")).json()["id"].clone()).into();
        if mode == "stale" {
            assert_eq!((ids, desk.notes()), (vec![json!(1), json!(2)], vec!["two".to_owned()]), "{mode}");
        } else {
            assert_eq!((ids, desk.notes()), (vec![json!(1), json!(1)], vec!["one".to_owned()]), "{mode}");
            assert_eq!(about(&desk, 2)[1]["effect"], "kept", "{mode}");
        }
    }
}

#[test]
fn the_demo_key_keeps_the_note_of_the_first_run_until_a_reset() {
    let desk = Desk::open();
    desk.save("ok", "first run", Some(KEY));
    desk.save("ok", "second run", Some(KEY));
    assert_eq!(desk.notes(), ["first run"]);
    desk.post("/api/reset", &json!({}));
    desk.save("ok", "second run", Some(KEY));
    assert_eq!(desk.db()["records"], json!([row(1, "second run", Some(KEY))]));
}

#[test]
fn an_absent_mode_and_an_unknown_one_store_like_ok() {
    let desk = Desk::open();
    assert_eq!(desk.post("/api/encounter", &encounter("a", None)).status, 200);
    assert_eq!(desk.save("", "b", None).status, 200);
    assert_eq!(desk.save("never%20heard", "c", None).status, 200);
    assert_eq!(desk.notes(), ["a", "b", "c"]);
    let modes: Vec<Value> = (1..4).map(|write| about(&desk, write)[0]["fault"].clone()).collect();
    assert_eq!(modes, ["none", "none", "other"]);
}

/// Asks again until it holds; a request lies between two questions, and the deadline is far.
fn wait_for(desk: &Desk, holds: impl Fn(&Desk) -> bool) {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while !holds(desk) {
        assert!(std::time::Instant::now() < deadline, "it never came to hold");
        desk.db();
    }
}
