//! What is known of actions. Every look-up that a call needs goes by an index, whatever the history.

use rusqlite::{Connection, OptionalExtension, params};
use serde::Serialize;

use super::rows::{Action, Known, Receipt, ReceiptRead};
use super::{Store, StoreFault};
use crate::contract::ids::RunId;
use crate::lifecycle::types::Execution;
use crate::runs::fingerprint::Fingerprint;
use crate::runs::request_hash::{Era, RequestHash};
use crate::runs::server::ServerId;

/// One row of a list for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Listed {
    pub run_id: String,
    pub tool: String,
    pub workflow: Option<String>,
    pub phase: String,
    pub permission: Option<String>,
    pub execution: Option<String>,
    pub delivery: String,
    pub reason: Option<String>,
    pub code: Option<String>,
    pub attempt: Option<u32>,
    /// The first digits of the hash of the caller's id.
    pub request: Option<String>,
    pub started_at: String,
    /// The caller's own text; shown only where it is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// What a list is to hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Listing {
    pub execution: Option<Execution>,
    /// Only what isn't over.
    pub open: bool,
    pub most: u32,
    pub show_request_id: bool,
}

/// The refusals of one epoch: a store, an account, a policy version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Counter {
    /// The first digits of its digest.
    pub epoch: String,
    pub policy_version: i64,
    pub consecutive: i64,
    pub total: i64,
}

/// One event, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EventRow {
    pub action_id: String,
    pub run_id: String,
    pub seq: i64,
    pub at: String,
    pub event: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub executor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy_version: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generation: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<i64>,
}

impl Store {
    pub fn find(&self, run_id: &RunId) -> Result<Option<Known>, StoreFault> {
        let connection = self.reading();
        let sql = format!("SELECT {} FROM actions WHERE execution_id = ?1", Action::COLUMNS);
        let mut statement = connection.prepare_cached(&sql)?;
        let mut rows = statement.query([run_id.as_str()])?;
        let Some(action) = rows.next()?.map(Action::of).transpose()? else { return Ok(None) };
        let receipt = newest(&connection, &action, &self.key)?;
        Ok(Some(Known { action, receipt }))
    }

    /// Every receipt of an action with its digest, oldest first.
    pub fn receipts(&self, action: &Action) -> Result<Vec<(ReceiptRead, String)>, StoreFault> {
        let connection = self.reading();
        let sql = format!("SELECT {} FROM receipts WHERE action_id = ?1 ORDER BY revision", Receipt::COLUMNS);
        let mut statement = connection.prepare_cached(&sql)?;
        let mut rows = statement.query([action.binding.action_id.as_str()])?;
        let mut receipts = Vec::new();
        while let Some(row) = rows.next()? {
            receipts.push((Receipt::of(row, action, &self.key)?, row.get(17)?));
        }
        Ok(receipts)
    }

