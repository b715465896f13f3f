//! From the preparation of an action to its committed dispatch.

use rusqlite::{Transaction, params};

use super::asking::spend_wait;
use super::rows::Action;
use super::{Store, StoreFault};
use crate::contract::ids::{RequestId, RunId};
use crate::contract::outcome::Mode;
use crate::lifecycle::contracts::Tool;
use crate::lifecycle::crash::{Point, pass};
use crate::lifecycle::events::{Event, EventKind};
use crate::lifecycle::executor::StartToken;
use crate::lifecycle::machine::{Authorized, Prepared, Ready, Reserved, Started};
use crate::lifecycle::types::{ActionId, Binding, CallId, Code, Delivery, Origin, Permission, Phase};
use crate::runs::clock::utc_now;
use crate::runs::record::owner::this_host;
use crate::runs::record::{AttemptOf, Process};
use crate::runs::request_hash::{Era, RequestHash};

/// What is written down before anything is decided.
#[derive(Debug, Clone, PartialEq)]
pub struct NewAction {
    pub run_id: RunId,
    pub tool: Tool,
    pub origin: Origin,
    pub policy_version: i64,
    pub args_digest: String,
    pub conditions_digest: String,
    pub request_id: Option<RequestId>,
    pub workflow: Option<String>,
    pub mode: Mode,
    pub attempt: Option<AttemptOf>,
}

/// What has to hold still when the intent is committed.
#[derive(Debug, Clone, Copy)]
pub struct Revalidation<'a> {
    /// The last of the operator's switches that the decision knew.
    pub control_seq: i64,
    /// Of the bundle, the configuration and the policy, looked at just now.
    pub conditions_digest: &'a str,
}

/// What became of a dispatch.
#[derive(Debug)]
pub enum Dispatch {
    Started(Box<Started>),
    /// Something had changed since it was decided; nothing was committed.
    Stale(Code),
}

impl Store {
    /// Writes an action down, and that it is allowed, where nobody has to be asked about it.
    pub fn prepare_allowed(&self, new: &NewAction) -> Result<Authorized, StoreFault> {
        let action = self.prepared(new, Some(Permission::Allow))?;
        pass(Point::AuthorizeAfter)?;
        Ok(Authorized(action))
    }

    /// Writes an action down.
    pub fn prepare(&self, new: &NewAction) -> Result<Prepared, StoreFault> {
        self.prepared(new, None).map(Prepared)
    }

    fn prepared(&self, new: &NewAction, decided: Option<Permission>) -> Result<Action, StoreFault> {
        pass(Point::PrepareBefore)?;
        let action = self.new_action(new, decided)?;
        self.write(|transaction| {
            enter(transaction, &action)?;
            match decided {
                Some(permission) => {
                    decided_event(&action, permission, None).write(transaction, &action.binding.action_id)
                }
                None => Ok(()),
            }
        })?;
        pass(Point::PrepareAfter)?;
        Ok(action)
    }

    /// An action that nothing can come of but a receipt: not written down before that.
    pub fn draft(&self, new: &NewAction) -> Result<Action, StoreFault> {
        self.new_action(new, None)
    }

    fn new_action(&self, new: &NewAction, decided: Option<Permission>) -> Result<Action, StoreFault> {
        let me = self.me.ok_or(StoreFault::StaleOwner)?;
        Ok(Action {
            binding: Binding {
                action_id: ActionId::random(),
                execution_id: new.run_id.clone(),
                call_id: CallId::random(),
                policy_version: new.policy_version,
                args_digest: new.args_digest.clone(),
            },
            tool: new.tool,
            origin: new.origin,
            conditions_digest: new.conditions_digest.clone(),
            request_id: new.request_id.clone(),
            workflow: new.workflow.clone(),
            mode: new.mode,
            attempt: new.attempt.clone(),
            permission: decided,
            execution: None,
            delivery: Delivery::Pending,
            phase: if decided.is_some() { Phase::Authorized } else { Phase::Prepared },
            code: None,
            owner: Some(me),
            generation: 1,
            version: 1,
            process: Process::Server { id: me, pid: std::process::id(), host: this_host() },
            token: None,
            started_at: utc_now(),
            reserved: false,
            dispatched: false,
            claimed: false,
            revoked: false,
        })
    }

