//! Writing to the two output pipes. A reader that went away is not an error: the real program's fate doesn't depend on it here.

use std::io;
use std::os::fd::AsFd;

use serde::Deserialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pipe {
    Stdout,
    Stderr,
}

/// Writes all bytes, unbuffered, blocking while the pipe is full. `false` when nobody reads any more.
pub fn write(pipe: Pipe, bytes: &[u8]) -> bool {
    match pipe {
        Pipe::Stdout => write_all(io::stdout().as_fd(), bytes),
        Pipe::Stderr => write_all(io::stderr().as_fd(), bytes),
    }
}

/// Writes a text and a line end.
pub fn line(pipe: Pipe, text: &str) {
    write(pipe, format!("{text}\n").as_bytes());
}

fn write_all(fd: impl AsFd, mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        match rustix::io::write(&fd, bytes) {
            Ok(0) => return false,
            Ok(written) => bytes = &bytes[written..],
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return false,
        }
    }
    true
}
