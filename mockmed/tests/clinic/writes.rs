//! The store through the API: reset, delete, many at once, every kind of text.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::desk::{Desk, encounter, replayed};
use crate::wire;

#[test]
fn a_reset_clears_rows_numbers_and_the_counter() {
    let desk = Desk::open();
    desk.save("ok", "x", None);
    desk.save("optimistic", "x", None);
    let answer = desk.post("/api/reset", &json!({}));
    assert_eq!((answer.status, answer.json()), (200, json!({ "ok": true })));
    assert_eq!(desk.db(), json!({ "records": [], "rejected_writes": 0 }));
    assert_eq!(desk.save("ok", "y", None).json()["id"], 1);
}

#[test]
fn a_reset_may_have_any_body() {
    let desk = Desk::open();
    for body in ["", "{", "null", "[]", "{\"seed_concurrent\":false}", "{\"seed_concurrent\":\"yes\"}", "\u{0}"] {
        desk.save("ok", "x", None);
        assert_eq!(wire::post(desk.address(), "/api/reset", body).json(), json!({ "ok": true }), "{body}");
        assert_eq!(desk.db()["records"], json!([]), "{body}");
    }
}

#[test]
fn a_seeded_reset_leaves_one_row_of_somebody_else() {
    let desk = Desk::open();
    desk.post("/api/reset", &json!({ "seed_concurrent": true }));
    let db = desk.db();
    let [row] = &db["records"].as_array().unwrap()[..] else { panic!("{db}") };
    assert_eq!((&row["id"], &row["patient_id"], &row["type"]), (&json!(1), &json!("p1"), &json!("Consult")));
    assert_eq!((&row["source"], &row["key"]), (&json!("other"), &Value::Null));
    assert!(row["note"].as_str().unwrap().to_lowercase().contains("allergy"));
    assert_eq!(desk.save("ok", "ours", None).json()["id"], 2);
}

#[test]
fn a_row_is_deleted_once() {
    let desk = Desk::open();
    desk.save("ok", "x", None);
    let host = format!("Host: {}\r\n", desk.address());
    let delete = |id: &str| {
        let answer = wire::send(desk.address(), "DELETE", &format!("/api/encounter/{id}"), &host, "");
        (answer.status, answer.json())
    };
    assert_eq!(delete("1"), (200, json!({ "ok": true, "id": 1 })));
    assert_eq!(delete("1"), (404, json!({ "ok": false, "id": 1 })));
    assert_eq!(delete("-4"), (404, json!({ "ok": false, "id": -4 })));
    let (status, body) = delete("one");
    assert_eq!((status, &body["ok"], body["error"].is_string()), (400, &json!(false), true));
    assert_eq!(desk.save("ok", "y", None).json()["id"], 2);
    let deleted: Vec<Value> = desk.journal().into_iter().filter(|line| line["event"] == "deleted").collect();
    assert_eq!(deleted.iter().map(|line| line["found"].clone()).collect::<Vec<_>>(), [true, false, false]);
}

#[test]
fn every_note_comes_back_as_it_was_sent() {
    let desk = Desk::open();
    let notes = [
        "a".repeat(500),
        "\u{1F469}\u{200D}\u{2695}\u{FE0F}".repeat(125),
        "שלום עולם مرحبا".to_owned(),
        "\"quotes\" 'single' \\back".to_owned(),
        "two\nlines\r\nand\ttabs".to_owned(),
        "<script>alert(1)</script> & <b>".to_owned(),
        "'; DROP TABLE record; --".to_owned(),
        "nul \u{0} inside".to_owned(),
        String::new(),
    ];
    for note in &notes {
        assert_eq!(desk.save("ok", note, None).status, 200);
    }
    assert_eq!(desk.notes(), notes);
    assert_eq!(replayed(&desk.journal()), desk.db());
}

#[test]
fn writes_at_the_same_time_each_get_their_own_row() {
    let desk = Desk::open();
    let (writers, each) = (8, 12);
    let ids: BTreeSet<u64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..writers)
            .map(|writer| {
                let desk = &desk;
                scope.spawn(move || {
                    let save = |turn| desk.save("ok", &format!("{writer}/{turn}"), None).json()["id"].as_u64().unwrap();
                    (0..each).map(save).collect::<Vec<_>>()
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(ids, (1..=writers * each).collect());
    let expected: BTreeSet<String> = (0..writers).flat_map(|w| (0..each).map(move |t| format!("{w}/{t}"))).collect();
    assert_eq!(desk.notes().into_iter().collect::<BTreeSet<_>>(), expected);
    assert_eq!(replayed(&desk.journal()), desk.db());
}

#[test]
fn one_key_makes_one_row_whoever_comes_first() {
    let desk = Desk::open();
    let ids: BTreeSet<u64> = std::thread::scope(|scope| {
        let desk = &desk;
        let threads: Vec<_> = (0..12)
            .map(|turn| {
                scope.spawn(move || desk.save("idempotent", &format!("{turn}"), Some("enc-1")).json()["id"].as_u64())
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap().unwrap()).collect()
    });
    assert_eq!(ids, BTreeSet::from([1]));
    assert_eq!(desk.notes().len(), 1);
    let inserted = desk.journal().into_iter().filter(|line| line["effect"] == "inserted").count();
    assert_eq!(inserted, 1);
}

#[test]
fn the_type_is_triage_unless_it_is_named() {
    let desk = Desk::open();
    desk.post("/api/encounter", &json!({ "patient_id": "p3", "note": "x" }));
    desk.post("/api/encounter", &json!({ "patient_id": "p3", "note": "x", "type": "Consult", "key": null }));
    let types: Vec<Value> = desk.db()["records"].as_array().unwrap().iter().map(|row| row["type"].clone()).collect();
    assert_eq!(types, ["Triage", "Consult"]);
    assert_eq!(desk.post("/api/encounter", &encounter("x", Some("k"))).status, 200);
}
