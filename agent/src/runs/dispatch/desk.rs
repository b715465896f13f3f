//! The keeper's side: take the lock, claim the intent, and leave the exit facts.

use std::fs::File;
use std::io;
use std::path::Path;

use super::wire::{self, Claimant};
use super::{CLAIM, EXIT, ExitFacts, Intent, LOCK, Taken, read_claim, read_intent};
use crate::contract::ids::RunId;
use crate::runs::files::{Creation, Folder, FolderFault};

/// What a keeper met at its dispatch folder.
#[derive(Debug)]
pub enum Entry {
    /// The run is this keeper's.
    Claimed(Box<Claimed>),
    /// It was revoked, or another keeper has it: nothing may be started.
    TooLate,
    /// There is no intent that can be read: nothing may be started.
    NoIntent,
}

/// A run that is this keeper's, for as long as the value lives. Flow may be started by nobody else.
#[derive(Debug)]
pub struct Claimed {
    intent: Intent,
    folder: Folder,
    held: File,
}

/// Enters as the keeper of a dispatch folder. The lock is held before the claim can be seen, so a claimed dispatch whose
/// lock is free has no keeper any more.
pub fn enter(dispatch_folder: &Path) -> Result<Entry, FolderFault> {
    let folder = Folder::open(dispatch_folder)?;
    let run_id = dispatch_folder.file_name().and_then(|name| name.to_str()).and_then(|name| RunId::parse(name).ok());
    let Some(run_id) = run_id else { return Ok(Entry::NoIntent) };
    let Some(intent) = read_intent(&folder, &run_id)? else { return Ok(Entry::NoIntent) };
    if !matches!(read_claim(&folder, &run_id)?, Taken::NotYet) {
        return Ok(Entry::TooLate);
    }
    let held = folder.lock_file(LOCK)?;
    held.lock()?;
    let by = Claimant::Keeper { token: intent.token.clone(), pid: std::process::id() };
    match folder.create_once(CLAIM, &wire::claim_bytes(&run_id, by)?)? {
        Creation::Won => Ok(Entry::Claimed(Box::new(Claimed { intent, folder, held }))),
        Creation::Lost => held.unlock().map(|()| Entry::TooLate).map_err(FolderFault::from),
    }
}

impl Claimed {
    pub fn intent(&self) -> &Intent {
        &self.intent
    }

    /// The dispatch folder, for what Flow printed.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Leaves the exit facts, durably, and lets go of the run.
    pub fn finish(self, facts: &ExitFacts) -> io::Result<()> {
        self.folder.write_durable(EXIT, &wire::exit_bytes(&self.intent, facts)?)
    }
}

impl Drop for Claimed {
    fn drop(&mut self) {
        let _ = self.held.unlock();
    }
}
