//! The two ends of the connection, whatever they are: pipes, sockets, files.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::oneshot;

#[cfg(unix)]
use super::unix;

/// A connection to one client.
pub struct Wire {
    pub(super) reader: Box<dyn AsyncRead + Send + Unpin>,
    pub(super) writer: Writer,
    pub(super) hangup: Hangup,
    pub(super) called_off: Arc<AtomicBool>,
}

impl Wire {
    /// What is read once this flag is set starts nothing any more. A signal handler sets it the moment the signal comes, which
    /// is before anything that was sent after the signal can be read.
    pub fn until(self, called_off: Arc<AtomicBool>) -> Self {
        Self { called_off, ..self }
    }

    /// Over any pair of streams.
    pub fn new(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        let writer = Writer { io: Box::new(writer), copied: None };
        Self { reader: Box::new(reader), writer, hangup: Hangup::default(), called_off: Arc::default() }
    }

    /// Over the process's own standard input and output. Needs a runtime with IO enabled.
    #[cfg(unix)]
    pub fn stdio() -> io::Result<Self> {
        use std::os::fd::AsFd;
        Self::from_fds(io::stdin().as_fd().try_clone_to_owned()?, io::stdout().as_fd().try_clone_to_owned()?)
    }

    #[cfg(not(unix))]
    pub fn stdio() -> io::Result<Self> {
        Ok(Self::new(tokio::io::stdin(), tokio::io::stdout()))
    }

    /// Over two descriptors, whose flags stay as they are: others may share them.
    #[cfg(unix)]
    pub fn from_fds(input: std::os::fd::OwnedFd, output: std::os::fd::OwnedFd) -> io::Result<Self> {
        let hangup = Hangup(Some(input.try_clone()?));
        let (io, copied) = unix::writer(output)?;
        Ok(Self { reader: unix::reader(input)?, writer: Writer { io, copied }, hangup, called_off: Arc::default() })
    }
}

/// Where answers go.
pub struct Writer {
    pub io: Box<dyn AsyncWrite + Send + Unpin>,
    /// Resolves when a thread behind `io` has passed on the last byte.
    pub copied: Option<oneshot::Receiver<()>>,
}

impl Writer {
    pub async fn close(self) {
        drop(self.io);
        if let Some(copied) = self.copied {
            // An error says that the thread is gone, so there is nothing to wait for either.
            let _ = copied.await;
        }
    }
}

/// Tells whether the client has closed its end, even where unread bytes stand before the end.
#[derive(Debug, Default)]
pub struct Hangup(#[cfg(unix)] Option<std::os::fd::OwnedFd>);

impl Hangup {
    #[cfg(unix)]
    pub fn seen(&self) -> bool {
        self.0.as_ref().is_some_and(unix::is_hung_up)
    }

    #[cfg(not(unix))]
    pub fn seen(&self) -> bool {
        false
    }
}
