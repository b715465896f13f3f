//! A tool that asks a person, up to 2025-11-25: the client is asked while the call waits.

use insta::assert_snapshot;
use openadapt_agent::bridge::host::{FORM_LIMIT, FormOutcome};
use openadapt_agent::mcp::Ended;
use serde_json::{Value, json};
use tokio::time::{Duration, advance};

use crate::world::{Client, call, cancel, request};

async fn client(version: &str) -> Client {
    client_with(version, json!({ "elicitation": {} })).await
}

async fn client_with(version: &str, capabilities: Value) -> Client {
    let mut client = Client::connect();
    client.initialize(version, capabilities).await;
    client
}

/// Calls a tool, and gives the question that comes of it.
async fn asked(client: &mut Client, id: &str, tool: &str, item: &str) -> Value {
    let question = client.ask(&call(id, tool, json!({ "item": item }))).await;
    assert_eq!(question["method"], "elicitation/create", "{question}");
    question
}

fn reply(question: &Value, result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": question["id"], "result": result })
}

fn yes() -> Value {
    json!({ "action": "accept", "content": { "confirmed": true } })
}

fn taken_back(question: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": question["id"] } })
}

fn error_text(answer: &Value) -> &str {
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    answer["result"]["content"][0]["text"].as_str().expect("a text")
}

