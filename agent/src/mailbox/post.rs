//! The four calls of a mailbox: each a POST to the one origin, without redirects, cookies or proxies, bounded in time and size.

use std::fmt;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, StatusCode};
use serde_json::{Map, Value, json};

use super::command::CommandId;
use super::target::{Bind, Pack, Target};

const TOTAL: Duration = Duration::from_secs(10);
/// The largest answer that is read.
const LARGEST: usize = 256 << 10;
const LEASE_SECONDS: u64 = 900;

/// A call of the mailbox came to no good answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PostFault {
    /// It may be better in a moment.
    #[error("the mailbox can't be reached, or didn't answer in time")]
    Unreachable,
    #[error("the mailbox has a fault of its own")]
    ServerFault,
    #[error("the mailbox doesn't take this computer's word any more; ask the chat app for a new link")]
    CredentialRejected,
    #[error("the mailbox sent this computer elsewhere, and it doesn't go")]
    Redirected,
    #[error("the mailbox's answer could be kept by somebody on the way")]
    NotPrivate,
    #[error("the mailbox's answer is too large")]
    TooLarge,
    #[error("the mailbox's answer isn't one")]
    NotAnAnswer,
}

impl PostFault {
    /// Asking once more may help.
    pub const fn may_pass(self) -> bool {
        matches!(self, Self::Unreachable | Self::ServerFault)
    }
}

/// What the claim gave: the word that each later call carries. It is printed, stored and logged nowhere.
pub struct Lease(HeaderValue);

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Lease(…)")
    }
}

/// A mailbox by its address.
#[derive(Debug)]
pub struct Mailbox {
    client: Client,
    base: String,
}

