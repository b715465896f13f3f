//! Both protocol eras from their first message on.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::world::{Client, initialize, modern, request};

fn pretty(value: &Value) -> String {
    format!("{value:#}").replace(env!("CARGO_PKG_VERSION"), "[version]")
}

#[tokio::test]
async fn initialize_answers_as_it_always_has() {
    let mut client = Client::connect();
    assert_snapshot!(pretty(&client.initialize("2025-11-25", json!({})).await), @r##"
{
  "jsonrpc": "2.0",
  "id": "init",
  "result": {
    "protocolVersion": "2025-11-25",
    "capabilities": {
      "tools": {
        "listChanged": false
      }
    },
    "serverInfo": {
      "name": "openadapt-agent",
      "version": "[version]"
    },
    "instructions": "List, then run."
  }
}
"##);
}

#[tokio::test]
async fn discover_answers_as_it_always_has() {
    let mut client = Client::connect();
    assert_snapshot!(pretty(&client.ask(&request(1, "server/discover", modern(json!({}), json!({})))).await), @r##"
{
  "jsonrpc": "2.0",
  "id": 1,
  "result": {
    "resultType": "complete",
    "supportedVersions": [
      "2024-11-05",
      "2025-03-26",
      "2025-06-18",
      "2025-11-25",
      "2026-07-28"
    ],
    "capabilities": {
      "tools": {
        "listChanged": false
      }
    },
    "instructions": "List, then run.",
    "ttlMs": 0,
    "cacheScope": "private",
    "_meta": {
      "io.modelcontextprotocol/serverInfo": {
        "name": "openadapt-agent",
        "version": "[version]"
      }
    }
  }
}
"##);
}

#[tokio::test]
async fn each_legacy_version_is_spoken_and_any_other_gets_the_newest_of_them() {
    for (asked, given) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
        ("1.0", "2025-11-25"),
    ] {
        let mut client = Client::connect();
        let answer = client.initialize(asked, json!({})).await;
        assert_eq!(answer["result"]["protocolVersion"], given, "{asked}");
        let list = client.ask(&request(1, "tools/list", json!({}))).await;
        assert!(list["result"].get("resultType").is_none(), "{asked}: {list}");
        assert!(list["result"].get("ttlMs").is_none(), "{asked}: {list}");
    }
}

#[tokio::test]
async fn a_modern_client_needs_no_handshake() {
    let mut client = Client::connect();
    let list = client.ask(&request(1, "tools/list", modern(json!({}), json!({})))).await;
    assert_eq!(list["result"]["resultType"], "complete");
    assert_eq!(list["result"]["ttlMs"], 0);
    assert_eq!(list["result"]["cacheScope"], "private");
    let params = modern(json!({ "name": "echo", "arguments": { "a": 1 } }), json!({}));
    let answer = client.ask(&request(2, "tools/call", params)).await;
    assert_eq!(answer["result"]["resultType"], "complete");
    assert_eq!(answer["result"]["structuredContent"], json!({ "a": 1 }));
}

#[tokio::test]
async fn a_modern_request_without_its_metadata_is_a_params_error() {
    let mut client = Client::connect();
    client.ask(&request(1, "tools/list", modern(json!({}), json!({})))).await;
    let answer = client.ask(&request(2, "tools/list", json!({}))).await;
    assert_eq!(answer["error"]["code"], -32602);
    let mut params = modern(json!({}), json!({}));
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2031-01-01");
    let answer = client.ask(&request(3, "tools/list", params)).await;
    assert_eq!(answer["error"]["code"], -32022);
}

#[tokio::test]
async fn discover_leaves_both_ways_open() {
    let mut client = Client::connect();
    client.ask(&request(1, "server/discover", modern(json!({}), json!({})))).await;
    let answer = client.initialize("2025-06-18", json!({})).await;
    assert_eq!(answer["result"]["protocolVersion"], "2025-06-18");
    client.nothing_else_comes().await;
}

#[tokio::test]
async fn ping_is_answered_before_the_handshake_and_unknown_to_modern_clients() {
    let mut client = Client::connect();
    assert_eq!(client.ask(&request(1, "ping", json!({}))).await["result"], json!({}));
    assert_eq!(client.ask(&request(2, "ping", modern(json!({}), json!({})))).await["error"]["code"], -32601);
    client.initialize("2025-11-25", json!({})).await;
    client.nothing_else_comes().await;
}

#[tokio::test]
async fn stray_messages_before_the_handshake_harm_nothing() {
    let mut client = Client::connect();
    for stray in [
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } }),
        json!({ "jsonrpc": "2.0", "method": "made/up" }),
        json!({ "jsonrpc": "2.0", "id": 1, "result": {} }),
        json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": 1, "message": "x" } }),
    ] {
        client.send(&stray).await;
    }
    client.initialize("2025-11-25", json!({})).await;
    client.nothing_else_comes().await;
}

#[tokio::test]
async fn stray_answers_after_the_handshake_harm_nothing() {
    let mut client = Client::legacy("2025-11-25").await;
    client.send(&json!({ "jsonrpc": "2.0", "id": 1, "result": {} })).await;
    client.send(&json!({ "jsonrpc": "2.0", "id": "x", "error": { "code": 1, "message": "x" } })).await;
    client.send(&json!({ "jsonrpc": "2.0", "error": { "code": 1, "message": "x" } })).await;
    client.nothing_else_comes().await;
}

#[tokio::test]
async fn set_level_before_initialized_is_an_unknown_method_and_no_end() {
    let mut client = Client::connect();
    let level = request(1, "logging/setLevel", json!({ "level": "debug" }));
    assert_eq!(client.ask(&level).await["error"]["code"], -32601);
    client.ask(&initialize("2025-11-25", json!({}))).await;
    assert_eq!(client.ask(&level).await["error"]["code"], -32601);
    client.nothing_else_comes().await;
}

#[tokio::test]
async fn a_bad_initialize_is_refused_and_a_good_one_may_follow() {
    let mut client = Client::connect();
    for params in [json!({}), json!({ "protocolVersion": 5, "capabilities": {}, "clientInfo": {} })] {
        assert_eq!(client.ask(&request(1, "initialize", params)).await["error"]["code"], -32602);
    }
    let bad = initialize("2025-11-25", json!({ "elicitation": true }));
    assert_eq!(client.ask(&bad).await["error"]["code"], -32602);
    client.initialize("2025-11-25", json!({})).await;
    assert_eq!(client.ask(&initialize("2025-11-25", json!({}))).await["error"]["code"], -32600);
    client.nothing_else_comes().await;
}

#[tokio::test]
async fn a_tool_that_asks_a_person_is_listed_for_clients_that_show_forms() {
    for (elicitation, listed) in [
        (json!({ "elicitation": {} }), true),
        (json!({ "elicitation": { "form": {} } }), true),
        (json!({ "elicitation": { "form": {}, "url": {} } }), true),
        (json!({ "elicitation": { "url": {} } }), false),
        (json!({}), false),
    ] {
        let has = |list: &Value| list["result"]["tools"].as_array().unwrap().iter().any(|tool| tool["name"] == "ask");
        let mut legacy = Client::connect();
        legacy.initialize("2025-11-25", elicitation.clone()).await;
        assert_eq!(has(&legacy.ask(&request(1, "tools/list", json!({}))).await), listed, "{elicitation}");
        let mut newer = Client::connect();
        let list = newer.ask(&request(1, "tools/list", modern(json!({}), elicitation.clone()))).await;
        assert_eq!(has(&list), listed, "{elicitation}");
    }
}
