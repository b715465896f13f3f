//! HTTP as bytes, so that a test can also send what no client would.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

#[derive(Debug)]
pub struct Response {
    pub status: u16,
    head: String,
    pub body: String,
}

impl Response {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then_some(value.trim())
        })
    }
}

pub fn get(address: SocketAddr, path: &str) -> Response {
    exchange(address, &head("GET", path, &format!("Host: {address}\r\n"))).unwrap()
}

pub fn post(address: SocketAddr, path: &str, body: &str) -> Response {
    send(address, "POST", path, &format!("Host: {address}\r\nContent-Type: application/json\r\n"), body)
}

pub fn send(address: SocketAddr, method: &str, path: &str, headers: &str, body: &str) -> Response {
    let length = format!("Content-Length: {}\r\n", body.len());
    exchange(address, &(head(method, path, &(headers.to_owned() + &length)) + body)).unwrap()
}

/// Sends these bytes and reads until the server closes.
pub fn exchange(address: SocketAddr, request: &str) -> io::Result<Response> {
    let mut stream = open(address)?;
    stream.write_all(request.as_bytes())?;
    read(&mut stream)
}

pub fn open(address: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    Ok(stream)
}

pub fn read(stream: &mut TcpStream) -> io::Result<Response> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes)?;
    let text = String::from_utf8(bytes).map_err(io::Error::other)?;
    let (head, body) = text.split_once("\r\n\r\n").ok_or_else(|| io::Error::other(format!("no head: {text:?}")))?;
    let status = head.get(9..12).and_then(|status| status.parse().ok()).ok_or_else(|| io::Error::other("no status"))?;
    Ok(Response { status, head: head.to_owned(), body: body.to_owned() })
}

pub fn head(method: &str, path: &str, headers: &str) -> String {
    format!("{method} {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n")
}
