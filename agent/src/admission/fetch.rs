//! One GET over HTTPS: no redirect, no proxy, no cookie, no more than the limit, not longer than a few seconds.

use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, StatusCode, Url};

use super::reason::Reason;

const CONNECT: Duration = Duration::from_secs(5);
const TOTAL: Duration = Duration::from_secs(15);

/// Whom a fetch trusts, and how long it may take.
#[derive(Debug, Clone)]
pub struct Fetcher {
    /// Only these authorities; `None`: those of this computer.
    authorities: Option<Vec<reqwest::Certificate>>,
    total: Duration,
}

impl Default for Fetcher {
    fn default() -> Self {
        Self { authorities: None, total: TOTAL }
    }
}

impl Fetcher {
    /// Trusts these certificates (DER) and no others.
    pub fn trusting(certificates: &[Vec<u8>], total: Duration) -> Self {
        let read = |der: &Vec<u8>| reqwest::Certificate::from_der(der).ok();
        Self { authorities: Some(certificates.iter().filter_map(read).collect()), total }
    }

    /// The body of a JSON document at an HTTPS address. Every address is asked anew.
    pub fn get(&self, address: &str, limit: usize) -> Result<Vec<u8>, Reason> {
        let address = Url::parse(address).map_err(|_| Reason::LedgerUnavailable)?;
        let plain = address.scheme() == "https" && address.username().is_empty() && address.password().is_none();
        if !plain {
            return Err(Reason::LedgerUnavailable);
        }
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|_| Reason::LedgerUnavailable)?;
        runtime.block_on(async {
            let fetched = tokio::time::timeout(self.total, self.fetched(address, limit)).await;
            fetched.unwrap_or(Err(Reason::LedgerUnavailable))
        })
    }

    async fn fetched(&self, address: Url, limit: usize) -> Result<Vec<u8>, Reason> {
        let unavailable = |_| Reason::LedgerUnavailable;
        let client = self.client().map_err(unavailable)?;
        let response = client.get(address).header(ACCEPT, "application/json").send().await.map_err(unavailable)?;
        if response.status().is_redirection() {
            return Err(Reason::LedgerRedirectRefused);
        }
        if response.status() != StatusCode::OK {
            return Err(Reason::LedgerUnavailable);
        }
        body(response, limit).await
    }

    fn client(&self) -> reqwest::Result<Client> {
        // Somebody else may have installed one already; either serves.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .https_only(true)
            .redirect(Policy::none())
            .no_proxy()
            .referer(false)
            .connect_timeout(CONNECT)
            .timeout(self.total)
            .user_agent(concat!("openadapt-agent/", env!("CARGO_PKG_VERSION")));
        match &self.authorities {
            Some(certificates) => client.tls_certs_only(certificates.iter().cloned()),
            None => client,
        }
        .build()
    }
}

/// Reads what arrives, whatever length was promised. An encoding that nobody asked for hides the length, so it counts as too large.
async fn body(mut response: Response, limit: usize) -> Result<Vec<u8>, Reason> {
    let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
    if header(CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity") {
        return Err(Reason::LedgerTooLarge);
    }
    let media_type =
        header(CONTENT_TYPE).unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if media_type != "application/json" {
        return Err(Reason::LedgerNotJson);
    }
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|_| Reason::LedgerUnavailable)? {
        if bytes.len() + chunk.len() > limit {
            return Err(Reason::LedgerTooLarge);
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}
