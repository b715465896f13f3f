//! A tool that asks a person, in 2026-07-28: the call is answered with a question and comes again with the answer.

use insta::assert_snapshot;
use openadapt_agent::bridge::host::{FORM_LIMIT, FormOutcome};
use serde_json::{Map, Value, json};
use tokio::time::{Duration, advance};

use crate::world::{Client, modern, request};

fn forms() -> Value {
    json!({ "elicitation": { "form": {} } })
}

fn arguments() -> Value {
    json!({ "item": "i", "digest": "d" })
}

fn yes() -> Value {
    json!({ "confirmation": { "action": "accept", "content": { "confirmed": true } } })
}

fn called(id: &str, tool: &str, arguments: Value, more: Value) -> Value {
    let mut params = json!({ "name": tool, "arguments": arguments });
    params.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    request(id, "tools/call", modern(params, forms()))
}

/// Calls `ask`, and gives the state that comes with its question.
async fn asked(client: &mut Client) -> String {
    let question = client.ask(&called("a", "ask", arguments(), json!({}))).await;
    assert_eq!(question["result"]["resultType"], "input_required", "{question}");
    question["result"]["requestState"].as_str().expect("a state").to_owned()
}

/// Calls again with a state and a person's yes.
async fn confirmed(client: &mut Client, tool: &str, arguments: Value, state: &str) -> Value {
    client.ask(&called("b", tool, arguments, json!({ "requestState": state, "inputResponses": yes() }))).await
}

fn error_text(answer: &Value) -> &str {
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
    answer["result"]["content"][0]["text"].as_str().expect("a text")
}

fn not_open(answer: &Value) -> bool {
    error_text(answer).contains("no form that is open")
}

