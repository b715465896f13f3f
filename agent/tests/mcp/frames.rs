//! Lines that are broken, odd, long or doubled.

use serde_json::{Value, json};

use crate::world::{Client, call, cancel, request};

const CAP: usize = 4 * 1024 * 1024;

fn padded_call(id: &str, to: usize) -> Vec<u8> {
    let frame =
        format!(r#"{{"jsonrpc":"2.0","method":"tools/call","params":{{"name":"big","x":""}},"id":{id}}}"#).len();
    let pad = "x".repeat(to - frame);
    format!(r#"{{"jsonrpc":"2.0","method":"tools/call","params":{{"name":"big","x":"{pad}"}},"id":{id}}}"#).into_bytes()
}

#[tokio::test]
async fn what_is_no_json_gets_a_parse_error_to_its_id_and_the_connection_lives() {
    let deep = format!(r#"{{"jsonrpc":"2.0","id":4,"method":"ping","params":{}{}}}"#, "[".repeat(130), "]".repeat(130));
    let cases: [(&[u8], Option<Value>); 7] = [
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"x\":\"\xff\"}}", Some(json!(1))),
        (br#"{"jsonrpc":"2.0","id":2,"method":"ping","params":{"x":"\ud800"}}"#, Some(json!(2))),
        (br#"{"jsonrpc":"2.0","id":"","method":"ping","params":{"x":NaN}}"#, Some(json!(""))),
        (deep.as_bytes(), Some(json!(4))),
        ("\u{feff}{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"ping\"}".as_bytes(), Some(json!(0))),
        (br#"{"jsonrpc":"2.0","id":6,"method":"ping""#, Some(json!(6))),
        (b"print on stdin", None),
    ];
    let mut fresh = Client::connect();
    let mut client = Client::legacy("2025-11-25").await;
    for (line, id) in cases {
        assert_eq!(fresh.error_of(line).await, (id.clone(), -32700));
        assert_eq!(client.error_of(line).await, (id, -32700));
    }
    client.nothing_else_comes().await;
    fresh.initialize("2025-11-25", json!({})).await;
}

#[tokio::test]
async fn a_bad_envelope_gets_an_invalid_request_to_its_id() {
    let mut client = Client::legacy("2025-11-25").await;
    for (message, id) in [
        (json!({ "id": 1, "method": "ping" }), Some(json!(1))),
        (json!({ "jsonrpc": "1.0", "id": "1", "method": "ping" }), Some(json!("1"))),
        (json!({ "jsonrpc": "2.0", "id": 2, "method": 5 }), Some(json!(2))),
        (json!({ "jsonrpc": "2.0", "id": 3 }), Some(json!(3))),
        (json!({ "jsonrpc": "2.0", "id": null, "method": "ping" }), None),
        (json!({ "jsonrpc": "2.0", "id": 1.5, "method": "ping" }), None),
        (json!({ "jsonrpc": "2.0", "id": [], "method": "ping" }), None),
        (json!("ping"), None),
    ] {
        assert_eq!(client.error_of(message.to_string().as_bytes()).await, (id, -32600), "{message}");
    }
    client.nothing_else_comes().await;
}

#[tokio::test]
async fn every_id_comes_back_as_it_was_written() {
    let mut client = Client::legacy("2025-11-25").await;
    for id in [json!(0), json!(""), json!("1"), json!(1), json!(-1), json!(u64::MAX), json!("null"), json!("\u{2028}")]
    {
        assert_eq!(client.ask(&call(id.clone(), "echo", json!({}))).await["id"], id);
        assert_eq!(client.ask(&request(id.clone(), "made/up", json!({}))).await["id"], id);
    }
}

#[tokio::test]
async fn a_line_over_the_cap_gets_an_error_to_its_id_and_the_next_line_is_read() {
    let mut client = Client::legacy("2025-11-25").await;
    client.send_raw(&padded_call("1", CAP)).await;
    assert_eq!(client.receive().await["id"], 1);
    assert_eq!(client.error_of(&padded_call("\"long\"", CAP + 1)).await, (Some(json!("long")), -32600));
    assert_eq!(client.error_of(&padded_call("3", 5 * CAP)).await, (Some(json!(3)), -32600));
    assert_eq!(client.error_of(&vec![b'x'; 2 * CAP]).await, (None, -32600));
    client.nothing_else_comes().await;
}

#[tokio::test]
async fn blank_lines_and_carriage_returns_are_nothing() {
    let mut client = Client::legacy("2025-11-25").await;
    client.send_raw(b"").await;
    client.send_raw(b" \r").await;
    client.send_raw(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r").await;
    assert_eq!(client.receive().await["id"], 1);
    client.nothing_else_comes().await;
}

#[tokio::test]
async fn known_methods_with_bad_params_unknown_methods_and_unknown_tools_have_their_own_codes() {
    let mut client = Client::legacy("2025-11-25").await;
    for (method, params, code) in [
        ("tools/call", json!({}), -32602),
        ("tools/call", json!([]), -32602),
        ("tools/call", json!({ "name": 5 }), -32602),
        ("tools/call", json!({ "name": "echo", "arguments": "x" }), -32602),
        ("tools/call", json!({ "name": "no-such-tool" }), -32602),
        ("tools/list", json!({ "cursor": 5 }), -32602),
        ("tools/list", json!({ "cursor": "made-up" }), -32602),
        ("tools/list", json!("x"), -32602),
        ("ping", json!(7), -32602),
        ("resources/list", json!({}), -32601),
        ("prompts/list", json!({}), -32601),
        ("subscriptions/listen", json!({}), -32601),
        ("made/up", json!([]), -32601),
    ] {
        let answer = client.ask(&request(1, method, params.clone())).await;
        assert_eq!(answer["error"]["code"], code, "{method} {params}");
    }
}

#[tokio::test]
async fn notifications_are_never_answered() {
    let mut client = Client::legacy("2025-11-25").await;
    for message in [
        json!({ "jsonrpc": "2.0", "method": "tools/list" }),
        json!({ "jsonrpc": "2.0", "method": "tools/call", "params": 5 }),
        json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": "x" }),
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled" }),
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": {} } }),
        json!({ "jsonrpc": "2.0", "method": "made/up" }),
    ] {
        client.send(&message).await;
    }
    client.nothing_else_comes().await;
}

#[tokio::test]
async fn batches_belong_to_one_version_only() {
    let batch = json!([request(1, "ping", json!({}))]).to_string();
    for version in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        let mut client = Client::legacy(version).await;
        assert_eq!(client.error_of(batch.as_bytes()).await, (None, -32600), "{version}");
        client.nothing_else_comes().await;
    }
    assert_eq!(Client::connect().error_of(batch.as_bytes()).await, (None, -32600));
}

#[tokio::test]
async fn a_batch_is_answered_as_one_line() {
    let mut client = Client::legacy("2025-03-26").await;
    let batch = json!([
        request(1, "ping", json!({})),
        { "jsonrpc": "2.0", "method": "notifications/initialized" },
        call("two", "echo", json!({ "a": 2 })),
        call(1, "echo", json!({})),
        request(4, "made/up", json!({})),
        5,
        crate::world::initialize("2025-03-26", json!({})),
        call(7, "wait", json!({})),
        cancel(7),
    ]);
    let answers = client.ask(&batch).await;
    let mut outcomes: Vec<_> = answers
        .as_array()
        .expect("an array")
        .iter()
        .map(|answer| format!("{} {}", answer.get("id").unwrap_or(&Value::Null), answer["error"]["code"]))
        .collect();
    outcomes.sort();
    assert_eq!(outcomes, ["\"init\" -32600", "\"two\" null", "1 -32600", "1 null", "4 -32601", "null -32600"]);
    client.host.until_waiting(0).await;

    client.send(&json!([{ "jsonrpc": "2.0", "method": "notifications/initialized" }])).await;
    client.nothing_else_comes().await;
    assert_eq!(client.error_of(b"[]").await, (None, -32600));
}