    /// What was asked about is allowed.
    pub fn authorize(&self, prepared: Prepared) -> Result<Authorized, StoreFault> {
        let Prepared(mut action) = prepared;
        self.write(|transaction| {
            advance(transaction, &action, "permission = 'allow', phase = 'authorized'")?;
            decided_event(&action, Permission::Allow, None).write(transaction, &action.binding.action_id)
        })?;
        action.version += 1;
        (action.permission, action.phase) = (Some(Permission::Allow), Phase::Authorized);
        pass(Point::AuthorizeAfter)?;
        Ok(Authorized(action))
    }

    /// From now on it counts as an attempt at its request. The ledger has its key already, so this is found out again when it is lost
    /// with the power.
    pub fn reserve(&self, authorized: Authorized) -> Result<Reserved, StoreFault> {
        let Authorized(mut action) = authorized;
        self.write_lightly(|transaction| {
            advance(transaction, &action, "phase = 'reserved', reserved_at = ?5")?;
            count(transaction, &action)?;
            Event::of(EventKind::Reserved).write(transaction, &action.binding.action_id)
        })?;
        action.version += 1;
        (action.phase, action.reserved) = (Phase::Reserved, true);
        pass(Point::ReserveAfterCursor)?;
        Ok(Reserved(action))
    }

    /// The one transaction that makes a start possible: everything that was decided is compared with what stands now, an approval
    /// is spent, and the intent is committed.
    pub fn commit_dispatch(&self, ready: Ready, still: Revalidation<'_>) -> Result<Dispatch, StoreFault> {
        pass(Point::DispatchBefore)?;
        let mut action = match ready {
            Ready::Attempt(Reserved(action)) | Ready::Once(Authorized(action)) => action,
        };
        let token = uuid::Uuid::new_v4().simple().to_string();
        let stale = self.write(|transaction| {
            if control_seq(transaction)? != still.control_seq || action.conditions_digest != still.conditions_digest {
                return Ok(Some(Code::PermissionStale));
            }
            let set = "phase = 'dispatched', dispatched_at = ?5, token = ?6";
            match advance_with(transaction, &action, set, Some(&token)) {
                Err(StoreFault::StaleOwner) => return Ok(Some(Code::BindingMismatch)),
                advanced => advanced?,
            }
            spend_wait(transaction, &action)?;
            Event::of(EventKind::Dispatched).write(transaction, &action.binding.action_id)?;
            pass(Point::DispatchInTx)?;
            Ok(None)
        })?;
        if let Some(code) = stale {
            return Ok(Dispatch::Stale(code));
        }
        action.version += 1;
        (action.phase, action.dispatched) = (Phase::Dispatched, true);
        pass(Point::DispatchAfterIntent)?;
        Ok(Dispatch::Started(Box::new(Started::committed(action, StartToken::committed(token)))))
    }

    /// The key of an attempt that died before it was counted is found to be its own after all.
    pub fn count_attempt(&self, action: &Action) -> Result<(), StoreFault> {
        self.write(|transaction| {
            advance(transaction, action, "reserved_at = ?5")?;
            count(transaction, action)
        })
    }
}

pub(super) fn control_seq(transaction: &rusqlite::Connection) -> Result<i64, StoreFault> {
    let mut statement = transaction.prepare_cached("SELECT coalesce(max(seq), 0) FROM controls")?;
    Ok(statement.query_row([], |row| row.get(0))?)
}

pub(super) fn decided_event(action: &Action, permission: Permission, code: Option<Code>) -> Event {
    let policy_version = Some(action.binding.policy_version);
    Event { permission: Some(permission), code, policy_version, ..Event::of(EventKind::PermissionDecided) }
}

/// Changes an action that is still as it was seen, owner, version and binding; `?5` is the time.
pub(super) fn advance(transaction: &Transaction<'_>, action: &Action, set: &str) -> Result<(), StoreFault> {
    advance_with(transaction, action, set, None)
}

