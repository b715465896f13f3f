//! A save over HTTP into the made-up clinic, on this computer only.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::json;

const PATIENT: &str = "p1";
const PATIENCE: Duration = Duration::from_secs(10);

/// Saves one note at `http://127.0.0.1:PORT`; anything but a stored record is an error.
pub fn save(address: &str, note: &str) -> io::Result<()> {
    let host = address.trim_end_matches('/').strip_prefix("http://").unwrap_or_default();
    let clinic: SocketAddr = host.parse().map_err(|_| io::Error::other("a save goes to http://ADDRESS:PORT"))?;
    if !clinic.ip().is_loopback() {
        return Err(io::Error::other("a save goes to this computer only"));
    }
    let body = json!({"patient_id": PATIENT, "note": note}).to_string();
    let mut stream = TcpStream::connect_timeout(&clinic, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    write!(
        stream,
        "POST /api/encounter?fault=ok HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let stored = answer.split(' ').nth(1).is_some_and(|status| status.starts_with('2'));
    if stored { Ok(()) } else { Err(io::Error::other("the clinic didn't store the note")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_save_goes_nowhere_but_to_this_computer() {
        for address in ["http://192.0.2.1:80", "https://127.0.0.1:1", "http://localhost:1", "", "127.0.0.1:1"] {
            assert!(save(address, "x").is_err(), "{address}");
        }
    }
}
