//! Dispatch folders whose claim is a file, as they were made before there was a store of actions. Read, and taken back; never made.

use std::io;

use super::wire::{self, Claimant};
use super::{Dispatch, EXIT, FILE_LIMIT, Keeper, LOCK};
use crate::contract::ids::RunId;
use crate::runs::files::{Creation, FileRead, Folder, FolderFault};
use crate::runs::lock::{Held, look};
use crate::runs::server::ServerId;

/// Where such a dispatch stands.
#[derive(Debug, Clone, PartialEq)]
pub enum OlderState {
    /// Nobody has taken it. It can still be taken back.
    Unclaimed,
    /// No keeper will ever take it: nothing started.
    Revoked,
    Claimed(Keeper),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Revocation {
    /// Proof that nothing was started and nothing will be.
    Revoked,
    /// A keeper was faster.
    KeeperClaimed,
}

const CLAIM: &str = "claim.json";

enum Taken {
    NotYet,
    Revoked,
    ByKeeper,
}

impl Dispatch<'_> {
    /// For a run that the store of actions doesn't know.
    pub fn older_state(&self, run_id: &RunId) -> io::Result<OlderState> {
        let Some(folder) = self.existing(run_id)? else { return Ok(OlderState::Unclaimed) };
        Ok(match read_claim(&folder, run_id)? {
            Taken::Revoked => OlderState::Revoked,
            // A keeper that has entered may have claimed it in a store that was lost since.
            Taken::NotYet if folder.has(LOCK)? || folder.has(EXIT)? => {
                OlderState::Claimed(self.older_keeper(&folder, run_id)?)
            }
            Taken::NotYet => OlderState::Unclaimed,
            Taken::ByKeeper => OlderState::Claimed(self.older_keeper(&folder, run_id)?),
        })
    }

    /// Without the order there is no token to hold the facts against.
    fn older_keeper(&self, folder: &Folder, run_id: &RunId) -> io::Result<Keeper> {
        match super::read_intent(folder, run_id)? {
            Some(intent) => self.keeper(run_id, intent.token.as_str()),
            None if look(folder, LOCK)? == Held::Held => Ok(Keeper::Alive),
            None => Ok(Keeper::Gone),
        }
    }

    /// Takes it back, also one that was never committed: whoever commits or claims later comes too late.
    pub fn revoke_older(&self, run_id: &RunId, by: ServerId) -> Result<Revocation, FolderFault> {
        let folder = self.root.dispatch().private_sub(run_id.as_str())?;
        let claim = wire::claim_bytes(run_id, Claimant::Revoked { server: by })?;
        let revocation = match folder.create_once(CLAIM, &claim)? {
            Creation::Won => Revocation::Revoked,
            Creation::Lost => match read_claim(&folder, run_id)? {
                Taken::Revoked => Revocation::Revoked,
                Taken::ByKeeper | Taken::NotYet => Revocation::KeeperClaimed,
            },
        };
        if revocation == Revocation::Revoked {
            self.discard_params(run_id)?;
        }
        Ok(revocation)
    }
}

/// A claim that can't be read proves nothing, so it counts as a keeper's.
fn read_claim(folder: &Folder, run_id: &RunId) -> io::Result<Taken> {
    Ok(match folder.read(CLAIM, FILE_LIMIT)? {
        FileRead::Missing => Taken::NotYet,
        FileRead::Content { bytes, .. } if wire::is_revocation(&bytes, run_id) => Taken::Revoked,
        FileRead::Content { .. } | FileRead::Unfit(_) => Taken::ByKeeper,
    })
}
