//! Flow's IdempotencyLedger, format v3: the claim file first, then the row. Shared with Flow and the Python agent.

use std::io;
use std::path::PathBuf;

use rustix::fs::{AtFlags, FileType, statat};
use rustix::io::Errno;

use super::claim::{CLAIM_LIMIT, Claim, ClaimRead, claim_name};
use super::claim_files;
use super::database::{Database, Insertion, Row};
use super::fault::{FallbackReason, LedgerFault, is_lock_failure, locks_are_unsupported};
use super::{Lookup, Reservation};
use crate::contract::evidence::TransactionOutcome;
use crate::contract::ids::RunId;
use crate::lifecycle::crash::{Point, pass};
use crate::runs::clock::utc_now;
use crate::runs::files::{Creation, Folder, FolderFault};
use crate::runs::request_hash::LedgerKey;
use crate::runs::root::StoreRoot;

/// The ledger under one store root.
#[derive(Debug)]
pub struct FlowLedger {
    root: Folder,
    path: PathBuf,
    /// The canonical path of the file, as claims and metadata name it.
    owner_path: String,
}

/// What opening led to.
pub enum Opening {
    Opened(FlowLedger),
    FallBack(FallbackReason),
}

impl FlowLedger {
    /// Makes the ledger where there is none. A file that isn't a ledger is refused and left as it is.
    pub fn open(root: &StoreRoot) -> Result<Opening, LedgerFault> {
        let root = Folder::open_without_symlinks(root.folder().path())?;
        let path = root.path().join(FILE);
        let owner_path = path.to_str().ok_or(LedgerFault::NotOurs(FILE))?.to_owned();
        let ledger = Self { root, path, owner_path };
        for name in [FILE, CONSTRUCTION_LOCK] {
            if ledger.file_type(name)? == Some(FileType::Directory) {
                return Ok(Opening::FallBack(FallbackReason::FolderInPlace));
            }
        }
        match ledger.construct() {
            Ok(()) => Ok(Opening::Opened(ledger)),
            Err(Construction::LocksUnsupported) => Ok(Opening::FallBack(FallbackReason::LocksUnsupported)),
            Err(Construction::Fault(fault)) => Err(fault),
        }
    }

    pub fn reserve(&self, key: &LedgerKey, run_id: &RunId) -> Result<Reservation, LedgerFault> {
        let mut database = self.database()?;
        if let Some(owner) = claim_files::owner(&self.root, key)? {
            return Ok(Reservation::Owned { run_id: owner });
        }
        let claims = self.root.private_sub(CLAIMS)?;
        let reserved_at = utc_now();
        let claim = Claim::new(key, run_id, &self.owner_path, &reserved_at);
        if claims.create_once(&claim_name(key.as_str()), &claim.to_bytes())? == Creation::Lost {
            return self.claimed_by(key);
        }
        self.root.sync()?;
        pass(Point::ReserveAfterClaim).map_err(io::Error::from)?;
        match database.insert(key, run_id, &reserved_at)? {
            Insertion::Inserted => Ok(Reservation::Reserved),
            Insertion::Owned(owner) if owner == run_id.as_str() => Ok(Reservation::Owned { run_id: run_id.clone() }),
            Insertion::Owned(_) => Err(LedgerFault::OtherOwner),
        }
    }

    pub fn lookup(&self, keys: &[LedgerKey]) -> Result<Vec<Lookup>, LedgerFault> {
        let database = self.database()?;
        keys.iter()
            .map(|key| {
                let found = compare(self.claim(key)?, database.row(key)?);
                match found {
                    Lookup::None => Ok(claim_files::lookup(&self.root, key)?),
                    found => Ok(found),
                }
            })
            .collect()
    }

    pub fn record_outcome(
        &self,
        key: &LedgerKey,
        run_id: &RunId,
        outcome: TransactionOutcome,
    ) -> Result<(), LedgerFault> {
        let mut database = self.database()?;
        match self.claim(key)? {
            ClaimRead::Absent => Err(LedgerFault::NoReservation),
            ClaimRead::Unreadable => Err(LedgerFault::UnreadableClaim),
            ClaimRead::Claim(claim) if claim.run_id != run_id.as_str() => Err(LedgerFault::OtherOwner),
            ClaimRead::Claim(_) => database.record_outcome(key, run_id, outcome.as_str()),
        }
    }

    /// Under the construction lock: everything that another process must not do at the same time.
    fn construct(&self) -> Result<(), Construction> {
        self.require_regular(CONSTRUCTION_LOCK)?;
        let lock = self.root.lock_file(CONSTRUCTION_LOCK).map_err(LedgerFault::from)?;
        lock.lock().map_err(|fault| match locks_are_unsupported(&fault) {
            true => Construction::LocksUnsupported,
            false => Construction::Fault(fault.into()),
        })?;
        self.require_regular(FILE)?;
        if self.is_unwritten()? {
            if has_claims(&self.root)? {
                return Err(LedgerFault::Lost.into());
            }
            self.root.create_once(FILE, b"").map_err(LedgerFault::from)?;
        }
        match Database::initialise(&self.path, &self.owner_path) {
            Ok(initialised) => initialised?,
            Err(fault) if is_lock_failure(&fault) => return Err(Construction::LocksUnsupported),
            Err(fault) => return Err(LedgerFault::from(fault).into()),
        }
        self.database()?;
        lock.unlock().map_err(LedgerFault::from)?;
        Ok(())
    }

