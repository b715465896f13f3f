//! Verdicts of a reviewer and questions to a person: each kept once, and spent at most once.

use jiff::{SignedDuration, Timestamp};
use rusqlite::{OptionalExtension, Transaction, params};

use super::begin::{advance, decided_event};
use super::end::{begin_request, end_requests};
use super::rows::Action;
use super::{Store, StoreFault};
use crate::contract::ids::RunId;
use crate::lifecycle::contracts::Executor;
use crate::lifecycle::crash::{Point, pass};
use crate::lifecycle::events::{Event, EventKind};
use crate::lifecycle::executor::ExecutorStatus;
use crate::lifecycle::machine::{Authorized, Prepared, Waiting};
use crate::lifecycle::review::{Count, Trigger, Verdict};
use crate::lifecycle::types::{Code, Permission, Phase, WaitId};
use crate::runs::clock::{spelled, utc_now};

/// What an approval is good for: exactly one operation, of one account, under one policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Keyed, over everything that the yes covers.
    pub digest: String,
    pub account: String,
}

/// How long a question stays open, and an approval good.
pub const GOOD_FOR: SignedDuration = SignedDuration::from_mins(10);

/// A reviewer's verdict as it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    pub allowed: bool,
    /// The refusals ask for a person.
    pub fallback: Option<Trigger>,
}

/// What made a person be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// The tool always asks.
    Always,
    Refusals(Trigger),
}

impl Why {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::Refusals(trigger) => trigger.as_str(),
        }
    }
}

impl Store {
    /// The verdict on an operation, where there is one already.
    pub fn verdict(&self, operation_id: &str) -> Result<Option<Kept>, StoreFault> {
        kept(&self.reading(), operation_id)
    }

    /// A reviewer is about to be asked.
    pub fn review_begins(&self, action: &Action) -> Result<(), StoreFault> {
        self.write(|transaction| {
            begin_request(transaction, &action.binding.action_id, Executor::Reviewer)?;
            Ok(())
        })
    }

    /// Verdict, counters and event, in one transaction. An operation that has its verdict keeps it, and counts nothing again.
    pub fn review_ended(
        &self,
        prepared: &Prepared,
        operation_id: &str,
        epoch: &str,
        verdict: Verdict,
    ) -> Result<Option<Kept>, StoreFault> {
        pass(Point::ReviewVerdict)?;
        let action = prepared.action();
        let id = &action.binding.action_id;
        let kept = self.write(|transaction| {
            let status = match verdict {
                Verdict::Allow | Verdict::Refuse | Verdict::None(Code::PermissionStale) => ExecutorStatus::Completed,
                Verdict::None(Code::ReviewCanceled) => ExecutorStatus::Cancelled,
                Verdict::None(_) => ExecutorStatus::Failed,
            };
            end_requests(transaction, id, status)?;
            let allowed = match verdict {
                Verdict::None(code) => {
                    Event { code: Some(code), ..Event::of(EventKind::ReviewUnavailable) }.write(transaction, id)?;
                    return Ok(None);
                }
                Verdict::Allow => true,
                Verdict::Refuse => false,
            };
            let kept = match kept(transaction, operation_id)? {
                Some(kept) => kept,
                None => self.count_verdict(transaction, action, operation_id, epoch, allowed)?,
            };
            let permission = if kept.allowed { Permission::Allow } else { Permission::Deny };
            Event { permission: Some(permission), ..Event::of(EventKind::ReviewCompleted) }.write(transaction, id)?;
            pass(Point::ReviewInTx)?;
            Ok(Some(kept))
        })?;
        pass(Point::ReviewAfter)?;
        Ok(kept)
    }

