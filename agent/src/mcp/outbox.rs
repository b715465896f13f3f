//! Lines on their way out. One task writes them, in order; the gauge tells the reading side when to hold back.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::closing::{Closing, Ended};
use super::wire::Writer;

/// With this much unwritten, no more requests are read: the answers of a client that doesn't read can't pile up.
const FULL: usize = 1024 * 1024;

/// Lines that are ready are written together up to this size.
const WRITE: usize = 64 * 1024;

#[derive(Clone)]
pub struct Outbox {
    lines: mpsc::UnboundedSender<String>,
    gauge: Arc<Gauge>,
}

#[derive(Default)]
struct Gauge {
    unwritten: AtomicUsize,
    written: Notify,
    sealed: AtomicBool,
    finish: Notify,
}

/// The task that writes, held by whoever waits for the last line to leave.
pub struct Writing {
    task: JoinHandle<()>,
    gauge: Arc<Gauge>,
}

pub fn open(writer: Writer, closing: Closing) -> (Outbox, Writing) {
    let (lines, queue) = mpsc::unbounded_channel();
    let gauge = Arc::<Gauge>::default();
    let task = tokio::spawn(write_lines(writer, queue, Arc::clone(&gauge), closing));
    (Outbox { lines, gauge: Arc::clone(&gauge) }, Writing { task, gauge })
}

impl Outbox {
    /// Queues one message without its newline. After `seal`, or with nobody left to read, it is dropped.
    pub fn push(&self, message: String) {
        if self.gauge.sealed.load(Ordering::Relaxed) {
            return;
        }
        let line = one_line(message);
        let size = line.len();
        self.gauge.unwritten.fetch_add(size, Ordering::Relaxed);
        if self.lines.send(line).is_err() {
            self.gauge.unwritten.fetch_sub(size, Ordering::Relaxed);
        }
    }

    pub fn is_full(&self) -> bool {
        self.gauge.unwritten.load(Ordering::Relaxed) >= FULL
    }

    /// Ready after the next write.
    pub async fn progress(&self) {
        let written = self.gauge.written.notified();
        if self.is_full() {
            written.await;
        }
    }

    /// From now on nothing more is taken.
    pub fn seal(&self) {
        self.gauge.sealed.store(true, Ordering::Relaxed);
    }
}

impl Writing {
    /// Waits for what is queued to be written, but no longer than `limit`.
    pub async fn finish(mut self, limit: Duration) {
        self.gauge.finish.notify_one();
        if timeout(limit, &mut self.task).await.is_err() {
            self.task.abort();
        }
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn write_lines(
    mut writer: Writer,
    mut queue: mpsc::UnboundedReceiver<String>,
    gauge: Arc<Gauge>,
    closing: Closing,
) {
    let mut chunk = Vec::with_capacity(WRITE);
    loop {
        let first = tokio::select! {
            biased;
            line = queue.recv() => line,
            () = gauge.finish.notified() => {
                queue.close();
                continue;
            }
        };
        let Some(first) = first else { break };
        chunk.extend_from_slice(first.as_bytes());
        while chunk.len() < WRITE {
            let Ok(line) = queue.try_recv() else { break };
            chunk.extend_from_slice(line.as_bytes());
        }
        let written = async {
            writer.io.write_all(&chunk).await?;
            writer.io.flush().await
        };
        if written.await.is_err() {
            closing.begin(Ended::ReaderGone);
            return;
        }
        gauge.unwritten.fetch_sub(chunk.len(), Ordering::Relaxed);
        gauge.written.notify_one();
        chunk.clear();
        chunk.shrink_to(WRITE);
    }
    writer.close().await;
}

/// One message on one line for every reader: some split lines at U+2028 and U+2029 too. In JSON both occur only within
/// strings, where an escape means the same.
fn one_line(mut message: String) -> String {
    if message.contains(['\u{2028}', '\u{2029}']) {
        message = message.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029");
    }
    message.push('\n');
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_separators_leave_as_escapes() {
        assert_eq!(one_line("\"a\u{2028}b\u{2029}c\"".to_owned()), "\"a\\u2028b\\u2029c\"\n");
    }
}
