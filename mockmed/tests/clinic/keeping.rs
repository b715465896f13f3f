//! `--db`: what a file keeps, and which files are refused.

use std::path::Path;

use mockmed::{Options, Running, StartError, start};
use serde_json::{Value, json};

use crate::desk::encounter;
use crate::wire;

fn open(db: &Path) -> Result<Running, StartError> {
    start(&Options { db: Some(db.to_owned()), ..Options::default() })
}

fn records(running: &Running) -> Value {
    wire::get(running.address(), "/api/db").json()
}

#[test]
fn a_file_keeps_rows_keys_numbers_and_the_counter() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("clinic.sqlite");
    let first = open(&db).unwrap();
    wire::post(first.address(), "/api/encounter?fault=ok", &encounter("kept \u{0} אב", Some("k1")).to_string());
    wire::post(first.address(), "/api/encounter?fault=ok", &encounter("second", None).to_string());
    wire::post(first.address(), "/api/encounter?fault=optimistic", &encounter("never", None).to_string());
    let headers = format!("Host: {}\r\n", first.address());
    wire::send(first.address(), "DELETE", "/api/encounter/2", &headers, "");
    let before = records(&first);
    first.stop().unwrap();

    let second = open(&db).unwrap();
    assert_eq!(records(&second), before);
    assert_eq!(before["rejected_writes"], 1);
    let again = wire::post(second.address(), "/api/encounter", &encounter("other", Some("k1")).to_string());
    assert_eq!(again.json()["id"], 1);
    let fresh = wire::post(second.address(), "/api/encounter", &encounter("third", None).to_string());
    assert_eq!(fresh.json()["id"], 3);
}

#[test]
fn without_a_file_nothing_is_kept() {
    let first = start(&Options::default()).unwrap();
    wire::post(first.address(), "/api/encounter", &encounter("gone", None).to_string());
    first.stop().unwrap();
    let second = start(&Options::default()).unwrap();
    assert_eq!(records(&second), json!({ "records": [], "rejected_writes": 0 }));
}

#[test]
fn two_servers_never_share_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("clinic.sqlite");
    let first = open(&db).unwrap();
    let refused = open(&db).unwrap_err();
    assert!(refused.to_string().ends_with("clinic.sqlite is in use by another process"), "{refused}");
    assert!(refused.hint().starts_with("give each server a file of its own"));
    first.stop().unwrap();
    assert!(open(&db).is_ok());
}

#[test]
fn a_file_that_is_something_else_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("notes.txt");
    std::fs::write(&text, "not a database at all, but long enough to be taken for one by its size alone").unwrap();
    let before = std::fs::read(&text).unwrap();
    assert!(open(&text).unwrap_err().to_string().ends_with("notes.txt is not a MockMed record store"));
    assert_eq!(std::fs::read(&text).unwrap(), before);

    let foreign = folder.path().join("other.sqlite");
    let other = rusqlite::Connection::open(&foreign).unwrap();
    other.execute_batch("CREATE TABLE record (x)").unwrap();
    drop(other);
    assert!(open(&foreign).unwrap_err().to_string().ends_with("other.sqlite is not a MockMed record store"));

    let nowhere = open(&folder.path().join("missing/clinic.sqlite")).unwrap_err();
    assert!(nowhere.to_string().contains("can't be opened"), "{nowhere}");
}
