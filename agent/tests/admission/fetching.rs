//! Ledgers over HTTPS, from a server on this computer that does what it wants.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use openadapt_agent::admission::Reason;
use openadapt_agent::admission::fetch::Fetcher;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

const LIMIT: usize = 2 << 20;

type Tls = StreamOwned<ServerConnection, TcpStream>;

/// A server for one request, with a certificate of its own.
struct Server {
    address: String,
    certificate: Vec<u8>,
    answering: Option<std::thread::JoinHandle<()>>,
}

impl Server {
    /// Reads the request's head, then does this.
    fn doing(act: impl FnOnce(&mut Tls) + Send + 'static) -> Self {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let answering = std::thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            let mut tls = StreamOwned::new(ServerConnection::new(Arc::new(config)).unwrap(), stream);
            let mut head = Vec::new();
            let mut byte = [0];
            while !head.ends_with(b"\r\n\r\n") {
                // A client that doesn't trust this server leaves before it asks.
                if tls.read(&mut byte).unwrap_or(0) == 0 {
                    return;
                }
                head.push(byte[0]);
            }
            let head = String::from_utf8(head).unwrap().to_lowercase();
            assert!(head.starts_with("get /ledger.json http/1.1\r\n"), "{head}");
            assert!(
                !head.contains("cookie") && !head.contains("referer") && !head.contains("accept-encoding"),
                "{head}"
            );
            act(&mut tls);
        });
        Self {
            address: format!("https://localhost:{port}/ledger.json"),
            certificate: made.cert.der().to_vec(),
            answering: Some(answering),
        }
    }

    fn answering(head: &str, body: impl Into<Vec<u8>>) -> Self {
        let (head, body) = (head.replace('\n', "\r\n"), body.into());
        Self::doing(move |tls| {
            // The client may have had enough before everything is written.
            let _ = tls
                .write_all(head.as_bytes())
                .and_then(|()| tls.write_all(b"\r\n\r\n"))
                .and_then(|()| tls.write_all(&body));
            tls.conn.send_close_notify();
            let _ = tls.flush();
            let _ = tls.sock.shutdown(Shutdown::Write);
        })
    }

    fn fetched(mut self) -> Result<Vec<u8>, Reason> {
        let fetched = Fetcher::trusting(std::slice::from_ref(&self.certificate), Duration::from_secs(20))
            .get(&self.address, LIMIT);
        self.answering.take().unwrap().join().unwrap();
        fetched
    }
}

fn answered(head: &str, body: impl Into<Vec<u8>>) -> Result<Vec<u8>, Reason> {
    Server::answering(head, body).fetched()
}

#[test]
fn a_document_is_read_as_it_is() {
    let head = "HTTP/1.1 200 OK\nContent-Type: application/json; charset=utf-8\nContent-Length: 2";
    assert_eq!(answered(head, "{}"), Ok(b"{}".to_vec()));
    let chunked = "HTTP/1.1 200 OK\nContent-Type: application/json\nTransfer-Encoding: chunked";
    assert_eq!(answered(chunked, "1\r\n{\r\n1\r\n}\r\n0\r\n\r\n"), Ok(b"{}".to_vec()));
    assert_eq!(answered("HTTP/1.1 200 OK\nContent-Type: application/json", "{}"), Ok(b"{}".to_vec()));
}

#[test]
fn more_than_the_limit_is_never_read_whatever_was_promised() {
    let json = "HTTP/1.1 200 OK\nContent-Type: application/json";
    let large = vec![b' '; LIMIT + 1];
    assert_eq!(answered(&format!("{json}\nContent-Length: {}", LIMIT + 1), large.clone()), Err(Reason::LedgerTooLarge));
    assert_eq!(answered(json, large), Err(Reason::LedgerTooLarge));
    let chunk = format!("{:x}\r\n{}\r\n", 1 << 20, " ".repeat(1 << 20));
    let chunked = format!("{json}\nTransfer-Encoding: chunked");
    assert_eq!(answered(&chunked, chunk.repeat(3)), Err(Reason::LedgerTooLarge));
    assert_eq!(answered(json, vec![b' '; LIMIT]).map(|body| body.len()), Ok(LIMIT));
    let promised = format!("{json}\nContent-Length: 3");
    assert_eq!(answered(&promised, "{} behind it").map(|body| body.len()), Ok(3));
}

