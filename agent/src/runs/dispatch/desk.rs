//! The keeper's side: take the lock, have the intent claimed, and leave the exit facts.

use std::fs::File;
use std::io;
use std::path::Path;

use super::wire;
use super::{EXIT, ExitFacts, Intent, LOCK, read_intent};
use crate::contract::ids::RunId;
use crate::runs::files::{Folder, FolderFault};

/// What a keeper met at its dispatch folder.
#[derive(Debug)]
pub enum Entry {
    /// It holds the folder's lock and knows its order; nothing is claimed yet.
    Entered(Box<Entered>),
    /// There is no order that can be read: nothing may be started.
    NoOrder,
}

/// The lock of a run, held for as long as the value lives. Before the claim, so that a claimed run whose lock is free has no
/// keeper any more.
#[derive(Debug)]
pub struct Entered {
    intent: Intent,
    folder: Folder,
    held: File,
}

/// Enters as the keeper of a dispatch folder. Waits for another keeper to leave.
pub fn enter(dispatch_folder: &Path) -> Result<Entry, FolderFault> {
    let folder = Folder::open(dispatch_folder)?;
    let run_id = dispatch_folder.file_name().and_then(|name| name.to_str()).and_then(|name| RunId::parse(name).ok());
    let Some(run_id) = run_id else { return Ok(Entry::NoOrder) };
    let Some(intent) = read_intent(&folder, &run_id)? else { return Ok(Entry::NoOrder) };
    let held = folder.lock_file(LOCK)?;
    held.lock()?;
    Ok(Entry::Entered(Box::new(Entered { intent, folder, held })))
}

impl Entered {
    pub fn intent(&self) -> &Intent {
        &self.intent
    }

    /// The dispatch folder, for what Flow printed.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Leaves the exit facts, durably.
    pub fn leave_facts(&self, facts: &ExitFacts) -> io::Result<()> {
        self.folder.write_durable(EXIT, &wire::exit_bytes(&self.intent, facts)?)
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        let _ = self.held.unlock();
    }
}
