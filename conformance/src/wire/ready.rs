//! Waiting for a descriptor that is neither a pipe nor a socket.

use std::io;
use std::os::fd::OwnedFd;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

#[expect(deprecated, reason = "the successor is an unsafe function; an OwnedFd keeps its promise by itself")]
pub fn readable(fd: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::with_interest(fd, Interest::READABLE)
}