#[test]
fn an_encoding_that_nobody_asked_for_hides_the_size() {
    let head = "HTTP/1.1 200 OK\nContent-Type: application/json\nContent-Encoding: gzip\nContent-Length: 2";
    assert_eq!(answered(head, "{}"), Err(Reason::LedgerTooLarge));
}

#[test]
fn no_redirect_is_followed() {
    for place in ["https://example.org/ledger.json", "http://localhost/ledger.json", "/ledger.json"] {
        for status in [301, 302, 307, 308] {
            let head = format!("HTTP/1.1 {status} Moved\nLocation: {place}\nContent-Length: 0");
            assert_eq!(answered(&head, ""), Err(Reason::LedgerRedirectRefused), "{status} {place}");
        }
    }
}

#[test]
fn anything_but_a_whole_json_document_is_no_ledger() {
    for status in ["404 Not Found", "500 Internal Server Error", "204 No Content", "206 Partial Content"] {
        let head = format!("HTTP/1.1 {status}\nContent-Type: application/json\nContent-Length: 0");
        assert_eq!(answered(&head, ""), Err(Reason::LedgerUnavailable), "{status}");
    }
    let cut = "HTTP/1.1 200 OK\nContent-Type: application/json\nContent-Length: 9";
    assert_eq!(answered(cut, "{}"), Err(Reason::LedgerUnavailable));
    let page = "HTTP/1.1 200 OK\nContent-Type: text/html\nContent-Length: 2";
    assert_eq!(answered(page, "{}"), Err(Reason::LedgerNotJson));
    assert_eq!(answered("nothing that is HTTP", ""), Err(Reason::LedgerUnavailable));
}

#[test]
fn a_server_that_says_nothing_more_is_left() {
    let (release, held) = std::sync::mpsc::channel::<()>();
    let mut server = Server::doing(move |tls| {
        let head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{";
        tls.write_all(head).and_then(|()| tls.flush()).unwrap();
        // Until the client has given up.
        let _ = held.recv();
    });
    let fetcher = Fetcher::trusting(std::slice::from_ref(&server.certificate), Duration::from_millis(500));
    assert_eq!(fetcher.get(&server.address, LIMIT), Err(Reason::LedgerUnavailable));
    drop(release);
    server.answering.take().unwrap().join().unwrap();
}

#[test]
fn a_server_that_isnt_trusted_or_isnt_there_is_unavailable() {
    let mut stranger = Server::answering("HTTP/1.1 200 OK\nContent-Type: application/json", "{}");
    let other = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap().cert.der().to_vec();
    let fetcher = Fetcher::trusting(&[other], Duration::from_secs(20));
    assert_eq!(fetcher.get(&stranger.address, LIMIT), Err(Reason::LedgerUnavailable));
    stranger.answering.take().unwrap().join().unwrap();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    assert_eq!(fetcher.get(&format!("https://localhost:{free}/x"), LIMIT), Err(Reason::LedgerUnavailable));
}

#[test]
fn only_plain_https_is_asked() {
    let fetcher = Fetcher::trusting(&[], Duration::from_secs(20));
    for address in [
        "http://localhost/x",
        "https://user@localhost/x",
        "https://user:word@localhost/x",
        "file:///etc/hostname",
        "ftp://localhost/x",
        "https://",
    ] {
        assert_eq!(fetcher.get(address, LIMIT), Err(Reason::LedgerUnavailable), "{address}");
    }
}