    /// What the request was first asked for, and the runs that count as attempts at it, oldest first.
    pub fn request(&self, hash: &RequestHash) -> Result<Option<(Fingerprint, String, Vec<RunId>)>, StoreFault> {
        let connection = self.reading();
        let hash = hash.hex(Era::Ours);
        let mut statement =
            connection.prepare_cached("SELECT fingerprint, workflow FROM requests WHERE request_hash = ?1")?;
        let cursor =
            statement.query_row([&hash], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))).optional()?;
        let Some((fingerprint, workflow)) = cursor else { return Ok(None) };
        let mut statement = connection.prepare_cached(
            "SELECT execution_id FROM actions WHERE request_hash = ?1 AND reserved_at IS NOT NULL ORDER BY attempt, rowid",
        )?;
        let attempts = statement.query_map([&hash], |row| row.get::<_, String>(0))?;
        let attempts = attempts.collect::<Result<Vec<_>, _>>()?;
        let attempts = attempts.iter().filter_map(|run_id| RunId::parse(run_id).ok()).collect();
        Ok(Some((Fingerprint::parse(&fingerprint).ok_or(StoreFault::Damaged)?, workflow, attempts)))
    }

    /// Whether work of the same digest ended in doubt before, under whatever request. By the order of writing: a clock may be set back.
    pub fn unknown_before(&self, action: &Action) -> Result<bool, StoreFault> {
        let connection = self.reading();
        let mut statement = connection.prepare_cached(
            "SELECT 1 FROM actions WHERE args_digest = ?1 AND execution = 'unknown' \
             AND rowid < (SELECT rowid FROM actions WHERE action_id = ?2) LIMIT 1",
        )?;
        let binding = &action.binding;
        Ok(statement.exists(params![binding.args_digest, binding.action_id.as_str()])?)
    }

    /// Runs of which something is still to be done. As many as are open, not as many as there were.
    pub fn open_runs(&self) -> Result<Vec<RunId>, StoreFault> {
        let connection = self.reading();
        let mut statement = connection.prepare_cached("SELECT execution_id FROM actions WHERE phase <> 'projected'")?;
        let runs = statement.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
        Ok(runs.iter().filter_map(|run_id| RunId::parse(run_id).ok()).collect())
    }

    /// The host that a server ran on.
    pub fn host_of(&self, owner: ServerId) -> Result<Option<String>, StoreFault> {
        let connection = self.reading();
        let mut statement = connection.prepare_cached("SELECT host FROM owners WHERE owner_id = ?1")?;
        Ok(statement.query_row([owner.to_string()], |row| row.get(0)).optional()?)
    }

    /// Newest first.
    pub fn list(&self, listing: Listing) -> Result<Vec<Listed>, StoreFault> {
        let connection = self.reading();
        let mut conditions = vec!["1"];
        if listing.open {
            conditions.push("phase <> 'projected'");
        }
        let execution = listing.execution.map(|execution| format!("execution = '{}'", execution.as_str()));
        conditions.extend(execution.as_deref());
        // What is open is found by what is open, however long the history.
        let order = if listing.open { "+started_at" } else { "started_at" };
        let sql = format!(
            "SELECT execution_id, tool, workflow, phase, permission, execution, delivery, \
             (SELECT reason FROM receipts WHERE receipts.action_id = actions.action_id ORDER BY revision DESC LIMIT 1), code, \
             CASE WHEN reserved_at IS NULL THEN NULL ELSE attempt END, substr(request_hash, 1, 12), started_at, request_id \
             FROM actions WHERE {} ORDER BY {order} DESC LIMIT ?1",
            conditions.join(" AND ")
        );
        let mut statement = connection.prepare_cached(&sql)?;
        let rows = statement.query_map([listing.most], |row| {
            Ok(Listed {
                run_id: row.get(0)?,
                tool: row.get(1)?,
                workflow: row.get(2)?,
                phase: row.get(3)?,
                permission: row.get(4)?,
                execution: row.get(5)?,
                delivery: row.get(6)?,
                reason: row.get(7)?,
                code: row.get(8)?,
                attempt: row.get(9)?,
                request: row.get(10)?,
                started_at: row.get(11)?,
                request_id: row.get::<_, Option<String>>(12)?.filter(|_| listing.show_request_id),
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// How often a reviewer has refused, for each policy version.
    pub fn counters(&self) -> Result<Vec<Counter>, StoreFault> {
        let connection = self.reading();
        let mut statement = connection.prepare_cached(
            "SELECT epoch, policy_version, consecutive, total FROM review_counters ORDER BY policy_version, epoch",
        )?;
        let rows = statement.query_map([], |row| {
            Ok(Counter {
                epoch: row.get::<_, String>(0)?.chars().take(12).collect(),
                policy_version: row.get(1)?,
                consecutive: row.get(2)?,
                total: row.get(3)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The events of a run after a place, in order.
    pub fn events(&self, run_id: &RunId, after: i64) -> Result<Vec<EventRow>, StoreFault> {
        let connection = self.reading();
        let mut statement = connection.prepare_cached(
            "SELECT events.action_id, execution_id, seq, at, event, events.permission, events.execution, reason, events.code, status, \
             executor, request, events.policy_version, events.generation, revision FROM events JOIN actions USING (action_id) \
             WHERE execution_id = ?1 AND seq > ?2 ORDER BY seq",
        )?;
        let rows = statement.query_map(params![run_id.as_str(), after], |row| {
            Ok(EventRow {
                action_id: row.get(0)?,
                run_id: row.get(1)?,
                seq: row.get(2)?,
                at: row.get(3)?,
                event: row.get(4)?,
                permission: row.get(5)?,
                execution: row.get(6)?,
                reason: row.get(7)?,
                code: row.get(8)?,
                status: row.get(9)?,
                executor: row.get(10)?,
                request: row.get(11)?,
                policy_version: row.get(12)?,
                generation: row.get(13)?,
                revision: row.get(14)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

fn newest(
    connection: &Connection,
    action: &Action,
    key: &crate::runs::key::FingerprintKey,
) -> Result<Option<ReceiptRead>, StoreFault> {
    let sql = format!("SELECT {} FROM receipts WHERE action_id = ?1 ORDER BY revision DESC LIMIT 1", Receipt::COLUMNS);
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([action.binding.action_id.as_str()])?;
    rows.next()?.map(|row| Receipt::of(row, action, key)).transpose()
}
