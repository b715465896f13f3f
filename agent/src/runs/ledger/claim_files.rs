//! The fallback: one file for each key, made by exactly one caller. Holds no outcomes.

use std::io;

use serde::{Deserialize, Serialize};

use super::claim::{CLAIM_LIMIT, ClaimRead};
use super::fault::{FallbackReason, LedgerFault};
use super::flow_ledger::read_claim;
use super::{Lookup, Reservation};
use crate::contract::ids::RunId;
use crate::flow::canonical::sha256_hex;
use crate::runs::clock::utc_now;
use crate::runs::files::{Creation, FileRead, Folder, FolderFault};
use crate::runs::python_json::python_json;
use crate::runs::request_hash::LedgerKey;
use crate::runs::root::StoreRoot;

/// The claim files of one store root.
#[derive(Debug)]
pub struct ClaimFiles {
    root: Folder,
    reason: FallbackReason,
}

impl ClaimFiles {
    pub fn open(root: &StoreRoot, reason: FallbackReason) -> Result<Self, LedgerFault> {
        let root = Folder::open_without_symlinks(root.folder().path())?;
        root.private_sub(CLAIMS)?;
        Ok(Self { root, reason })
    }

    pub fn reason(&self) -> FallbackReason {
        self.reason
    }

    /// A key that Flow's ledger claimed before the fallback was selected stays used.
    pub fn reserve(&self, key: &LedgerKey, run_id: &RunId) -> Result<Reservation, LedgerFault> {
        match self.lookup(key)? {
            Lookup::None => {}
            found => {
                let run_id = found.owner().cloned().ok_or(LedgerFault::UnreadableClaim)?;
                return Ok(Reservation::Owned { run_id });
            }
        }
        let claim = serde_json::json!({"run_id": run_id.as_str(), "reserved_at": utc_now()});
        let claims = self.root.private_sub(CLAIMS)?;
        match claims.create_once(&file_name(key), python_json(&claim).as_bytes())? {
            Creation::Won => Ok(Reservation::Reserved),
            Creation::Lost => {
                let run_id = owner(&self.root, key)?.ok_or(LedgerFault::UnreadableClaim)?;
                Ok(Reservation::Owned { run_id })
            }
        }
    }

    pub fn lookup(&self, key: &LedgerKey) -> Result<Lookup, LedgerFault> {
        match lookup(&self.root, key)? {
            Lookup::None => match read_claim(&self.root, key)? {
                ClaimRead::Absent => Ok(Lookup::None),
                ClaimRead::Unreadable => Ok(Lookup::Broken { run_id: None }),
                ClaimRead::Claim(claim) => Ok(reserved_by(RunId::parse(&claim.run_id).ok(), Kind::ClaimWithoutRow)),
            },
            found => Ok(found),
        }
    }
}

/// What a claim file says of a key, also while Flow's ledger is in use.
pub fn lookup(root: &Folder, key: &LedgerKey) -> Result<Lookup, LedgerFault> {
    let claims = match root.sub(CLAIMS) {
        Ok(claims) => claims,
        Err(FolderFault::Io(fault)) if fault.kind() == io::ErrorKind::NotFound => return Ok(Lookup::None),
        Err(FolderFault::NotAFolder) => return Err(LedgerFault::NotOurs(CLAIMS)),
        Err(fault) => return Err(fault.into()),
    };
    let bytes = match claims.read(&file_name(key), CLAIM_LIMIT)? {
        FileRead::Missing => return Ok(Lookup::None),
        FileRead::Unfit(_) => return Ok(Lookup::Broken { run_id: None }),
        FileRead::Content { bytes, .. } => bytes,
    };
    let claim = serde_json::from_slice::<ClaimFile>(&bytes).ok();
    Ok(reserved_by(claim.map(|claim| claim.run_id), Kind::Whole))
}

/// The run that a claim file gives a key to.
pub fn owner(root: &Folder, key: &LedgerKey) -> Result<Option<RunId>, LedgerFault> {
    match lookup(root, key)? {
        Lookup::None => Ok(None),
        found => found.owner().cloned().map(Some).ok_or(LedgerFault::UnreadableClaim),
    }
}

const CLAIMS: &str = "claims";

#[derive(Serialize, Deserialize)]
struct ClaimFile {
    run_id: RunId,
    #[serde(rename = "reserved_at")]
    _reserved_at: String,
}

enum Kind {
    Whole,
    ClaimWithoutRow,
}

fn reserved_by(run_id: Option<RunId>, kind: Kind) -> Lookup {
    match (run_id, kind) {
        (Some(run_id), Kind::Whole) => Lookup::Record { run_id, outcome: None },
        (Some(run_id), Kind::ClaimWithoutRow) => Lookup::ClaimOnly { run_id },
        (None, _) => Lookup::Broken { run_id: None },
    }
}

fn file_name(key: &LedgerKey) -> String {
    format!("{}.claim", sha256_hex(key.as_str().as_bytes()))
}