impl Mailbox {
    pub fn new(pack: &Pack) -> Result<Self, PostFault> {
        // Somebody else may have installed one already; either serves.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .https_only(origin::HTTPS_ONLY)
            .redirect(Policy::none())
            .no_proxy()
            .referer(false)
            .connect_timeout(origin::limit(TOTAL))
            .timeout(origin::limit(TOTAL))
            .user_agent(concat!("openadapt-agent/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|_| PostFault::Unreachable)?;
        Ok(Self { client, base: format!("{}/j/{}/runner", origin::origin(), pack.as_str()) })
    }

    /// Spends the link's word, once.
    pub async fn claim(&self, bind: &Bind) -> Result<Lease, PostFault> {
        let (status, answer) = self.post("claim", json!({ "bind": bind.secret() }), None).await?;
        let answer = answer.filter(|_| status == StatusCode::CREATED).ok_or(PostFault::NotAnAnswer)?;
        let lease_is_good = answer.get("lease_s").is_none_or(|lease| lease.as_u64().is_some_and(|seconds| seconds > 0));
        let secret = answer.get("leaseSecret").and_then(Value::as_str).filter(|text| is_lease(text) && lease_is_good);
        let mut value = secret
            .and_then(|secret| HeaderValue::from_str(&format!("Bearer {secret}")).ok())
            .ok_or(PostFault::NotAnAnswer)?;
        value.set_sensitive(true);
        Ok(Lease(value))
    }

    /// What waits in the mailbox now, if anything.
    pub async fn poll(&self, lease: &Lease) -> Result<Option<Map<String, Value>>, PostFault> {
        let body = json!({ "wait_seconds": 0, "lease_seconds": LEASE_SECONDS });
        match self.post("poll", body, Some(lease)).await? {
            (StatusCode::NO_CONTENT, _) => Ok(None),
            (StatusCode::OK, Some(envelope)) => Ok(Some(envelope)),
            _ => Err(PostFault::NotAnAnswer),
        }
    }

    pub async fn callback(
        &self,
        lease: &Lease,
        id: &CommandId,
        done: bool,
        result: &Map<String, Value>,
    ) -> Result<(), PostFault> {
        let status = if done { "done" } else { "error" };
        self.told("callback", json!({ "command_id": id.as_str(), "status": status, "result": result }), lease).await
    }

    pub async fn allow(&self, lease: &Lease, id: &CommandId) -> Result<(), PostFault> {
        self.told("allow", json!({ "command_id": id.as_str() }), lease).await
    }

    async fn told(&self, call: &str, body: Value, lease: &Lease) -> Result<(), PostFault> {
        match self.post(call, body, Some(lease)).await? {
            (StatusCode::OK | StatusCode::ACCEPTED, _) => Ok(()),
            _ => Err(PostFault::NotAnAnswer),
        }
    }

    async fn post(
        &self,
        call: &str,
        body: Value,
        lease: Option<&Lease>,
    ) -> Result<(StatusCode, Option<Map<String, Value>>), PostFault> {
        let mut request = self.client.post(format!("{}/{call}", self.base)).header(CONTENT_TYPE, "application/json");
        if let Some(Lease(bearer)) = lease {
            request = request.header(AUTHORIZATION, bearer.clone());
        }
        let response = request.body(body.to_string()).send().await.map_err(|_| PostFault::Unreachable)?;
        let status = response.status();
        match status {
            StatusCode::UNAUTHORIZED => return Err(PostFault::CredentialRejected),
            status if status.is_redirection() => return Err(PostFault::Redirected),
            status if status.is_server_error() => return Err(PostFault::ServerFault),
            status if !status.is_success() => return Err(PostFault::NotAnAnswer),
            _ => {}
        }
        if !is_private(response.headers()) {
            return Err(PostFault::NotPrivate);
        }
        if status == StatusCode::NO_CONTENT {
            return Ok((status, None));
        }
        let bytes = bounded(response).await?;
        match serde_json::from_slice(&bytes) {
            Ok(Value::Object(answer)) => Ok((status, Some(answer))),
            _ => Err(PostFault::NotAnAnswer),
        }
    }
}

impl Target {
    pub fn mailbox(&self) -> Result<Mailbox, PostFault> {
        Mailbox::new(&self.pack)
    }
}

fn is_private(headers: &HeaderMap) -> bool {
    let said = headers.get_all(CACHE_CONTROL).iter().filter_map(|value| value.to_str().ok());
    said.flat_map(|value| value.split(',')).any(|word| word.trim().eq_ignore_ascii_case("no-store"))
}

fn is_lease(text: &str) -> bool {
    text.strip_prefix("oals_").is_some_and(|body| crate::flow::hex_text::is_hex(body, 64))
}

/// Reads what arrives, whatever length was promised.
async fn bounded(mut response: Response) -> Result<Vec<u8>, PostFault> {
    let encoded = |encoding: &HeaderValue| encoding != "identity";
    if response.headers().get(CONTENT_ENCODING).is_some_and(encoded) {
        return Err(PostFault::NotAnAnswer);
    }
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|_| PostFault::Unreachable)? {
        if bytes.len() + chunk.len() > LARGEST {
            return Err(PostFault::TooLarge);
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

/// The one origin.
#[cfg(not(feature = "mailbox-origin"))]
mod origin {
    use std::time::Duration;

    pub const HTTPS_ONLY: bool = true;

    pub fn origin() -> &'static str {
        crate::mailbox::target::ORIGIN
    }

    pub const fn limit(limit: Duration) -> Duration {
        limit
    }
}

/// For the judge: a mailbox on this computer, and a shorter limit. No build for people has it.
#[cfg(feature = "mailbox-origin")]
mod origin {
    use std::time::Duration;

    pub const HTTPS_ONLY: bool = false;

    pub fn origin() -> String {
        let told = std::env::var("OPENADAPT_AGENT_MAILBOX_ORIGIN").unwrap_or_default();
        if told.starts_with("http://127.0.0.1:") { told } else { crate::mailbox::target::ORIGIN.to_owned() }
    }

    pub fn limit(limit: Duration) -> Duration {
        let told = std::env::var("OPENADAPT_AGENT_MAILBOX_LIMIT_MS").ok().and_then(|text| text.parse().ok());
        told.map_or(limit, Duration::from_millis)
    }
}