    /// A missing or empty file may become a ledger. One that is shorter than any page would be taken for empty by SQLite, which
    /// finds out by itself what else isn't its own. The file is never opened past it: closing any descriptor of a file drops
    /// every lock that this process holds on it.
    fn is_unwritten(&self) -> Result<bool, LedgerFault> {
        const SMALLEST_PAGE: i64 = 512;
        match statat(&self.root, FILE, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if (1..SMALLEST_PAGE).contains(&stat.st_size) => Err(LedgerFault::Garbage),
            Ok(stat) => Ok(stat.st_size == 0),
            Err(Errno::NOENT) => Ok(true),
            Err(errno) => Err(io::Error::from(errno).into()),
        }
    }

    fn database(&self) -> Result<Database, LedgerFault> {
        if !self.root.is_where_it_was() {
            return Err(LedgerFault::FolderMoved);
        }
        self.require_regular(FILE)?;
        Database::open(&self.path, &self.owner_path)
    }

    fn claim(&self, key: &LedgerKey) -> Result<ClaimRead, LedgerFault> {
        read_claim(&self.root, key)
    }

    fn claimed_by(&self, key: &LedgerKey) -> Result<Reservation, LedgerFault> {
        let ClaimRead::Claim(claim) = self.claim(key)? else { return Err(LedgerFault::UnreadableClaim) };
        let run_id = RunId::parse(&claim.run_id).map_err(|_| LedgerFault::UnreadableClaim)?;
        Ok(Reservation::Owned { run_id })
    }

    fn require_regular(&self, name: &'static str) -> Result<(), LedgerFault> {
        match self.file_type(name)? {
            None | Some(FileType::RegularFile) => Ok(()),
            Some(_) => Err(LedgerFault::NotOurs(name)),
        }
    }

    fn file_type(&self, name: &str) -> Result<Option<FileType>, LedgerFault> {
        match statat(&self.root, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(FileType::from_raw_mode(stat.st_mode))),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(io::Error::from(errno).into()),
        }
    }
}

/// The claim of a key in Flow's claims folder, wherever the row is.
pub fn read_claim(root: &Folder, key: &LedgerKey) -> Result<ClaimRead, LedgerFault> {
    let owner_path = root.path().join(FILE);
    let Some(claims) = claims_folder(root)? else { return Ok(ClaimRead::Absent) };
    let file = claims.read(&claim_name(key.as_str()), CLAIM_LIMIT)?;
    Ok(Claim::read(file, key, owner_path.to_str().unwrap_or_default()))
}

pub(super) const FILE: &str = "ledger.sqlite";
pub(super) const CLAIMS: &str = ".ledger.sqlite.claims";
pub(super) const CONSTRUCTION_LOCK: &str = "ledger.sqlite.migration.lock";

enum Construction {
    LocksUnsupported,
    Fault(LedgerFault),
}

impl From<LedgerFault> for Construction {
    fn from(fault: LedgerFault) -> Self {
        Self::Fault(fault)
    }
}

fn claims_folder(root: &Folder) -> Result<Option<Folder>, LedgerFault> {
    match root.sub(CLAIMS) {
        Ok(claims) => Ok(Some(claims)),
        Err(FolderFault::Io(fault)) if fault.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(FolderFault::NotAFolder) => Err(LedgerFault::NotOurs(CLAIMS)),
        Err(fault) => Err(fault.into()),
    }
}

fn has_claims(root: &Folder) -> Result<bool, LedgerFault> {
    Ok(match claims_folder(root)? {
        Some(claims) => !claims.is_empty()?,
        None => false,
    })
}

/// The claim/row table of the format.
fn compare(claim: ClaimRead, row: Option<Row>) -> Lookup {
    let named = |run_id: &str| RunId::parse(run_id).ok();
    match (claim, row) {
        (ClaimRead::Absent, None) => Lookup::None,
        (ClaimRead::Absent, Some(row)) => Lookup::Broken { run_id: named(&row.run_id) },
        (ClaimRead::Unreadable, row) => Lookup::Broken { run_id: row.and_then(|row| named(&row.run_id)) },
        (ClaimRead::Claim(claim), None) => match named(&claim.run_id) {
            Some(run_id) => Lookup::ClaimOnly { run_id },
            None => Lookup::Broken { run_id: None },
        },
        (ClaimRead::Claim(claim), Some(row)) => {
            let agreed = (&claim.run_id, &claim.reserved_at) == (&row.run_id, &row.reserved_at);
            let outcome = row.outcome.as_deref().map(TransactionOutcome::parse);
            match (named(&claim.run_id), outcome) {
                (Some(run_id), None) if agreed => Lookup::Record { run_id, outcome: None },
                (Some(run_id), Some(Some(outcome))) if agreed => Lookup::Record { run_id, outcome: Some(outcome) },
                (run_id, _) => Lookup::Broken { run_id },
            }
        }
    }
}
