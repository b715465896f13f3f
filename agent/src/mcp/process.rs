//! Serving as a process: runtime, signals, and an end that nothing can hold up.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use super::closing::Ended;
use super::serve::{ServerFace, serve};
use super::wire::Wire;
use crate::bridge::host::ToolHost;

/// Threads for what blocks, the disk above all. Calls that wait take none.
const BLOCKING_THREADS: usize = 8;

/// From the moment that the process is asked to end, it lives no longer than this, whatever blocks.
const LAST_RESORT: Duration = Duration::from_millis(950);

/// Serves standard input and output until the client leaves, or SIGTERM, SIGINT or SIGHUP (Ctrl-C where there are none).
/// The caller then exits with 0. `host` is made within the runtime.
///
/// # Errors
/// When the runtime, the signals or the standard streams can't be set up.
pub fn serve_stdio<H: ToolHost>(face: ServerFace, host: impl FnOnce() -> Arc<H>) -> io::Result<Ended> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(BLOCKING_THREADS).build()?;
    let ended = runtime.block_on(async {
        let shutdown = asked_to_end()?;
        let wire = Wire::stdio()?.until(called_off()?);
        io::Result::Ok(serve(host(), face, wire, shutdown).await)
    });
    // Work on blocking threads is left behind: what must last was made durable before.
    runtime.shutdown_background();
    ended
}

/// Ready at the first signal. A thread then sees to it that the process ends even if the runtime never runs again.
fn asked_to_end() -> io::Result<impl Future<Output = ()> + Send> {
    let signalled = signalled()?;
    Ok(async {
        signalled.await;
        last_resort();
    })
}

/// Set by the signal itself, before the runtime hears of it.
#[cfg(unix)]
fn called_off() -> io::Result<Arc<AtomicBool>> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [SIGTERM, SIGINT, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&flag))?;
    }
    Ok(flag)
}

#[cfg(not(unix))]
fn called_off() -> io::Result<Arc<AtomicBool>> {
    Ok(Arc::default())
}

#[cfg(unix)]
fn signalled() -> io::Result<impl Future<Output = ()> + Send> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut term = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hangup = signal(SignalKind::hangup())?;
    Ok(async move {
        tokio::select! {
            _ = term.recv() => {}
            _ = interrupt.recv() => {}
            _ = hangup.recv() => {}
        }
    })
}

#[cfg(not(unix))]
fn signalled() -> io::Result<impl Future<Output = ()> + Send> {
    Ok(async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}

fn last_resort() {
    let watchdog = thread::Builder::new().name("watchdog".to_owned()).spawn(|| {
        thread::sleep(LAST_RESORT);
        std::process::exit(0);
    });
    if watchdog.is_err() {
        tracing::warn!("the watchdog for the end of the process could not be started");
    }
}