    fn count_verdict(
        &self,
        transaction: &Transaction<'_>,
        action: &Action,
        operation_id: &str,
        epoch: &str,
        allowed: bool,
    ) -> Result<Kept, StoreFault> {
        let before = count_of(transaction, epoch)?;
        let count = if allowed { before.after_allow() } else { before.after_refusal() };
        set_count(transaction, epoch, action.binding.policy_version, count)?;
        let fallback = if allowed { None } else { count.fallback() };
        transaction.execute(
            "INSERT INTO review_verdicts VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![
                operation_id,
                epoch,
                action.binding.action_id.as_str(),
                if allowed { "allow" } else { "refuse" },
                fallback.map(Trigger::as_str),
                utc_now(),
            ],
        )?;
        Ok(Kept { allowed, fallback })
    }

    /// A person is asked about an action. It isn't decided until they answer.
    pub fn open_wait(
        &self,
        prepared: Prepared,
        identity: &Identity,
        why: Why,
        epoch: &str,
    ) -> Result<Waiting, StoreFault> {
        let Prepared(mut action) = prepared;
        let (wait, now) = (WaitId::random(), Timestamp::now());
        let id = action.binding.action_id.clone();
        self.write(|transaction| {
            advance(transaction, &action, "permission = 'ask', phase = 'waiting'")?;
            transaction.execute(
                "INSERT INTO waits VALUES (?1, ?2, 'elicitation', ?3, ?4, ?5, ?6, ?7, ?8, 'open', ?9, ?10, NULL, NULL)",
                params![
                    wait.as_str(),
                    id.as_str(),
                    why.as_str(),
                    identity.digest,
                    identity.account,
                    epoch,
                    action.binding.policy_version,
                    action.binding.args_digest,
                    spelled(now),
                    spelled(now + GOOD_FOR),
                ],
            )?;
            decided_event(&action, Permission::Ask, None).write(transaction, &id)?;
            Event::of(EventKind::WaitOpened).write(transaction, &id)?;
            begin_request(transaction, &id, Executor::Elicitation)?;
            Ok(())
        })?;
        action.version += 1;
        (action.permission, action.phase) = (Some(Permission::Ask), Phase::Waiting);
        pass(Point::WaitOpened)?;
        Ok(Waiting(action))
    }

    /// The newest action of this identity about which a person is being asked.
    pub fn waiting(&self, identity: &Identity) -> Result<Option<Waiting>, StoreFault> {
        Ok(self.of_wait(identity, "open", None)?.map(Waiting))
    }

    /// One that this server itself is asking about.
    pub fn asked_here(&self, identity: &Identity) -> Result<Option<Waiting>, StoreFault> {
        Ok(self.of_wait(identity, "open", Some(&self.owner()?))?.map(Waiting))
    }

    /// An action of this identity that a person has approved, and that was never dispatched. It may go on without asking again.
    pub fn approved(&self, identity: &Identity) -> Result<Option<Action>, StoreFault> {
        self.of_wait(identity, "approved", None)
    }

    fn of_wait(&self, identity: &Identity, status: &str, owner: Option<&str>) -> Result<Option<Action>, StoreFault> {
        let found: Option<String> = self
            .reading()
            .prepare_cached(
                "SELECT execution_id FROM waits JOIN actions USING (action_id) WHERE identity = ?1 AND account = ?2 AND status = ?3 \
                 AND expires_at > ?4 AND execution IS NULL AND (?5 IS NULL OR owner_id = ?5) ORDER BY opened_at DESC LIMIT 1",
            )?
            .query_row(params![identity.digest, identity.account, status, utc_now(), owner], |row| row.get(0))
            .optional()?;
        let Some(run_id) = found.and_then(|run_id| RunId::parse(&run_id).ok()) else { return Ok(None) };
        Ok(self.find(&run_id)?.map(|known| known.action))
    }

    /// A person has said yes.
    pub fn approve(&self, waiting: Waiting) -> Result<Authorized, StoreFault> {
        let Waiting(mut action) = waiting;
        let id = action.binding.action_id.clone();
        self.write(|transaction| {
            advance(transaction, &action, "permission = 'allow', phase = 'authorized'")?;
            close_wait(transaction, &action, "approved")?;
            end_requests(transaction, &id, ExecutorStatus::Completed)?;
            Event { permission: Some(Permission::Allow), ..Event::of(EventKind::WaitResolved) }.write(transaction, &id)
        })?;
        action.version += 1;
        (action.permission, action.phase) = (Some(Permission::Allow), Phase::Authorized);
        pass(Point::WaitAnswered)?;
        Ok(Authorized(action))
    }

    /// A person has said no, or nothing. The action as it stands afterwards, to be sealed.
    pub fn decline(&self, waiting: Waiting, expired: bool) -> Result<Action, StoreFault> {
        let Waiting(mut action) = waiting;
        let id = action.binding.action_id.clone();
        let (status, event) =
            if expired { ("expired", EventKind::WaitExpired) } else { ("declined", EventKind::WaitDeclined) };
        self.write(|transaction| {
            advance(transaction, &action, "permission = NULL")?;
            close_wait(transaction, &action, status)?;
            let ended = if expired { ExecutorStatus::Incomplete } else { ExecutorStatus::Completed };
            end_requests(transaction, &id, ended)?;
            Event::of(event).write(transaction, &id)
        })?;
        action.version += 1;
        action.permission = None;
        Ok(action)
    }

    /// Whether no question about an action is open any more, and no approval of it is good.
    pub fn wait_is_over(&self, action: &Action) -> Result<bool, StoreFault> {
        let connection = self.reading();
        let mut statement = connection.prepare_cached(
            "SELECT 1 FROM waits WHERE action_id = ?1 AND status IN ('open', 'approved') AND expires_at > ?2",
        )?;
        Ok(!statement.exists(params![action.binding.action_id.as_str(), utc_now()])?)
    }

    /// An approved action goes on with this server.
    pub fn resumed(&self, action: &Action) -> Result<Authorized, StoreFault> {
        Ok(Authorized(self.take(action)?))
    }

    /// An action that another server, gone by now, left waiting or approved is this server's from here on.
    pub fn take(&self, action: &Action) -> Result<Action, StoreFault> {
        let me = self.owner()?;
        if action.owner == self.me {
            return Ok(action.clone());
        }
        self.write(|transaction| {
            advance(transaction, action, &format!("owner_id = '{me}', generation = generation + 1"))?;
            let taken = Event { generation: Some(action.generation + 1), ..Event::of(EventKind::TakenOver) };
            taken.write(transaction, &action.binding.action_id)
        })?;
        let known = self.find(action.run_id())?.ok_or(StoreFault::StaleOwner)?;
        Ok(known.action)
    }
}

