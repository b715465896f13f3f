//! Inputs that nobody needs any more. Costs as much as there are inputs on disk, not as there are runs.

use super::{Dispatch, DispatchState, Revocation};
use crate::contract::ids::RunId;
use crate::runs::files::FolderFault;
use crate::runs::server::ServerId;

pub fn sweep_params(dispatch: Dispatch<'_>, by: ServerId) -> Result<(), FolderFault> {
    let params = dispatch.root.params();
    for name in params.names()? {
        if let Some(run_id) = run_of(&name)
            && is_abandoned(dispatch, &run_id, by)?
        {
            params.remove(&name)?;
        }
    }
    Ok(())
}

/// An intent that no keeper took is revoked before its inputs go, so a keeper can't come for them afterwards.
fn is_abandoned(dispatch: Dispatch<'_>, run_id: &RunId, by: ServerId) -> Result<bool, FolderFault> {
    match dispatch.state(run_id)? {
        DispatchState::KeeperAlive => Ok(false),
        DispatchState::Revoked | DispatchState::Exited(_) | DispatchState::KeeperDied => Ok(true),
        DispatchState::NoIntent | DispatchState::Unclaimed => {
            let owner = dispatch.intent(run_id)?.map(|intent| intent.owner);
            let alive = match owner {
                Some(owner) => owner.is_alive(dispatch.root.servers())?,
                None => false,
            };
            Ok(!alive && dispatch.revoke(run_id, by)? == Revocation::Revoked)
        }
    }
}

/// The run that a file of inputs, or the temporary file of a writer that died, belongs to.
fn run_of(name: &str) -> Option<RunId> {
    let name = name.strip_prefix('.').unwrap_or(name);
    RunId::parse(name.split_once(".json")?.0).ok()
}
