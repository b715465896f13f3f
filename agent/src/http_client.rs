//! The one way to an HTTP client: no proxy, no redirect, no referrer. TLS, where it is asked for, is rustls over ring.

use reqwest::ClientBuilder;
use reqwest::redirect::Policy;

pub fn builder() -> ClientBuilder {
    // Somebody else may have installed one already; either serves.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().redirect(Policy::none()).referer(false)
}