fn close_wait(transaction: &Transaction<'_>, action: &Action, status: &str) -> Result<(), StoreFault> {
    let closed = transaction.execute(
        "UPDATE waits SET status = ?2, resolved_at = ?3 WHERE action_id = ?1 AND status = 'open'",
        params![action.binding.action_id.as_str(), status, utc_now()],
    )?;
    if closed == 1 { Ok(()) } else { Err(StoreFault::StaleOwner) }
}

/// An approval is good for one dispatch, and both are committed together; so is what it does to the refusals.
pub(super) fn spend_wait(transaction: &Transaction<'_>, action: &Action) -> Result<(), StoreFault> {
    let id = action.binding.action_id.as_str();
    let open: Option<(String, String, Option<String>)> = transaction
        .prepare_cached("SELECT wait_id, trigger_kind, epoch FROM waits WHERE action_id = ?1 AND status = 'approved'")?
        .query_row([id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    let Some((wait, trigger, epoch)) = open else { return Ok(()) };
    transaction
        .execute("UPDATE waits SET status = 'consumed', consumed_by = ?1 WHERE wait_id = ?2", params![id, wait])?;
    if let (Some(trigger), Some(epoch)) = (Trigger::parse(&trigger), epoch) {
        let count = count_of(transaction, &epoch)?.after_approval(trigger);
        set_count(transaction, &epoch, action.binding.policy_version, count)?;
    }
    Ok(pass(Point::WaitConsumedInTx)?)
}

fn kept(connection: &rusqlite::Connection, operation_id: &str) -> Result<Option<Kept>, StoreFault> {
    let mut statement =
        connection.prepare_cached("SELECT verdict = 'allow', fallback FROM review_verdicts WHERE operation_id = ?1")?;
    let row =
        statement.query_row([operation_id], |row| Ok((row.get(0)?, row.get::<_, Option<String>>(1)?))).optional()?;
    Ok(row.map(|(allowed, fallback)| Kept { allowed, fallback: fallback.as_deref().and_then(Trigger::parse) }))
}

fn count_of(transaction: &Transaction<'_>, epoch: &str) -> Result<Count, StoreFault> {
    let mut statement =
        transaction.prepare_cached("SELECT consecutive, total FROM review_counters WHERE epoch = ?1")?;
    let count =
        statement.query_row([epoch], |row| Ok(Count { consecutive: row.get(0)?, total: row.get(1)? })).optional()?;
    Ok(count.unwrap_or_default())
}

fn set_count(transaction: &Transaction<'_>, epoch: &str, policy: i64, count: Count) -> Result<(), StoreFault> {
    transaction.execute(
        "INSERT INTO review_counters VALUES (?1, ?2, ?3, ?4) \
         ON CONFLICT (epoch) DO UPDATE SET consecutive = excluded.consecutive, total = excluded.total",
        params![epoch, policy, count.consecutive, count.total],
    )?;
    Ok(())
}
