//! Events of the file system: a file that appears, and everything that happens in the agent's folders.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use rustix::fs::inotify;
use tokio::io::unix::AsyncFd;

use crate::wire::ready::readable;
use crate::wire::transcript::Expired;

/// Waits until there is something at the path.
pub async fn appears(path: &Path, limit: Duration) -> Result<(), Expired> {
    let appearing = async {
        let mut events = Events::new()?;
        events.watch(path.parent().unwrap_or(path))?;
        while !path.exists() {
            events.next().await?;
        }
        io::Result::Ok(())
    };
    match tokio::time::timeout(limit, appearing).await {
        Ok(Ok(())) => Ok(()),
        _ => Err(Expired),
    }
}

/// Changes in some folders, counted as they come.
pub struct Events {
    inotify: AsyncFd<OwnedFd>,
}

impl Events {
    pub fn new() -> io::Result<Self> {
        let inotify = inotify::init(inotify::CreateFlags::NONBLOCK | inotify::CreateFlags::CLOEXEC)?;
        Ok(Self { inotify: readable(inotify)? })
    }

    /// A folder, without those below it.
    pub fn watch(&self, path: &Path) -> io::Result<()> {
        use inotify::WatchFlags as On;
        let changes = On::CREATE | On::MODIFY | On::CLOSE_WRITE | On::MOVED_TO | On::DELETE;
        inotify::add_watch(self.inotify.get_ref(), path, changes)?;
        Ok(())
    }

    /// Waits for changes; how many there were.
    pub async fn next(&mut self) -> io::Result<u64> {
        loop {
            let mut ready = self.inotify.readable().await?;
            let mut buffer = [std::mem::MaybeUninit::uninit(); 4096];
            let mut reader = inotify::Reader::new(self.inotify.get_ref(), &mut buffer);
            let mut count = 0;
            loop {
                match reader.next() {
                    Ok(_) => count += 1,
                    Err(rustix::io::Errno::AGAIN) => break,
                    Err(error) => return Err(error.into()),
                }
                if reader.is_buffer_empty() {
                    break;
                }
            }
            if count > 0 {
                return Ok(count);
            }
            ready.clear_ready();
        }
    }
}