#[tokio::test]
async fn the_question_is_a_result_with_one_input_request_and_a_state() {
    let mut client = Client::connect();
    let mut question = client.ask(&called("a", "ask", arguments(), json!({}))).await;
    assert!(question["result"]["requestState"].is_string(), "{question}");
    question["result"]["requestState"] = json!("[state]");
    assert_snapshot!(format!("{question:#}"), @r#"
    {
      "jsonrpc": "2.0",
      "id": "a",
      "result": {
        "resultType": "input_required",
        "inputRequests": {
          "confirmation": {
            "method": "elicitation/create",
            "params": {
              "mode": "form",
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
        },
        "requestState": "[state]"
      }
    }
    "#);
}

#[tokio::test]
async fn the_second_call_with_a_yes_is_a_decision_and_with_anything_else_is_none() {
    for (response, given, sentence) in [
        (json!({ "action": "accept", "content": { "confirmed": false } }), FormOutcome::NotConfirmed, "Not confirmed."),
        (json!({ "action": "accept", "content": { "confirmed": "yes" } }), FormOutcome::NotConfirmed, "Not confirmed."),
        (json!({ "action": "accept", "content": {} }), FormOutcome::NotConfirmed, "Not confirmed."),
        (json!({ "action": "accept" }), FormOutcome::NotConfirmed, "Not confirmed."),
        (json!({ "action": "decline" }), FormOutcome::Declined, "Declined."),
        (json!({ "action": "cancel" }), FormOutcome::Cancelled, "Cancelled."),
        (json!({}), FormOutcome::Unanswered, "Unanswered."),
        (json!("accept"), FormOutcome::Unanswered, "Unanswered."),
    ] {
        let mut client = Client::connect();
        let state = asked(&mut client).await;
        let more = json!({ "requestState": state, "inputResponses": { "confirmation": response } });
        let answer = client.ask(&called("b", "ask", arguments(), more)).await;
        assert!(error_text(&answer).contains(sentence), "{response} {answer}");
        assert_eq!(client.host.given(), [given], "{response}");
        assert_eq!(client.host.submitted(), [] as [Value; 0]);
        // What was said stands: the same state is good for no second answer.
        assert!(not_open(&confirmed(&mut client, "ask", arguments(), &state).await));
    }
    let mut client = Client::connect();
    let state = asked(&mut client).await;
    assert_eq!(client.host.given(), []);
    let answer = confirmed(&mut client, "ask", json!({ "digest": "d", "item": "i" }), &state).await;
    assert_eq!((&answer["id"], answer["result"].get("isError")), (&json!("b"), None), "{answer}");
    assert_eq!(client.host.submitted(), [arguments()]);
    assert_eq!(client.host.bindings(), [r#"stop "i""#]);
}

#[tokio::test]
async fn a_forged_state_opens_nothing() {
    let mut client = Client::connect();
    let state = asked(&mut client).await;
    let mut longer = state.clone();
    longer.push('A');
    let flipped: String = state.chars().rev().collect();
    for forged in ["", "made-up", "rs1..", &state[..state.len() - 1], &longer, &flipped] {
        assert!(not_open(&confirmed(&mut client, "ask", arguments(), forged).await), "{forged}");
    }
    assert_eq!(client.host.given(), []);
    assert!(confirmed(&mut client, "ask", arguments(), &state).await["result"].get("isError").is_none());
}

#[tokio::test]
async fn a_state_of_another_process_opens_nothing() {
    let state = asked(&mut Client::connect()).await;
    let mut client = Client::connect();
    asked(&mut client).await;
    assert!(not_open(&confirmed(&mut client, "ask", arguments(), &state).await));
    assert_eq!(client.host.given(), []);
}

#[tokio::test]
async fn a_state_opens_nothing_for_another_tool_or_other_arguments() {
    let mut client = Client::connect();
    let state = asked(&mut client).await;
    for (tool, other) in [
        ("ask-too", arguments()),
        ("echo", arguments()),
        ("ask", json!({ "item": "j", "digest": "d" })),
        ("ask", json!({ "item": "i", "digest": "d", "more": null })),
        ("ask", json!({ "item": "i" })),
        ("ask", json!({})),
    ] {
        assert!(not_open(&confirmed(&mut client, tool, other.clone(), &state).await), "{tool} {other}");
    }
    assert_eq!(client.host.given(), []);
    assert!(confirmed(&mut client, "ask", arguments(), &state).await["result"].get("isError").is_none());
}

#[tokio::test]
async fn a_state_is_good_for_one_decision_even_if_it_comes_twice_at_once() {
    let mut client = Client::connect();
    let state = asked(&mut client).await;
    let more = json!({ "requestState": state, "inputResponses": yes() });
    let both = ["b", "c"].map(|id| called(id, "ask", arguments(), more.clone()).to_string()).join("\n");
    client.send_raw(both.as_bytes()).await;
    let mut refused = 0;
    for _ in 0..2 {
        refused += usize::from(client.receive().await["result"]["isError"] == true);
    }
    assert_eq!((refused, client.host.submitted().len()), (1, 1));
    assert!(not_open(&confirmed(&mut client, "ask", arguments(), &state).await));
    assert_eq!(client.host.given(), [FormOutcome::Confirmed]);
}

#[tokio::test(start_paused = true)]
async fn a_late_yes_reads_as_unanswered() {
    let mut client = Client::connect();
    let state = asked(&mut client).await;
    advance(FORM_LIMIT - Duration::from_secs(1)).await;
    let in_time = asked(&mut client).await;
    advance(Duration::from_secs(1)).await;
    assert!(error_text(&confirmed(&mut client, "ask", arguments(), &state).await).contains("Unanswered."));
    assert!(not_open(&confirmed(&mut client, "ask", arguments(), &state).await));
    assert_eq!(client.host.submitted(), [] as [Value; 0]);
    assert!(confirmed(&mut client, "ask", arguments(), &in_time).await["result"].get("isError").is_none());
}

#[tokio::test]
async fn an_answer_without_its_state_is_none() {
    let mut client = Client::connect();
    asked(&mut client).await;
    let answer = client.ask(&called("b", "ask", arguments(), json!({ "inputResponses": yes() }))).await;
    assert!(not_open(&answer));
    assert_eq!(client.host.given(), []);
}

#[tokio::test]
async fn a_second_call_without_the_answer_is_asked_again() {
    let mut client = Client::connect();
    for responses in [None, Some(json!({})), Some(json!({ "other": yes()["confirmation"] }))] {
        let state = asked(&mut client).await;
        let mut more = Map::from_iter([("requestState".to_owned(), json!(state))]);
        more.extend(responses.map(|responses| ("inputResponses".to_owned(), responses)));
        let again = client.ask(&called("b", "ask", arguments(), Value::Object(more))).await;
        assert_eq!(again["result"]["resultType"], "input_required", "{again}");
        assert_ne!(again["result"]["requestState"], state);
        assert!(not_open(&confirmed(&mut client, "ask", arguments(), &state).await));
    }
    assert_eq!(client.host.given(), []);
}

#[tokio::test]
async fn a_state_or_an_answer_of_a_wrong_type_is_a_params_error() {
    let mut client = Client::connect();
    let state = asked(&mut client).await;
    for more in [
        json!({ "requestState": 5, "inputResponses": yes() }),
        json!({ "requestState": null, "inputResponses": yes() }),
        json!({ "requestState": state, "inputResponses": [yes()] }),
        json!({ "requestState": state, "inputResponses": true }),
    ] {
        let answer = client.ask(&called("b", "ask", arguments(), more.clone())).await;
        assert_eq!(answer["error"]["code"], -32602, "{more}");
    }
    assert_eq!(client.host.given(), []);
}

#[tokio::test]
async fn a_client_that_declares_no_forms_gets_no_question() {
    for capabilities in [json!({}), json!({ "elicitation": { "url": {} } })] {
        let mut client = Client::connect();
        let params = modern(json!({ "name": "ask", "arguments": arguments() }), capabilities);
        let answer = client.ask(&request("a", "tools/call", params)).await;
        assert!(error_text(&answer).contains("can't show the form"), "{answer}");
    }
}

#[tokio::test]
async fn nothing_is_asked_by_a_request_of_the_server() {
    let mut client = Client::connect();
    asked(&mut client).await;
    client.send(&json!({ "jsonrpc": "2.0", "id": 1, "result": yes()["confirmation"] })).await;
    let list = client.ask(&request("l", "tools/list", modern(json!({}), forms()))).await;
    assert_eq!(list["id"], "l");
    assert_eq!(client.host.given(), []);
}

#[tokio::test]
async fn a_tool_that_asks_twice_or_panics_after_the_answer_fails_safely() {
    for tool in ["ask-for-ever", "ask-and-panic"] {
        let mut client = Client::connect();
        let question = client.ask(&called("a", tool, arguments(), json!({}))).await;
        let state = question["result"]["requestState"].as_str().expect("a state").to_owned();
        let answer = confirmed(&mut client, tool, arguments(), &state).await;
        assert!(error_text(&answer).contains("failed safely"), "{answer}");
    }
}