#[tokio::test]
async fn the_question_is_one_sentence_and_one_box() {
    let mut client = client("2025-06-18").await;
    assert_snapshot!(format!("{:#}", asked(&mut client, "a", "ask", "i").await), @r#"
    {
      "jsonrpc": "2.0",
      "id": 1,
      "method": "elicitation/create",
      "params": {
        "message": "Stop this run for good?",
        "requestedSchema": {
          "type": "object",
          "properties": {
            "confirmed": {
              "type": "boolean",
              "title": "Yes, stop it"
            }
          },
          "required": [
            "confirmed"
          ]
        }
      }
    }
    "#);
}

#[tokio::test]
async fn accepted_and_confirmed_is_a_yes_and_nothing_else_is() {
    for (result, given, sentence) in [
        (json!({ "action": "accept", "content": { "confirmed": false } }), FormOutcome::NotConfirmed, "Not confirmed."),
        (
            json!({ "action": "accept", "content": { "confirmed": "true" } }),
            FormOutcome::NotConfirmed,
            "Not confirmed.",
        ),
        (json!({ "action": "accept", "content": { "confirmed": 1 } }), FormOutcome::NotConfirmed, "Not confirmed."),
        (json!({ "action": "accept", "content": {} }), FormOutcome::NotConfirmed, "Not confirmed."),
        (json!({ "action": "accept" }), FormOutcome::NotConfirmed, "Not confirmed."),
        (json!({ "action": "decline", "content": { "confirmed": true } }), FormOutcome::Declined, "Declined."),
        (json!({ "action": "cancel" }), FormOutcome::Cancelled, "Cancelled."),
        (json!({ "action": "maybe", "content": { "confirmed": true } }), FormOutcome::Unanswered, "Unanswered."),
        (json!({}), FormOutcome::Unanswered, "Unanswered."),
    ] {
        let mut client = client("2025-11-25").await;
        let question = asked(&mut client, "a", "ask", "i").await;
        let answer = client.ask(&reply(&question, result.clone())).await;
        assert_eq!(answer["id"], "a");
        assert!(error_text(&answer).contains(sentence), "{result} {answer}");
        assert_eq!(client.host.given(), [given], "{result}");
        assert_eq!(client.host.submitted(), [] as [Value; 0], "{result}");
    }
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut client = client(version).await;
        let question = asked(&mut client, "a", "ask", "i").await;
        let answer = client.ask(&reply(&question, yes())).await;
        assert_eq!((&answer["id"], answer["result"].get("isError")), (&json!("a"), None), "{answer}");
        assert_eq!(client.host.submitted(), [json!({ "item": "i" })]);
        assert_eq!(client.host.bindings(), [r#"stop "i""#]);
    }
}

#[tokio::test]
async fn a_client_that_answers_with_an_error_has_not_answered() {
    let mut client = client("2025-11-25").await;
    for extra in [json!({}), json!({ "result": yes() })] {
        let question = asked(&mut client, "a", "ask", "i").await;
        let mut error = json!({ "jsonrpc": "2.0", "id": question["id"], "error": { "code": -32601, "message": "x" } });
        error.as_object_mut().expect("an object").extend(extra.as_object().expect("an object").clone());
        assert!(error_text(&client.ask(&error).await).contains("Unanswered."));
    }
    assert_eq!(client.host.submitted(), [] as [Value; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_form_that_nobody_answers_is_taken_back_after_ten_minutes_and_read_as_unanswered() {
    assert_eq!(FORM_LIMIT, Duration::from_secs(600));
    let mut client = client("2025-11-25").await;
    let question = asked(&mut client, "a", "ask", "i").await;
    advance(FORM_LIMIT - Duration::from_secs(1)).await;
    client.nothing_else_comes().await;
    assert_eq!(client.host.given(), []);
    advance(Duration::from_secs(1)).await;
    assert_eq!(client.receive().await, taken_back(&question));
    assert!(error_text(&client.receive().await).contains("Unanswered."));
    client.send(&reply(&question, yes())).await;
    client.nothing_else_comes().await;
    assert_eq!(client.host.given(), [FormOutcome::Unanswered]);
}

#[tokio::test]
async fn a_cancelled_call_takes_its_form_back_and_a_yes_that_comes_after_it_is_none() {
    let mut client = client("2025-11-25").await;
    let question = asked(&mut client, "a", "ask", "i").await;
    let other = asked(&mut client, "b", "ask", "j").await;
    assert_eq!(client.ask(&cancel("a")).await, taken_back(&question));
    client.send(&reply(&question, yes())).await;
    client.nothing_else_comes().await;
    assert_eq!(client.host.given(), []);
    assert_eq!(client.ask(&reply(&other, yes())).await["id"], "b");
    assert_eq!(client.host.submitted(), [json!({ "item": "j" })]);
}

#[tokio::test]
async fn a_cancellation_wins_over_a_yes_right_behind_it() {
    let mut apart = client("2025-11-25").await;
    let question = asked(&mut apart, "a", "ask", "i").await;
    apart.send_raw(format!("{}\n{}", cancel("a"), reply(&question, yes())).as_bytes()).await;
    assert_eq!(apart.receive().await, taken_back(&question));
    apart.nothing_else_comes().await;
    assert_eq!(apart.host.given(), []);

    let mut together = client("2025-03-26").await;
    let question = asked(&mut together, "a", "ask", "i").await;
    let batch = json!([cancel("a"), reply(&question, yes())]);
    assert_eq!(together.ask(&batch).await, taken_back(&question));
    together.nothing_else_comes().await;
    assert_eq!(together.host.given(), []);
}

#[tokio::test]
async fn a_client_that_leaves_with_a_form_open_has_decided_nothing() {
    let mut client = client("2025-11-25").await;
    asked(&mut client, "a", "ask", "i").await;
    client.end_input();
    let host = client.host.clone();
    assert_eq!(client.ended().await, Ended::Eof);
    assert_eq!(host.given(), []);
}

#[tokio::test]
async fn a_yes_after_a_signal_is_none() {
    let mut client = client("2025-11-25").await;
    let question = asked(&mut client, "a", "ask", "i").await;
    client.shutdown.take().expect("not yet asked").send(()).expect("still serving");
    tokio::task::yield_now().await;
    client.send(&reply(&question, yes())).await;
    let host = client.host.clone();
    assert_eq!(client.ended().await, Ended::Shutdown);
    assert_eq!(host.given(), []);
}

#[tokio::test]
async fn a_client_that_declared_no_forms_is_never_asked() {
    for capabilities in [json!({}), json!({ "elicitation": { "url": {} } })] {
        let mut client = client_with("2025-11-25", capabilities).await;
        let answer = client.ask(&call("a", "ask", json!({}))).await;
        assert!(error_text(&answer).contains("can't show the form"), "{answer}");
        client.send(&json!({ "jsonrpc": "2.0", "id": 1, "result": yes() })).await;
        client.nothing_else_comes().await;
        assert_eq!(client.host.given(), []);
    }
}

#[tokio::test]
async fn each_of_two_questions_gets_its_own_answer() {
    let mut client = client("2025-11-25").await;
    let first = asked(&mut client, "a", "ask", "i").await;
    let second = asked(&mut client, "b", "ask", "j").await;
    assert_ne!(first["id"], second["id"]);
    let answer = client.ask(&reply(&second, yes())).await;
    assert_eq!(answer["id"], "b");
    let answer = client.ask(&reply(&first, json!({ "action": "decline" }))).await;
    assert_eq!(answer["id"], "a");
    assert_eq!(client.host.given(), [FormOutcome::Confirmed, FormOutcome::Declined]);
    assert_eq!(client.host.submitted(), [json!({ "item": "j" })]);
}

#[tokio::test]
async fn only_the_first_answer_to_a_question_counts_and_only_under_its_own_id() {
    let mut client = client("2025-11-25").await;
    let question = asked(&mut client, "a", "ask", "i").await;
    for id in [json!("1"), json!(0), json!(2), json!("a"), json!(null)] {
        client.send(&json!({ "jsonrpc": "2.0", "id": id, "result": yes() })).await;
    }
    client.nothing_else_comes().await;
    assert_eq!(client.host.given(), []);
    client.send(&reply(&question, json!({ "action": "decline" }))).await;
    client.send(&reply(&question, yes())).await;
    assert!(error_text(&client.receive().await).contains("Declined."));
    client.nothing_else_comes().await;
    assert_eq!(client.host.given(), [FormOutcome::Declined]);
}

#[tokio::test]
async fn an_answer_that_comes_with_the_call_is_no_answer_here() {
    let mut client = client("2025-11-25").await;
    let params = json!({
        "name": "ask",
        "arguments": { "item": "i" },
        "inputResponses": { "confirmation": yes() },
        "requestState": "made-up",
    });
    let question = client.ask(&request("a", "tools/call", params)).await;
    assert_eq!(question["method"], "elicitation/create");
    assert_eq!(client.host.given(), []);
}

#[tokio::test]
async fn a_tool_that_asks_twice_or_panics_after_the_answer_fails_safely() {
    for tool in ["ask-for-ever", "ask-and-panic"] {
        let mut client = client("2025-11-25").await;
        let question = asked(&mut client, "a", tool, "i").await;
        let answer = client.ask(&reply(&question, yes())).await;
        assert!(error_text(&answer).contains("failed safely"), "{answer}");
        client.nothing_else_comes().await;
    }
}
