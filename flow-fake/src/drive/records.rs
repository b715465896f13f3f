//! The app's record store, read back over HTTP on this computer only.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

const PATIENCE: Duration = Duration::from_secs(5);
/// An answer longer than this is none.
const MOST: u64 = 8 << 20;

/// The app: on this computer, over plain HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    address: SocketAddr,
    host: String,
}

/// What the store held at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Records {
    pub rows: Vec<Value>,
    pub rejected: u64,
}

impl Site {
    /// The site of a page's address; `None` for any that isn't this computer's own.
    pub fn of(url: &str) -> Option<Self> {
        let rest = url.strip_prefix("http://")?;
        let host = rest.split(['/', '?', '#']).next()?;
        let address: SocketAddr = host.parse().ok()?;
        address.ip().is_loopback().then(|| Self { address, host: host.to_owned() })
    }

    pub fn records(&self) -> io::Result<Records> {
        let mut stream = TcpStream::connect_timeout(&self.address, PATIENCE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let request = format!("GET /api/db HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.host);
        stream.write_all(request.as_bytes())?;
        let mut answer = Vec::new();
        stream.take(MOST).read_to_end(&mut answer)?;
        parse(&answer).ok_or_else(|| io::Error::other("the app doesn't say what its store holds"))
    }
}

fn parse(answer: &[u8]) -> Option<Records> {
    let text = std::str::from_utf8(answer).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    if head.split(' ').nth(1) != Some("200") {
        return None;
    }
    let value: Value = serde_json::from_str(body).ok()?;
    Some(Records { rows: value["records"].as_array()?.clone(), rejected: value["rejected_writes"].as_u64()? })
}

impl Records {
    /// Whether anything was written between the two moments. A row that only went away was removed by a write, too.
    pub fn changed_since(&self, before: &Self) -> bool {
        self.rows != before.rows
    }

    /// Rows of the moment before that are gone or other than they were.
    pub fn lost_since(&self, before: &Self) -> bool {
        before.rows.iter().any(|row| !self.rows.contains(row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_site_is_on_this_computer_or_none() {
        let site = Site::of("http://127.0.0.1:8080/?fault=ok#tasks").unwrap();
        assert_eq!(site.host, "127.0.0.1:8080");
        for url in
            ["http://192.0.2.1:80/", "https://127.0.0.1:1/", "http://example.com/", "http://127.0.0.1.example:1/", ""]
        {
            assert_eq!(Site::of(url), None, "{url}");
        }
    }

    #[test]
    fn an_answer_that_is_no_store_is_none() {
        let good = b"HTTP/1.1 200 OK\r\nx: y\r\n\r\n{\"records\":[{\"id\":1}],\"rejected_writes\":2}";
        assert_eq!(parse(good), Some(Records { rows: vec![json!({"id": 1})], rejected: 2 }));
        for bad in
            ["HTTP/1.1 500 X\r\n\r\n{\"records\":[],\"rejected_writes\":0}", "HTTP/1.1 200 OK\r\n\r\n{}", "", "junk"]
        {
            assert_eq!(parse(bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn a_changed_row_is_a_lost_one() {
        let before = Records { rows: vec![json!({"id": 1, "note": "a"})], rejected: 0 };
        let after = Records { rows: vec![json!({"id": 1, "note": ""}), json!({"id": 2})], rejected: 0 };
        assert!(after.lost_since(&before) && after.changed_since(&before));
        assert!(!before.lost_since(&before) && !before.changed_since(&before));
    }
}
