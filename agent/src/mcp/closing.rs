//! The one signal that says the connection is over, and why.

use std::sync::Arc;

use tokio::sync::watch;

/// Why serving ended. Each is a normal end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The client closed its end.
    Eof,
    /// The caller asked for it (SIGTERM, SIGINT).
    Shutdown,
    /// Nobody reads the answers any more.
    ReaderGone,
}

#[derive(Debug, Clone)]
pub struct Closing(Arc<watch::Sender<Option<Ended>>>);

impl Default for Closing {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(None)))
    }
}

impl Closing {
    /// The first reason stands.
    pub fn begin(&self, ended: Ended) {
        self.0.send_if_modified(|reason| {
            let first = reason.is_none();
            reason.get_or_insert(ended);
            first
        });
    }

    /// Ready once closing has begun.
    pub async fn begun(&self) -> Ended {
        let mut reason = self.0.subscribe();
        loop {
            if let Some(ended) = *reason.borrow_and_update() {
                return ended;
            }
            if reason.changed().await.is_err() {
                return Ended::Shutdown;
            }
        }
    }
}
