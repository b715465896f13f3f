//! Logging that can't hurt the server: stderr may be full, closed, or never read.

use std::io::{self, Write};
use std::sync::OnceLock;
use std::sync::mpsc::{self, SyncSender, TrySendError};
use std::thread;
use std::time::Duration;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Lines that may wait for stderr. More are dropped.
const WAITING: usize = 256;

enum Entry {
    Line(Vec<u8>),
    Flush(SyncSender<()>),
}

static ENTRIES: OnceLock<SyncSender<Entry>> = OnceLock::new();

/// Sends events of `level` and above to stderr, and a panic as one event without what was thrown, which may hold
/// anything. Events of rmcp never appear: they quote messages. A second call changes nothing.
pub fn install(level: LevelFilter) {
    let (entries, queue) = mpsc::sync_channel(WAITING);
    if ENTRIES.set(entries.clone()).is_err() {
        return;
    }
    let started = thread::Builder::new().name("stderr".to_owned()).spawn(move || {
        for entry in queue {
            match entry {
                // Where stderr is gone there is nobody to tell.
                Entry::Line(line) => drop(io::stderr().write_all(&line)),
                Entry::Flush(done) => drop(done.try_send(())),
            }
        }
    });
    if started.is_err() {
        return;
    }
    let filter = Targets::new().with_default(level).with_target("rmcp", LevelFilter::OFF);
    let lines = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(Lossy(entries)).with_filter(filter);
    if tracing_subscriber::registry().with(lines).try_init().is_ok() {
        std::panic::set_hook(Box::new(|panic| {
            let place = panic.location().map(|it| (it.file(), it.line()));
            tracing::error!(?place, "internal fault");
        }));
    }
}

/// Gives what is waiting a moment to reach stderr, before the process exits.
pub fn flush() {
    let Some(entries) = ENTRIES.get() else { return };
    let (done, flushed) = mpsc::sync_channel(1);
    if entries.try_send(Entry::Flush(done)).is_ok() {
        // A stderr that nobody reads is not waited for.
        let _ = flushed.recv_timeout(Duration::from_millis(50));
    }
}

#[derive(Clone)]
struct Lossy(SyncSender<Entry>);

impl<'a> MakeWriter<'a> for Lossy {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl Write for Lossy {
    /// tracing writes an event in one piece.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        match self.0.try_send(Entry::Line(line.to_vec())) {
            Ok(()) | Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => Ok(line.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
