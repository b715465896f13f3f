//! What ends the program in an orderly way: SIGTERM, SIGINT, and the end of stdin where that was asked for.

use std::io;

use tokio::runtime::{Builder, Runtime};
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;

#[derive(Debug)]
pub struct StopSignals {
    runtime: Runtime,
    #[cfg(unix)]
    terminate: Signal,
    #[cfg(unix)]
    interrupt: Signal,
}

impl StopSignals {
    /// From now on no signal is missed.
    pub fn listen() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        #[cfg(unix)]
        {
            let entered = runtime.enter();
            let (terminate, interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
            drop(entered);
            Ok(Self { runtime, terminate, interrupt })
        }
        #[cfg(not(unix))]
        Ok(Self { runtime })
    }

    /// Comes back with the first of them.
    pub fn wait(self, while_stdin_open: bool) {
        let stdin = async {
            match while_stdin_open {
                true => drop(end_of_stdin().await),
                false => std::future::pending().await,
            }
        };
        #[cfg(unix)]
        let Self { runtime, mut terminate, mut interrupt } = self;
        #[cfg(not(unix))]
        let Self { runtime } = self;
        #[cfg(unix)]
        let signalled = async {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        };
        #[cfg(not(unix))]
        let signalled = async { drop(tokio::signal::ctrl_c().await) };
        runtime.block_on(async {
            tokio::select! {
                () = signalled => {}
                () = stdin => {}
            }
        });
    }
}

/// A thread of its own reads stdin, because a read that is under way can't be called off.
fn end_of_stdin() -> oneshot::Receiver<()> {
    let (ended, receiver) = oneshot::channel();
    std::thread::spawn(move || {
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        let _ = ended.send(());
    });
    receiver
}
