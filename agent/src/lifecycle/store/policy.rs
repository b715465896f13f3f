//! Policy versions, and what a local operator switched off.

use rusqlite::{OptionalExtension, params};

use super::begin::control_seq;
use super::{Store, StoreFault};
use crate::contract::outcome::Mode;
use crate::runs::clock::utc_now;

/// One of the operator's switches, as it was last set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Control {
    /// `None` for all runs, else a workflow's public name.
    pub workflow: Option<String>,
    pub disabled: bool,
    pub at: String,
}

const EVERYTHING: &str = "*";

impl Store {
    /// The last of the operator's switches. Cheap enough for every call.
    pub fn control_seq(&self) -> Result<i64, StoreFault> {
        control_seq(&self.reading())
    }

    /// How every switch stands.
    pub fn controls(&self) -> Result<Vec<Control>, StoreFault> {
        let connection = self.reading();
        let mut statement = connection.prepare_cached(
            "SELECT scope, disabled, at FROM controls AS one WHERE seq = (SELECT max(seq) FROM controls WHERE scope = one.scope) \
             ORDER BY scope",
        )?;
        let rows = statement.query_map([], |row| {
            let scope: String = row.get(0)?;
            Ok(Control { workflow: (scope != EVERYTHING).then_some(scope), disabled: row.get(1)?, at: row.get(2)? })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Turns a switch. For a local operator only: no tool leads here.
    pub fn control(&self, workflow: Option<&str>, disabled: bool) -> Result<(), StoreFault> {
        self.write(|transaction| {
            transaction.execute(
                "INSERT INTO controls (scope, disabled, at) VALUES (?1, ?2, ?3)",
                params![workflow.unwrap_or(EVERYTHING), disabled, utc_now()],
            )?;
            Ok(())
        })
    }

    /// The version of a policy, by the digest of everything that is in it. Equal policies have one version, across restarts too.
    pub fn policy_version(&self, digest: &str, control_seq: i64, mode: Mode) -> Result<i64, StoreFault> {
        if let Some(known) = version_of(&self.reading(), digest)? {
            return Ok(known);
        }
        self.write(|transaction| {
            transaction.execute(
                "INSERT INTO policy_versions (digest, control_seq, mode, created_at) VALUES (?1, ?2, ?3, ?4) \
                 ON CONFLICT (digest) DO NOTHING",
                params![digest, control_seq, mode.as_str(), utc_now()],
            )?;
            version_of(transaction, digest)?.ok_or(StoreFault::Damaged)
        })
    }
}

fn version_of(connection: &rusqlite::Connection, digest: &str) -> Result<Option<i64>, StoreFault> {
    let mut statement = connection.prepare_cached("SELECT version FROM policy_versions WHERE digest = ?1")?;
    Ok(statement.query_row([digest], |row| row.get(0)).optional()?)
}
