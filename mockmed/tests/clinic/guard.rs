//! Who may ask, what an answer carries, and what a bad request gets.

use serde_json::{Value, json};

use crate::desk::{Desk, encounter};
use crate::wire::{self, exchange, head};

#[test]
fn it_listens_on_the_loopback_address_only() {
    let desk = Desk::open();
    assert!(desk.address().ip().is_loopback());
    assert_eq!(desk.journal()[0]["url"], format!("http://{}/", desk.address()));
}

#[test]
fn every_answer_carries_the_headers_that_keep_the_app_to_itself() {
    let desk = Desk::open();
    let refused = exchange(desk.address(), &head("GET", "/", "Host: clinic.example\r\n")).unwrap();
    for answer in [
        wire::get(desk.address(), "/"),
        wire::get(desk.address(), "/app.js"),
        wire::get(desk.address(), "/api/db"),
        wire::get(desk.address(), "/nowhere"),
        wire::post(desk.address(), "/api/encounter", "{"),
        refused,
    ] {
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("x-frame-options"), Some("DENY"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(answer.header("cross-origin-opener-policy"), Some("same-origin"));
        assert_eq!(answer.header("cross-origin-resource-policy"), Some("same-origin"));
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
}

#[test]
fn only_its_own_names_are_answered() {
    let desk = Desk::open();
    let port = desk.address().port();
    let status = |headers: &str| exchange(desk.address(), &head("GET", "/api/db", headers)).unwrap().status;
    assert_eq!(status(&format!("Host: 127.0.0.1:{port}\r\n")), 200);
    assert_eq!(status(&format!("Host: localhost:{port}\r\n")), 200);
    for host in ["clinic.example", "127.0.0.1", "127.0.0.1:1", &format!("127.0.0.1:{port}.example"), ""] {
        assert_eq!(status(&format!("Host: {host}\r\n")), 421, "{host}");
    }
    assert_eq!(status(""), 421);
    assert_eq!(status(&format!("Host: 127.0.0.1:{port}\r\nHost: clinic.example\r\n")), 421);
    let absolute = head("GET", "http://clinic.example/api/db", &format!("Host: 127.0.0.1:{port}\r\n"));
    assert_eq!(exchange(desk.address(), &absolute).unwrap().status, 421);
}

#[test]
fn a_write_through_another_host_name_changes_nothing() {
    let desk = Desk::open();
    let body = encounter("rebound", None).to_string();
    let answer = wire::send(desk.address(), "POST", "/api/encounter", "Host: clinic.example\r\n", &body);
    assert_eq!((answer.status, &answer.json()["ok"]), (421, &json!(false)));
    assert_eq!(desk.notes(), [""; 0]);
}

#[test]
fn a_page_of_another_site_changes_nothing() {
    let desk = Desk::open();
    let host = format!("Host: {}\r\n", desk.address());
    for origin in ["http://clinic.example", "null", "https://127.0.0.1", "http://127.0.0.1:1"] {
        let headers = format!("{host}Origin: {origin}\r\n");
        for path in ["/api/encounter", "/api/reset"] {
            let answer = wire::send(desk.address(), "POST", path, &headers, &encounter("x", None).to_string());
            assert_eq!(answer.status, 403, "{origin} {path}");
        }
        assert_eq!(wire::send(desk.address(), "DELETE", "/api/encounter/1", &headers, "").status, 403);
    }
    let own = format!("{host}Origin: http://{}\r\n", desk.address());
    assert_eq!(
        wire::send(desk.address(), "POST", "/api/encounter", &own, &encounter("own", None).to_string()).status,
        200
    );
    assert_eq!(desk.notes(), ["own"]);
}

#[test]
fn bad_json_is_a_clear_400_and_nothing_is_lost() {
    let desk = Desk::open();
    desk.save("ok", "before", None);
    for (body, error, problem) in [
        ("{\"patient_id\": \"p1\",", "the body is not JSON: EOF while parsing", "bad_json"),
        ("", "the body is not JSON: EOF while parsing", "bad_json"),
        ("{\"patient_id\":\"p1\",\"note\":\"\\ud800\"}", "the body is not JSON: ", "bad_json"),
        ("[1]", "the body must be a JSON object", "bad_field"),
        ("{\"patient_id\":\"p1\"}", "the field note is missing", "bad_field"),
        ("{\"patient_id\":\"\",\"note\":\"x\"}", "the field patient_id must have 1 to 64 characters", "bad_field"),
        ("{\"patient_id\":\"p1\",\"note\":{}}", "the field note must be text", "bad_field"),
    ] {
        for fault in ["ok", "stale", "optimistic", "timeout"] {
            let answer = wire::post(desk.address(), &format!("/api/encounter?fault={fault}"), body);
            assert_eq!((answer.status, &answer.json()["ok"]), (400, &json!(false)), "{body}");
            assert!(answer.json()["error"].as_str().unwrap().starts_with(error), "{}", answer.body);
            let lines = desk.journal();
            let [.., attempt, told] = &lines[..] else { panic!("{lines:?}") };
            assert_eq!((&attempt["problem"], &attempt["asked"]), (&json!(problem), &Value::Null));
            assert_eq!((&told["event"], &told["status"]), (&json!("told"), &json!(400)));
        }
    }
    assert_eq!(desk.db()["rejected_writes"], 0);
    assert_eq!(desk.notes(), ["before"]);
    assert_eq!(desk.save("ok", "after", None).status, 200);
}

#[test]
fn deeply_nested_json_is_refused_like_any_other_bad_json() {
    let desk = Desk::open();
    let answer = wire::post(desk.address(), "/api/encounter", &"[".repeat(60_000));
    assert_eq!((answer.status, &answer.json()["ok"]), (400, &json!(false)));
}

#[test]
fn a_body_over_the_limit_is_refused_and_noted() {
    let desk = Desk::open();
    let over = 64 * 1024 + 1;
    let request = head("POST", "/api/encounter", &format!("Host: {}\r\nContent-Length: {over}\r\n", desk.address()));
    let answer = exchange(desk.address(), &request).unwrap();
    assert_eq!((answer.status, &answer.json()["error"]), (413, &json!("the body is larger than 65536 bytes")));
    let lines = desk.journal();
    assert_eq!((&lines[1]["problem"], &lines[1]["bytes"]), (&json!("too_large"), &json!(over)));

    let chunk = "a".repeat(over);
    let headers = format!("Host: {}\r\nTransfer-Encoding: chunked\r\n", desk.address());
    let chunked = format!("{}{over:x}\r\n{chunk}\r\n0\r\n\r\n", head("POST", "/api/reset", &headers));
    assert_eq!(exchange(desk.address(), &chunked).unwrap().status, 413);
    assert_eq!(desk.notes(), [""; 0]);
}

#[test]
fn a_note_that_fills_the_limit_is_stored_whole() {
    let desk = Desk::open();
    let room = 64 * 1024 - encounter("", None).to_string().len();
    let note = "ü".repeat(room / 2);
    assert_eq!(desk.save("ok", &note, None).status, 200);
    assert_eq!(desk.notes(), [note]);
}

#[test]
fn a_body_that_stops_coming_is_refused_after_a_while_and_noted() {
    let desk = Desk::open_with(|options| options.body_within = std::time::Duration::from_millis(30));
    let request = head("POST", "/api/encounter", &format!("Host: {}\r\nContent-Length: 100\r\n", desk.address()));
    let answer = exchange(desk.address(), &(request + "{\"patient_id\"")).unwrap();
    assert_eq!((answer.status, &answer.json()["error"]), (400, &json!("the body did not come whole")));
    let lines = desk.journal();
    assert_eq!((&lines[1]["problem"], &lines[1]["bytes"]), (&json!("unreadable"), &json!(100)));
    assert_eq!(desk.notes(), [""; 0]);
}

#[test]
fn whatever_is_not_there_is_not_found_in_json() {
    let desk = Desk::open();
    let host = format!("Host: {}\r\n", desk.address());
    for (method, path) in [
        ("POST", "/"),
        ("POST", "/api/db"),
        ("POST", "/api/nothing"),
        ("DELETE", "/api/encounter"),
        ("GET", "/api/nothing"),
        ("PUT", "/api/reset"),
    ] {
        let answer = wire::send(desk.address(), method, path, &host, "");
        assert_eq!(
            (answer.status, answer.json()),
            (404, json!({ "ok": false, "error": "not found" })),
            "{method} {path}"
        );
    }
}