fn advance_with(
    transaction: &Transaction<'_>,
    action: &Action,
    set: &str,
    extra: Option<&str>,
) -> Result<(), StoreFault> {
    let binding = &action.binding;
    let sql = format!(
        "UPDATE actions SET version = version + 1, {set} WHERE action_id = ?1 AND version = ?2 AND owner_id IS ?3 AND generation = ?4 \
         AND execution_id = ?7 AND call_id = ?8 AND policy_version = ?9 AND args_digest = ?10 AND ?5 IS NOT NULL AND ?6 IS ?6"
    );
    let changed = transaction.prepare_cached(&sql)?.execute(params![
        binding.action_id.as_str(),
        action.version,
        action.owner.map(|owner| owner.to_string()),
        action.generation,
        utc_now(),
        extra,
        binding.execution_id.as_str(),
        binding.call_id.as_str(),
        binding.policy_version,
        binding.args_digest,
    ])?;
    if changed == 1 { Ok(()) } else { Err(StoreFault::StaleOwner) }
}

/// The request's cursor counts the attempt.
pub(super) fn count(transaction: &Transaction<'_>, action: &Action) -> Result<(), StoreFault> {
    let (Some(request_id), Some(attempt)) = (&action.request_id, &action.attempt) else { return Ok(()) };
    let mut statement = transaction.prepare_cached(
        "INSERT INTO requests VALUES (?1, ?2, ?3, ?4) ON CONFLICT (request_hash) DO UPDATE SET attempts = max(attempts, excluded.attempts)",
    )?;
    statement.execute(params![
        RequestHash::of(request_id).hex(Era::Ours),
        attempt.fingerprint.as_str(),
        action.workflow.as_deref().unwrap_or_default(),
        attempt.attempt.number().min(5),
    ])?;
    Ok(())
}

/// Writes an action and that it was prepared.
pub(super) fn enter(transaction: &Transaction<'_>, action: &Action) -> Result<(), StoreFault> {
    insert(transaction, action)?;
    let prepared = Event { policy_version: Some(action.binding.policy_version), ..Event::of(EventKind::Prepared) };
    prepared.write(transaction, &action.binding.action_id)
}

pub(super) fn insert(transaction: &Transaction<'_>, action: &Action) -> Result<(), StoreFault> {
    let binding = &action.binding;
    let attempt = action.attempt.as_ref();
    let (owner, pid, host) = match &action.process {
        Process::Server { id, pid, host } => (Some(id.to_string()), Some(*pid), Some(host.clone())),
        Process::Python { pid, host } => (None, *pid, host.clone()),
        Process::Nobody => (None, None, None),
    };
    let at = |set: bool| set.then(|| action.started_at.clone());
    let mut statement = transaction.prepare_cached(
        "INSERT INTO actions (action_id, execution_id, call_id, tool, origin, policy_version, args_digest, conditions_digest, \
         request_hash, request_id, workflow, mode, fingerprint, attempt, ledger_key, permission, execution, delivery, phase, code, \
         owner_id, generation, version, record_owner, record_pid, record_host, started_at, reserved_at, dispatched_at, claimed_at, revoked_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, \
         ?26, ?27, ?28, ?29, ?30, ?31)",
    )?;
    statement.execute(params![
        binding.action_id.as_str(),
        binding.execution_id.as_str(),
        binding.call_id.as_str(),
        action.tool.as_str(),
        action.origin.as_str(),
        binding.policy_version,
        binding.args_digest,
        action.conditions_digest,
        action.request_id.as_ref().map(|id| RequestHash::of(id).hex(Era::Ours)),
        action.request_id.as_ref().map(RequestId::as_str),
        action.workflow,
        action.mode.as_str(),
        attempt.map(|attempt| attempt.fingerprint.as_str().to_owned()),
        attempt.map(|attempt| attempt.attempt.number().min(5)),
        attempt.map(|attempt| attempt.ledger_key.as_str().to_owned()),
        action.permission.map(Permission::as_str),
        action.execution.map(crate::lifecycle::types::Execution::as_str),
        action.delivery.as_str(),
        action.phase.as_str(),
        action.code.map(Code::as_str),
        action.owner.map(|owner| owner.to_string()),
        action.generation,
        action.version,
        owner,
        pid,
        host,
        action.started_at,
        at(action.reserved),
        at(action.dispatched),
        at(action.claimed),
        at(action.revoked),
    ])?;
    Ok(())
}
