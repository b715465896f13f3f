//! How a connection ends: input, signals, readers that leave.

use openadapt_agent::mcp::Ended;
use serde_json::json;
use tokio::io::AsyncReadExt;

use crate::world::{Client, call, initialize, modern, request};

#[tokio::test]
async fn everything_that_was_asked_before_the_end_of_input_is_answered() {
    let mut client = Client::connect();
    client.send(&initialize("2025-11-25", json!({}))).await;
    for id in 0..200 {
        client.send(&call(id, "echo", json!({}))).await;
    }
    client.end_input();
    let mut answers = 0;
    while client.receive_or_end().await.is_some() {
        answers += 1;
    }
    assert_eq!(answers, 201);
    assert_eq!(client.ended().await, Ended::Eof);
}

#[tokio::test]
async fn a_last_line_without_a_newline_is_answered() {
    use tokio::io::AsyncWriteExt;
    let mut client = Client::legacy("2025-11-25").await;
    let mut input = client.input.take().expect("input is open");
    input.write_all(request(1, "ping", json!({})).to_string().as_bytes()).await.expect("taken");
    drop(input);
    assert_eq!(client.receive().await["id"], 1);
    assert_eq!(client.ended().await, Ended::Eof);
}

#[tokio::test]
async fn the_end_of_input_waits_for_no_call_that_never_ends_and_leaves_none_behind() {
    let mut client = Client::legacy("2025-11-25").await;
    client.send(&call(1, "wait", json!({}))).await;
    client.send(&call(2, "never", json!({}))).await;
    client.host.until_waiting(1).await;
    client.end_input();
    let host = client.host.clone();
    let mut output = client.output.take().expect("output is open");
    assert_eq!(client.ended().await, Ended::Eof);
    host.until_waiting(0).await;
    let mut rest = String::new();
    output.read_to_string(&mut rest).await.expect("UTF-8");
    assert_eq!(rest, "");
}

#[tokio::test]
async fn a_slow_reader_gets_the_last_answers_whole_and_none_for_what_was_cut() {
    let mut client = Client::with_buffers(512);
    client.initialize("2025-11-25", json!({})).await;
    client.send(&call(1, "big", json!({ "bytes": 100_000 }))).await;
    client.send(&call(2, "wait", json!({}))).await;
    client.host.until_waiting(1).await;
    client.end_input();
    client.host.until_waiting(0).await;
    assert_eq!(client.receive().await["id"], 1);
    assert_eq!(client.receive_or_end().await, None);
    assert_eq!(client.ended().await, Ended::Eof);
}

#[tokio::test]
async fn an_answer_that_is_ready_within_the_grace_still_leaves() {
    let mut client = Client::legacy("2025-11-25").await;
    client.send(&call(1, "wait", json!({}))).await;
    client.host.until_waiting(1).await;
    client.end_input();
    client.host.release.notify_waiters();
    assert_eq!(client.receive().await["id"], 1);
    assert_eq!(client.ended().await, Ended::Eof);
}

#[tokio::test]
async fn a_signal_ends_it_with_input_still_open() {
    for says in
        [None, Some(initialize("2025-11-25", json!({}))), Some(request(1, "tools/list", modern(json!({}), json!({}))))]
    {
        let mut client = Client::connect();
        if let Some(says) = says {
            client.ask(&says).await;
        }
        client.shutdown.take().expect("not yet asked").send(()).expect("still serving");
        assert_eq!(client.receive_or_end().await, None);
        assert_eq!(client.ended().await, Ended::Shutdown);
    }
}

#[tokio::test]
async fn no_new_work_is_taken_after_a_signal() {
    let mut client = Client::legacy("2025-11-25").await;
    client.send(&call(1, "wait", json!({}))).await;
    client.host.until_waiting(1).await;
    client.shutdown.take().expect("not yet asked").send(()).expect("still serving");
    tokio::task::yield_now().await;
    client.send(&call(2, "echo", json!({}))).await;
    client.host.release.notify_waiters();
    assert_eq!(client.receive().await["id"], 1);
    assert_eq!(client.receive_or_end().await, None);
}

#[tokio::test]
async fn the_end_of_input_before_anything_was_said_is_an_end() {
    let mut client = Client::connect();
    client.end_input();
    assert_eq!(client.receive_or_end().await, None);
    assert_eq!(client.ended().await, Ended::Eof);
}

#[tokio::test]
async fn a_reader_that_disappears_ends_it_quietly() {
    let mut client = Client::legacy("2025-11-25").await;
    client.output = None;
    client.send(&request(1, "ping", json!({}))).await;
    assert_eq!(client.ended().await, Ended::ReaderGone);
}
