//! Descriptors as async streams, without touching flags that another process may share.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::thread;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::unix::pipe;
use tokio::sync::oneshot;

type BoxedReader = Box<dyn AsyncRead + Send + Unpin>;
type BoxedWriter = (Box<dyn AsyncWrite + Send + Unpin>, Option<oneshot::Receiver<()>>);

/// A pipe is reopened for non-blocking use of our own. Anything else (a socketpair from a node parent, a file, a
/// terminal) is copied by a thread, which at worst stays behind in a blocking read when the process exits.
pub fn reader(fd: OwnedFd) -> io::Result<BoxedReader> {
    if let Some(receiver) = reopened(&fd, |path| pipe::OpenOptions::new().open_receiver(path)) {
        return Ok(Box::new(receiver));
    }
    let (near, far) = io::pipe()?;
    thread::Builder::new().name("stdin".to_owned()).spawn(move || copy(File::from(fd), far))?;
    Ok(Box::new(pipe::Receiver::from_owned_fd(near.into())?))
}

pub fn writer(fd: OwnedFd) -> io::Result<BoxedWriter> {
    if let Some(sender) = reopened(&fd, |path| pipe::OpenOptions::new().open_sender(path)) {
        return Ok((Box::new(sender), None));
    }
    let (far, near) = io::pipe()?;
    let (done, copied) = oneshot::channel();
    thread::Builder::new().name("stdout".to_owned()).spawn(move || {
        copy(far, File::from(fd));
        // Nobody waits any more if this fails.
        let _ = done.send(());
    })?;
    Ok((Box::new(pipe::Sender::from_owned_fd(near.into())?), Some(copied)))
}

pub fn is_hung_up(fd: &OwnedFd) -> bool {
    #[cfg(target_os = "linux")]
    let gone = PollFlags::HUP | PollFlags::RDHUP | PollFlags::ERR;
    #[cfg(not(target_os = "linux"))]
    let gone = PollFlags::HUP | PollFlags::ERR;
    let mut fds = [PollFd::new(fd, gone)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut fds, Some(&now)).is_ok() && fds.iter().any(|it| it.revents().intersects(gone))
}

#[cfg(target_os = "linux")]
fn reopened<T>(fd: &OwnedFd, open: impl FnOnce(String) -> io::Result<T>) -> Option<T> {
    use std::os::fd::AsRawFd;
    open(format!("/proc/self/fd/{}", fd.as_raw_fd())).ok()
}

#[cfg(not(target_os = "linux"))]
fn reopened<T>(_: &OwnedFd, _: impl FnOnce(String) -> io::Result<T>) -> Option<T> {
    None
}

/// Passes bytes on as they come, until either side is gone. Both ends close with the files.
fn copy(mut from: impl Read, mut to: impl Write) {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = match from.read(&mut buffer) {
            Ok(0) => return,
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(_) => return,
        };
        let Some(bytes) = buffer.get(..read) else { return };
        if to.write_all(bytes).is_err() {
            return;
        }
    }
}
