//! Tool lists and tool calls as a client sees them.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::world::{Client, call, cancel, modern, request};

#[tokio::test]
async fn the_tool_list_keeps_every_key() {
    let mut client = Client::legacy("2025-11-25").await;
    let list = client.ask(&request(1, "tools/list", json!({}))).await;
    assert_snapshot!(format!("{:#}", list["result"]["tools"][0]), @r##"
{
  "name": "echo",
  "title": "A tool",
  "description": "The tool echo.",
  "inputSchema": {
    "type": "object",
    "additionalProperties": false,
    "x-odd": [
      1,
      null
    ]
  },
  "outputSchema": {
    "type": "object",
    "required": [
      "b",
      "a"
    ],
    "x-kept": {}
  },
  "annotations": {
    "readOnlyHint": true,
    "destructiveHint": false,
    "idempotentHint": true,
    "openWorldHint": false
  },
  "_meta": {
    "deprecated": true
  }
}
"##);
    assert_eq!(list["result"]["tools"][1].get("outputSchema"), None);
}

#[tokio::test]
async fn text_and_structured_content_are_the_same_object_in_the_same_order() {
    let mut client = Client::legacy("2025-11-25").await;
    let answer = client.ask(&call(1, "echo", json!({ "b": 1, "a": { "c": [] } }))).await;
    assert_eq!(
        answer["result"].to_string(),
        json!({
            "content": [{ "type": "text", "text": "{\n  \"b\": 1,\n  \"a\": {\n    \"c\": []\n  }\n}" }],
            "structuredContent": { "b": 1, "a": { "c": [] } },
        })
        .to_string()
    );
}

#[tokio::test]
async fn structured_content_is_for_tools_with_an_output_schema_only() {
    let mut client = Client::legacy("2025-11-25").await;
    let answer = client.ask(&call(1, "plain", json!({ "a": 1 }))).await;
    assert_eq!(answer["result"], json!({ "content": [{ "type": "text", "text": "{\n  \"a\": 1\n}" }] }));
}

#[tokio::test]
async fn a_refusal_is_an_error_of_the_tool_in_one_compact_text() {
    let mut client = Client::legacy("2025-11-25").await;
    let answer = client.ask(&call(1, "refuse", json!({}))).await;
    let text = r#"{"error":"No such thing today."}"#;
    assert_eq!(answer["result"], json!({ "content": [{ "type": "text", "text": text }], "isError": true }));
}

#[tokio::test]
async fn a_panic_in_a_tool_is_an_answer_that_says_nothing_of_its_cause() {
    let mut client = Client::legacy("2025-11-25").await;
    let answer = client.ask(&call(1, "panic", json!({}))).await;
    assert_eq!(answer["result"]["isError"], true);
    let text = answer.to_string();
    assert!(text.contains("failed safely") && !text.contains("nobody may see"), "{text}");
    let params = modern(json!({ "name": "panic" }), json!({}));
    assert_eq!(Client::connect().ask(&request(1, "tools/call", params)).await["result"]["isError"], true);
    client.nothing_else_comes().await;
}

#[tokio::test]
async fn line_separators_in_an_answer_do_not_split_its_line() {
    let mut client = Client::legacy("2025-11-25").await;
    client.send(&call(1, "echo", json!({ "a": "x\u{2028}y\u{2029}z" }))).await;
    let mut line = String::new();
    let output = client.output.as_mut().expect("output is open");
    tokio::io::AsyncBufReadExt::read_line(output, &mut line).await.expect("a line");
    assert!(!line.contains(['\u{2028}', '\u{2029}']), "{line}");
    let answer: Value = serde_json::from_str(&line).expect("JSON");
    assert_eq!(answer["result"]["structuredContent"], json!({ "a": "x\u{2028}y\u{2029}z" }));
}

#[tokio::test]
async fn the_second_request_with_an_id_in_flight_is_refused_and_the_first_is_answered() {
    let mut client = Client::legacy("2025-11-25").await;
    client.send(&call(1, "wait", json!({ "first": true }))).await;
    client.host.until_waiting(1).await;
    assert_eq!(client.ask(&call(1, "echo", json!({}))).await["error"]["code"], -32600);
    assert_eq!(client.ask(&call("1", "echo", json!({}))).await["id"], "1");
    client.host.release.notify_waiters();
    let answer = client.receive().await;
    assert_eq!((&answer["id"], answer.get("error")), (&json!(1), None));
    assert!(answer.to_string().contains("first"));
    assert_eq!(client.ask(&call(1, "echo", json!({}))).await["id"], 1);
}

#[tokio::test]
async fn a_cancelled_call_is_dropped_and_never_answered() {
    for open in [request("open", "ping", json!({})), request("open", "tools/list", modern(json!({}), json!({})))] {
        let is_modern = open["method"] == "tools/list";
        let mut client = if is_modern { Client::connect() } else { Client::legacy("2025-11-25").await };
        client.ask(&open).await;
        let params = json!({ "name": "wait", "arguments": {} });
        let params = if is_modern { modern(params, json!({})) } else { params };
        client.send(&request(1, "tools/call", params.clone())).await;
        client.host.until_waiting(1).await;
        client.send(&cancel("1")).await;
        client.send(&cancel(1)).await;
        client.host.until_waiting(0).await;

        // The id is free again, and the next answer to it belongs to the next request.
        client.send(&request(1, "tools/call", params)).await;
        client.host.until_waiting(1).await;
        client.host.release.notify_waiters();
        assert_eq!(client.receive().await["id"], 1);
        let mut last = open;
        last["id"] = json!("last");
        assert_eq!(client.ask(&last).await["id"], "last");
    }
}

#[tokio::test]
async fn no_progress_is_sent_to_a_caller_who_gave_no_token() {
    let mut client = Client::legacy("2025-11-25").await;
    client.send(&call(1, "wait", json!({}))).await;
    client.host.until_waiting(1).await;
    client.host.release.notify_waiters();
    assert_eq!(client.receive().await["id"], 1);
    client.nothing_else_comes().await;
}

#[tokio::test]
async fn a_caller_who_gave_a_token_is_told_while_the_call_waits_and_never_afterwards() {
    let mut client = Client::legacy("2025-11-25").await;
    let mut asked = call(1, "wait", json!({}));
    asked["params"]["_meta"] = json!({ "progressToken": "a token" });
    client.send(&asked).await;
    for told in 1..=2 {
        let progress = client.receive().await;
        assert_eq!(progress["method"], "notifications/progress");
        assert_eq!(
            (&progress["params"]["progressToken"], &progress["params"]["progress"]),
            (&json!("a token"), &json!(told))
        );
    }
    client.host.release.notify_waiters();
    assert_eq!(client.receive().await["id"], 1);
    client.nothing_else_comes().await;
}

#[tokio::test]
async fn an_answer_larger_than_clients_take_is_an_error() {
    let mut client = Client::legacy("2025-11-25").await;
    let answer = client.ask(&call(1, "big", json!({ "bytes": 9 * 1024 * 1024 }))).await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(1), &json!(-32603)));
    let answer = client.ask(&call(2, "big", json!({ "bytes": 2 * 1024 * 1024 }))).await;
    assert!(answer["result"]["content"][0]["text"].as_str().unwrap().len() > 2 * 1024 * 1024);
}
