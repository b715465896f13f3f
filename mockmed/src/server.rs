//! Starting and stopping: one listener on 127.0.0.1, one thread, one runtime.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

use crate::clinic::{Clinic, ClinicError};
use crate::http;
use crate::journal::{Journal, JournalError};
use crate::store::{Store, StoreError};

/// How long open requests may go on after a stop was asked for.
const GRACE: Duration = Duration::from_millis(300);

/// What can be chosen.
#[derive(Debug, Clone)]
pub struct Options {
    /// 0 takes a free one.
    pub port: u16,
    /// Where the write journal is appended; none by default.
    pub journal: Option<PathBuf>,
    /// The SQLite file that keeps the records; in memory by default.
    pub db: Option<PathBuf>,
    /// How late the answer of `fault=timeout` is. The page gives up after 1.2 s.
    pub late_by: Duration,
    /// How long a request's body may take to come.
    pub body_within: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self { port: 0, journal: None, db: None, late_by: Duration::from_secs(3), body_within: Duration::from_secs(10) }
    }
}

/// A server that runs until it is stopped or dropped.
#[derive(Debug)]
pub struct Running {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<Result<(), ClinicError>>>,
}

#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("port {port} on 127.0.0.1 can't be used: {source}")]
    Port { port: u16, source: io::Error },
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the server can't be started: {0}")]
    System(#[from] io::Error),
}

/// Serves until the handle is stopped or dropped. The address answers when this comes back.
pub fn start(options: &Options) -> Result<Running, StartError> {
    let journal = options.journal.as_deref().map_or(Ok(Journal::none()), Journal::append_to)?;
    let store = options.db.as_deref().map_or_else(Store::in_memory, Store::in_file)?;
    let clinic = Arc::new(Clinic::new(store, journal));

    let port = options.port;
    let listener =
        TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|source| StartError::Port { port, source })?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    clinic.started(&url(address)).map_err(StartError::from)?;

    let runtime = Builder::new_current_thread().enable_all().build()?;
    let (stop, stopped) = watch::channel(false);
    let app = http::App::new(Arc::clone(&clinic), address.port(), options);
    let thread = std::thread::Builder::new().name("mockmed".to_owned()).spawn(move || {
        let served = serve(&runtime, listener, app, stopped);
        // Requests that are still open end here, and say in the journal that nobody was told.
        drop(runtime);
        served.map_err(JournalError::Append)?;
        clinic.stopped()
    })?;
    Ok(Running { address, stop, thread: Some(thread) })
}

impl Running {
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// `http://127.0.0.1:<port>/`
    pub fn url(&self) -> String {
        url(self.address)
    }

    /// Stops, and comes back when the port is free and the journal is complete.
    pub fn stop(mut self) -> io::Result<()> {
        self.end()
    }

    fn end(&mut self) -> io::Result<()> {
        self.stop.send_replace(true);
        match self.thread.take().map(JoinHandle::join) {
            None | Some(Ok(Ok(()))) => Ok(()),
            Some(Ok(Err(fault))) => Err(io::Error::other(fault)),
            Some(Err(_)) => Err(io::Error::other("the server's thread panicked")),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

impl From<ClinicError> for StartError {
    fn from(fault: ClinicError) -> Self {
        match fault {
            ClinicError::Store(fault) => Self::Store(fault),
            ClinicError::Journal(fault) => Self::Journal(fault),
        }
    }
}

impl StartError {
    /// What the person who started it can do.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Port { .. } => "leave --port out, and a free one is taken",
            Self::Journal(JournalError::InUse(_)) => "give each server a journal of its own",
            Self::Journal(_) => "name a file in a folder that exists and may be written, with free space",
            Self::Store(StoreError::InUse(_)) => "give each server a file of its own, or stop the other server",
            Self::Store(StoreError::Foreign(_)) => "name a file that MockMed made, or one that doesn't exist yet",
            Self::Store(_) => "name a file in a folder that exists and may be written",
            Self::System(_) => "look at the limits on open files and threads",
        }
    }
}

fn serve(
    runtime: &Runtime,
    listener: TcpListener,
    app: http::App,
    mut stopped: watch::Receiver<bool>,
) -> io::Result<()> {
    runtime.block_on(async move {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let mut graceful = stopped.clone();
        let serving = axum::serve(listener, http::router(app)).with_graceful_shutdown(async move {
            let _ = graceful.wait_for(|stop| *stop).await;
        });
        let deadline = async {
            let _ = stopped.wait_for(|stop| *stop).await;
            tokio::time::sleep(GRACE).await;
        };
        tokio::select! {
            served = serving => served,
            () = deadline => Ok(()),
        }
    })
}

fn url(address: SocketAddr) -> String {
    format!("http://{address}/")
}
