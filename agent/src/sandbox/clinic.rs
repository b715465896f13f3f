//! What the server itself asks of the app, on this computer only: an empty record store, and proof that it answers.

use std::net::Ipv4Addr;
use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::{Method, Request, header};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;

/// From the first byte that is sent to the last that is read.
const WITHIN: Duration = Duration::from_secs(2);
/// An empty store is a few bytes.
const LONGEST_ANSWER: usize = 64 << 10;

/// The app can't be reached, or what answers isn't the app.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unreachable;

/// Empties the store and sees that it is empty, all within two seconds.
pub async fn made_ready(port: u16) -> Result<(), Unreachable> {
    let ready = async {
        let reset = answer(port, Method::POST, "/api/reset").await.ok_or(Unreachable)?;
        let store = answer(port, Method::GET, "/api/db").await.ok_or(Unreachable)?;
        let is_ready = reset["ok"] == json!(true) && store == json!({"records": [], "rejected_writes": 0});
        if is_ready { Ok(()) } else { Err(Unreachable) }
    };
    tokio::time::timeout(WITHIN, ready).await.unwrap_or(Err(Unreachable))
}

/// Whether something answers there as the app does. Changes nothing.
pub async fn is_reachable(port: u16) -> bool {
    let asked = tokio::time::timeout(WITHIN, answer(port, Method::GET, "/api/db"));
    asked.await.ok().flatten().is_some_and(|store| store["records"].is_array())
}

/// One request on a connection of its own, to this computer and nowhere else.
async fn answer(port: u16, method: Method, path: &str) -> Option<Value> {
    let host = (Ipv4Addr::LOCALHOST, port);
    let stream = TcpStream::connect(host).await.ok()?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.ok()?;
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(header::HOST, format!("{}:{}", host.0, host.1))
        .header(header::CONNECTION, "close")
        .body(Full::<Bytes>::default())
        .ok()?;
    let exchange = async move {
        let response = sender.send_request(request).await.ok().filter(|response| response.status().is_success())?;
        let body = Limited::new(response.into_body(), LONGEST_ANSWER).collect().await.ok()?;
        serde_json::from_slice(&body.to_bytes()).ok()
    };
    let (said, _) = tokio::join!(exchange, connection);
    said
}
