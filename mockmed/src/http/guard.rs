//! What holds for every request: it is for this server, a page of another site didn't send it, and its answer carries the
//! headers that keep the app to itself.

use axum::extract::{Request, State};
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::App;
use super::api::Reply;
use crate::clinic::Answer;

const HEADERS: [(HeaderName, &str); 7] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (header::CACHE_CONTROL, "no-store"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

pub async fn check(State(app): State<App>, request: Request, next: Next) -> Response {
    let mut response = match refusal(app.port, request.method(), request.uri(), request.headers()) {
        Some(answer) => Reply(answer).into_response(),
        None => next.run(request).await,
    };
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

fn refusal(port: u16, method: &Method, uri: &Uri, headers: &HeaderMap) -> Option<Answer> {
    let mut hosts = headers.get_all(header::HOST).iter();
    let one_host = matches!((hosts.next(), hosts.next()), (Some(host), None) if is_ours(host.as_bytes(), port));
    let other_target = uri.authority().is_some_and(|authority| !is_ours(authority.as_str().as_bytes(), port));
    if !one_host || other_target {
        return Some(Answer::refusal(421, "this server answers only to its own address, 127.0.0.1 or localhost"));
    }
    let foreign = |origin: &HeaderValue| {
        !origin.as_bytes().strip_prefix(b"http://").is_some_and(|authority| is_ours(authority, port))
    };
    if *method != Method::GET && *method != Method::HEAD && headers.get_all(header::ORIGIN).iter().any(foreign) {
        return Some(Answer::refusal(403, "a page of another site may not change anything here"));
    }
    None
}

fn is_ours(authority: &[u8], port: u16) -> bool {
    ["127.0.0.1", "localhost"].iter().any(|name| {
        let with_port = format!("{name}:{port}");
        authority.eq_ignore_ascii_case(with_port.as_bytes())
            || (port == 80 && authority.eq_ignore_ascii_case(name.as_bytes()))
    })
}

#[cfg(test)]
mod tests {
    use super::is_ours;

    #[test]
    fn only_the_loopback_names_with_the_right_port_are_ours() {
        assert!(is_ours(b"127.0.0.1:8080", 8080));
        assert!(is_ours(b"LocalHost:8080", 8080));
        assert!(is_ours(b"localhost", 80));
        for other in
            ["localhost", "127.0.0.1:8081", "clinic.example:8080", "127.0.0.1:8080.evil.example", "[::1]:8080", ""]
        {
            assert!(!is_ours(other.as_bytes(), 8080), "{other}");
        }
    }
}
