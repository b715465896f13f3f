//! Many calls at once, and clients that don't read.

use std::time::Duration;

use openadapt_agent::mcp::Ended;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::time::timeout;

use crate::world::{Client, call, cancel, request};

#[tokio::test]
async fn a_thousand_calls_wait_while_ping_and_list_answer_at_once() {
    let mut client = Client::legacy("2025-11-25").await;
    for id in 0..1000 {
        client.send(&call(id, "wait", json!({}))).await;
    }
    client.host.until_waiting(1000).await;
    client.nothing_else_comes().await;
    assert_eq!(client.ask(&request("list", "tools/list", json!({}))).await["id"], "list");
    client.send(&cancel(500)).await;
    client.host.until_waiting(999).await;
    client.host.release.notify_waiters();
    let mut ids = Vec::new();
    for _ in 0..999 {
        ids.push(client.receive().await["id"].as_i64().expect("a number"));
    }
    ids.sort_unstable();
    assert_eq!(ids, (0..1000).filter(|id| *id != 500).collect::<Vec<_>>());
}

#[tokio::test]
async fn more_calls_than_can_wait_are_refused_and_not_lost() {
    let mut client = Client::legacy("2025-11-25").await;
    for id in 0..4097 {
        client.send(&call(id, "wait", json!({}))).await;
    }
    let answer = client.receive().await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(4096), &json!(-32603)));
    client.send(&cancel(7)).await;
    client.nothing_else_comes().await;
}

/// Asks for answers of 20 kB until the server takes no more requests. Gives how many it took, at most 400.
async fn flood(client: &mut Client) -> usize {
    let input = client.input.as_mut().expect("input is open");
    for taken in 0..400 {
        let line = format!("{}\n", call(taken, "big", json!({ "bytes": 20_000 })));
        let Ok(written) = timeout(Duration::from_secs(1), input.write_all(line.as_bytes())).await else { return taken };
        written.expect("input is open");
    }
    400
}

#[tokio::test]
async fn a_client_that_does_not_read_is_not_read_from_either() {
    let mut client = Client::with_buffers(4096);
    client.initialize("2025-11-25", json!({})).await;
    let taken = flood(&mut client).await;
    // A megabyte of answers, and what the streams hold.
    assert!((50..200).contains(&taken), "{taken} requests were taken");
    assert!(client.receive().await["result"].is_object());
}

#[tokio::test]
async fn a_blocked_output_does_not_hold_up_the_end() {
    let mut client = Client::with_buffers(4096);
    client.initialize("2025-11-25", json!({})).await;
    flood(&mut client).await;
    let _output = client.output.take();
    client.shutdown.take().expect("not yet asked").send(()).expect("still serving");
    assert_eq!(client.ended().await, Ended::Shutdown);
}

#[tokio::test]
async fn a_slow_reader_gets_everything() {
    let mut client = Client::with_buffers(512);
    client.initialize("2025-11-25", json!({})).await;
    let mut input = client.input.take().expect("input is open");
    let writing = tokio::spawn(async move {
        for id in 0..300 {
            input
                .write_all(format!("{}\n", call(id, "big", json!({ "bytes": 20_000 }))).as_bytes())
                .await
                .expect("taken");
        }
        input
    });
    let mut ids: Vec<Value> = Vec::new();
    for _ in 0..300 {
        ids.push(client.receive().await["id"].clone());
    }
    ids.sort_by_key(|id| id.as_i64());
    assert_eq!(ids, (0..300).map(Value::from).collect::<Vec<_>>());
    drop(writing.await.expect("all was written"));
    assert_eq!(client.ended().await, Ended::Eof);
}
