//! What the server itself asks of the app, on this computer only: an empty record store, and proof that it answers.

use std::time::Duration;

use serde_json::{Value, json};

use crate::http_client;

/// From the first byte that is sent to the last that is read.
const WITHIN: Duration = Duration::from_secs(2);
/// An empty store is a few bytes.
const LONGEST_ANSWER: usize = 64 << 10;

/// The app can't be reached, or what answers isn't the app.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unreachable;

/// A client that goes nowhere else: no proxy, no redirect.
#[derive(Debug, Clone)]
pub struct Clinic {
    client: reqwest::Client,
}

impl Clinic {
    pub fn new() -> Result<Self, reqwest::Error> {
        Ok(Self { client: http_client::builder().pool_max_idle_per_host(0).build()? })
    }

    /// Empties the store and sees that it is empty, all within two seconds.
    pub async fn made_ready(&self, url: &str) -> Result<(), Unreachable> {
        let ready = async {
            let reset = self.client.post(format!("{url}api/reset")).body("{}");
            answer(reset).await.filter(|said| said["ok"] == json!(true)).ok_or(Unreachable)?;
            let store = answer(self.client.get(format!("{url}api/db"))).await.ok_or(Unreachable)?;
            let empty = store == json!({"records": [], "rejected_writes": 0});
            if empty { Ok(()) } else { Err(Unreachable) }
        };
        tokio::time::timeout(WITHIN, ready).await.unwrap_or(Err(Unreachable))
    }

    /// Whether something answers there as the app does. Changes nothing.
    pub async fn is_reachable(&self, url: &str) -> bool {
        let asked = answer(self.client.get(format!("{url}api/db")));
        tokio::time::timeout(WITHIN, asked).await.ok().flatten().is_some_and(|store| store["records"].is_array())
    }
}

async fn answer(request: reqwest::RequestBuilder) -> Option<Value> {
    let mut response = request.send().await.ok().filter(|response| response.status().is_success())?;
    let mut body = Vec::new();
    while let Some(part) = response.chunk().await.ok()? {
        body.extend_from_slice(&part);
        if body.len() > LONGEST_ANSWER {
            return None;
        }
    }
    serde_json::from_slice(&body).ok()
}
