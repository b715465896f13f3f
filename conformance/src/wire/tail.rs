//! Follows the launch journal while a world runs.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::rc::Rc;

use rustix::fs::inotify;

use super::ready::readable;
use super::transcript::Transcript;
use crate::evidence::JournalLine;

/// The journal's lines up to now. Reading further is cheap: one read where nothing was added.
#[derive(Debug)]
pub struct Tail {
    file: File,
    unfinished: Vec<u8>,
    pub lines: Vec<JournalLine>,
}

impl Tail {
    /// Makes the journal file, empty.
    pub fn create(path: &Path) -> io::Result<Self> {
        File::create(path)?;
        Ok(Self { file: File::open(path)?, unfinished: Vec::new(), lines: Vec::new() })
    }

    /// Takes in what was written since. A last line without its newline waits for the rest.
    pub fn refresh(&mut self) {
        let mut added = Vec::new();
        if self.file.read_to_end(&mut added).is_err() || added.is_empty() {
            return;
        }
        self.unfinished.extend(added);
        while let Some(end) = self.unfinished.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.unfinished.drain(..=end).collect();
            self.lines.push(JournalLine::parse(String::from_utf8_lossy(&line).trim_end()));
        }
    }
}

/// Wakes the transcript's waiters whenever the journal grows, until it is dropped.
pub async fn follow(path: std::path::PathBuf, transcript: Rc<Transcript>) -> io::Result<()> {
    let watch: OwnedFd = inotify::init(inotify::CreateFlags::NONBLOCK | inotify::CreateFlags::CLOEXEC)?;
    inotify::add_watch(&watch, &path, inotify::WatchFlags::MODIFY)?;
    let watch = readable(watch)?;
    loop {
        let mut ready = watch.readable().await?;
        let mut events = [0_u8; 4096];
        while matches!(rustix::io::read(watch.get_ref(), &mut events), Ok(count) if count > 0) {}
        ready.clear_ready();
        transcript.journal_grew();
    }
}
