//! Every line that crossed a pipe, in order, and who waits for the next one.

use std::cell::{Ref, RefCell};
use std::collections::HashMap;
use std::mem::take;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use super::tail::Tail;
use crate::evidence::{Exchange, Frame, JournalLine, Way};

/// Text of a line that is kept; a longer one is cut in the record.
const KEPT_SENT: usize = 64 * 1024;
const KEPT_RECEIVED: usize = 16 * 1024 * 1024;

#[derive(Debug)]
pub struct Transcript {
    began: Instant,
    inner: RefCell<Inner>,
    changed: Notify,
}

#[derive(Debug)]
struct Inner {
    frames: Vec<Frame>,
    exchanges: Vec<Exchange>,
    /// Exchange index by server and id, as they were sent.
    open: HashMap<(String, String), usize>,
    tail: Tail,
}

/// Nothing came in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expired;

impl Transcript {
    pub fn new(tail: Tail) -> Self {
        let inner = Inner { frames: Vec::new(), exchanges: Vec::new(), open: HashMap::new(), tail };
        Self { began: Instant::now(), inner: RefCell::new(inner), changed: Notify::new() }
    }

    /// Since the world began.
    pub fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Logs a line before it is written: a reply can't stand before its request.
    pub fn sent(&self, server: &str, bytes: &[u8], ended: bool, raw: bool) -> usize {
        self.log(server, Way::Sent, bytes, ended, raw, KEPT_SENT)
    }

    pub fn received(&self, server: &str, bytes: &[u8], ended: bool) {
        let frame = self.log(server, Way::Received, bytes, ended, false, KEPT_RECEIVED);
        let mut inner = self.inner.borrow_mut();
        let message: Option<Value> = serde_json::from_slice(bytes).ok();
        if let Some(id) = message.as_ref().filter(|message| message.get("method").is_none()).and_then(|m| m.get("id")) {
            let key = (server.to_owned(), id.to_string());
            let exchange = inner.open.get(&key).copied();
            if let Some(exchange) = exchange.and_then(|index| inner.exchanges.get_mut(index)) {
                exchange.answer = exchange.answer.or(Some(frame));
            }
        }
        drop(inner);
        self.changed.notify_waiters();
    }

    pub fn opened(&self, exchange: Exchange) -> usize {
        let mut inner = self.inner.borrow_mut();
        let index = inner.exchanges.len();
        inner.open.insert((exchange.server.clone(), exchange.id.to_string()), index);
        inner.exchanges.push(exchange);
        index
    }

    pub fn cancelled(&self, exchange: usize, frame: usize) {
        self.inner.borrow_mut().exchanges[exchange].cancelled = Some(frame);
    }

    pub fn frames(&self) -> Ref<'_, [Frame]> {
        Ref::map(self.inner.borrow(), |inner| inner.frames.as_slice())
    }

    pub fn exchange(&self, index: usize) -> Exchange {
        self.inner.borrow().exchanges[index].clone()
    }

    /// The answer to an exchange, as JSON.
    pub fn answer(&self, exchange: usize) -> Option<Value> {
        let inner = self.inner.borrow();
        let frame = inner.exchanges[exchange].answer?;
        serde_json::from_str(&inner.frames[frame].text).ok()
    }

    pub fn is_answered(&self, exchange: usize) -> bool {
        self.inner.borrow().exchanges[exchange].answer.is_some()
    }

    pub fn journal(&self) -> Ref<'_, [JournalLine]> {
        self.inner.borrow_mut().tail.refresh();
        Ref::map(self.inner.borrow(), |inner| inner.tail.lines.as_slice())
    }

    pub fn journal_grew(&self) {
        self.changed.notify_waiters();
    }

    /// Something that isn't a line happened: a process ended, a pipe was closed.
    pub fn wake(&self) {
        self.changed.notify_waiters();
    }

    /// Waits until `look` finds something; it looks again whenever anything was received, journalled or ended.
    pub async fn until<T>(&self, limit: Duration, mut look: impl FnMut() -> Option<T>) -> Result<T, Expired> {
        let deadline = Instant::now() + limit;
        loop {
            let mut change = std::pin::pin!(self.changed.notified());
            change.as_mut().enable();
            if let Some(found) = look() {
                return Ok(found);
            }
            timeout_at(deadline, change).await.map_err(|_| Expired)?;
        }
    }

    /// The whole record, taken out: frames, exchanges, journal.
    pub fn take(&self) -> (Vec<Frame>, Vec<Exchange>, Vec<JournalLine>) {
        let mut inner = self.inner.borrow_mut();
        inner.tail.refresh();
        (take(&mut inner.frames), take(&mut inner.exchanges), take(&mut inner.tail.lines))
    }

    fn log(&self, server: &str, way: Way, bytes: &[u8], ended: bool, raw: bool, kept: usize) -> usize {
        let at_us = u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX);
        let mut inner = self.inner.borrow_mut();
        inner.tail.refresh();
        let frame = Frame {
            server: server.to_owned(),
            way,
            at_us,
            journal: inner.tail.lines.len(),
            text: String::from_utf8_lossy(&bytes[..bytes.len().min(kept)]).into_owned(),
            bytes: bytes.len(),
            utf8: std::str::from_utf8(bytes).is_ok(),
            ended,
            raw,
        };
        inner.frames.push(frame);
        inner.frames.len() - 1
    }
}
