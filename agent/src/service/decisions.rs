//! Pieces of work that the bridge carries out, through the one entry: decisions of persons about paused runs, and the steps of a
//! recording. Each is written down, asked about where it has to be, dispatched once, sealed. Source: lifecycle, the table of tool
//! families; K15.

use serde_json::{Map, Value, json};

use super::core::Core;
use crate::attended::action::Action as Decided;
use crate::attended::request::DecisionRequest;
use crate::bridge::host::FormOutcome;
use crate::contract::ids::RunId;
use crate::flow::canonical::sha256_hex;
use crate::lifecycle::StoreFault;
use crate::lifecycle::canonical::{self, decision_operation};
use crate::lifecycle::contracts::{Executor, RepeatRule, Tool};
use crate::lifecycle::executor::{ExecutorStatus, StartToken};
use crate::lifecycle::failures::Repeat;
use crate::lifecycle::machine::{Authorized, Ready};
use crate::lifecycle::policy::InForce;
use crate::lifecycle::sealed::{DecisionEnd, SealedResult};
use crate::lifecycle::store::{Action, Dispatch, Identity, NewAction, ReceiptRead, Revalidation, Sealing, Why};
use crate::lifecycle::types::{Origin, Permission, Phase};
use crate::runs::StoreError;

/// One piece of work for the bridge.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    pub tool: Tool,
    pub origin: Origin,
    /// The exact work. It is stored as a keyed digest.
    pub operation: Value,
    /// What is the same in a repeat of it.
    pub repeats: Value,
    /// What a person's yes to it is good for.
    pub binding: String,
    /// Opaque ids and closed words, for its receipt.
    pub named: Map<String, Value>,
}

/// Where a decision stands when it is called for.
pub enum Called {
    /// A person is asked.
    Ask,
    /// A person has said yes to exactly this before, and it was never handed over.
    Approved(Box<Approved>),
    /// It isn't asked again: the same was refused before, and nothing has changed.
    Suppressed,
}

/// A decision that a person has confirmed.
pub struct Approved {
    authorized: Authorized,
    policy: std::sync::Arc<InForce>,
}

/// A decision on its way to Flow's bridge.
pub struct Handed {
    action: Action,
    repeat: Repeat,
}

impl Core {
    pub fn decision_called(&self, piece: &Piece) -> Result<Called, StoreError> {
        let (policy, identity) = (self.in_force()?, self.identity_of(piece));
        if let Some(action) = self.actions().approved(&identity)?
            && !self.is_owner_alive(&action)?
            && !self.is_elsewhere(&action)?
        {
            let authorized = self.actions().resumed(&action)?;
            return Ok(Called::Approved(Box::new(Approved { authorized, policy })));
        }
        let prepared = self.actions().prepare(&self.new_decision(piece, &policy))?;
        if self.is_suppressed(piece, &policy)? {
            self.seal_decision(prepared.action(), piece, DecisionEnd::Suppressed, None, Map::new())?;
            return Ok(Called::Suppressed);
        }
        self.actions().open_wait(prepared, &identity, Why::Always, "")?;
        Ok(Called::Ask)
    }

    /// A piece that nobody is asked about. It is approved here and now, unless the same was refused before.
    pub fn piece_called(&self, piece: &Piece) -> Result<Called, StoreError> {
        let policy = self.in_force()?;
        if self.is_suppressed(piece, &policy)? {
            let draft = self.actions().draft(&self.new_decision(piece, &policy))?;
            self.actions().refuse(&draft, &sealing(DecisionEnd::Suppressed, false, named(piece, Map::new())))?;
            self.finish_decision(draft.run_id(), None)?;
            return Ok(Called::Suppressed);
        }
        let authorized = self.actions().prepare_allowed(&self.new_decision(piece, &policy))?;
        Ok(Called::Approved(Box::new(Approved { authorized, policy })))
    }

    /// Nothing of it can be decided now: a whole decision, without a question.
    pub fn decision_refused(&self, piece: &Piece) -> Result<(), StoreError> {
        let policy = self.in_force()?;
        let draft = self.actions().draft(&self.new_decision(piece, &policy))?;
        self.actions().refuse(&draft, &sealing(DecisionEnd::NotOffered, false, named(piece, Map::new())))?;
        self.finish_decision(draft.run_id(), None)
    }

    /// What a person answered. `None` where that isn't a yes, or nobody is asked any more.
    pub fn decision_answered(&self, piece: &Piece, given: FormOutcome) -> Result<Option<Approved>, StoreError> {
        let policy = self.in_force()?;
        // Each call that asks has a question of its own, and each answer closes one.
        let Some(waiting) = self.actions().asked_here(&self.identity_of(piece))? else { return Ok(None) };
        let (end, expired) = match given {
            FormOutcome::Confirmed => {
                let authorized = self.actions().approve(waiting)?;
                return Ok(Some(Approved { authorized, policy }));
            }
            FormOutcome::Declined => (DecisionEnd::Declined, false),
            FormOutcome::NotConfirmed => (DecisionEnd::NotConfirmed, false),
            FormOutcome::Cancelled | FormOutcome::Unanswered => (DecisionEnd::Unanswered, true),
        };
        let action = self.actions().decline(waiting, expired)?;
        self.seal_decision(&action, piece, end, None, Map::new())?;
        Ok(None)
    }

    /// What was confirmed can't be handed over: the item has changed, or Flow's bridge isn't there.
    pub fn decision_dropped(&self, piece: &Piece, approved: Approved, end: DecisionEnd) -> Result<(), StoreError> {
        self.seal_decision(approved.authorized.action(), piece, end, None, Map::new())
    }

    /// The one transaction that lets a decision be handed over. `None` where something has changed since it was confirmed.
    pub fn decision_dispatched(
        &self,
        piece: &Piece,
        approved: Approved,
    ) -> Result<Option<(Handed, StartToken)>, StoreError> {
        let Approved { authorized, policy } = approved;
        let action = authorized.action().clone();
        let conditions = self.conditions_of_a_decision(&*self.in_force()?);
        let still = Revalidation { control_seq: policy.control_seq, conditions_digest: &conditions };
        let (action, token) = match self.actions().commit_dispatch(Ready::Once(authorized), still)? {
            Dispatch::Started(started) => started.into_parts(),
            Dispatch::Stale(_) => {
                self.seal_decision(&action, piece, DecisionEnd::NotOffered, None, Map::new())?;
                return Ok(None);
            }
        };
        if !self.actions().claim(action.run_id(), token.as_str(), Executor::Bridge)? {
            return Err(StoreFault::StaleOwner.into());
        }
        let action = self.actions().find(action.run_id())?.ok_or(StoreFault::StaleOwner)?.action;
        let repeat = self.repeat_of(piece, &policy);
        Ok(Some((Handed { action, repeat }, token)))
    }

    /// What became of a decision that was handed over.
    pub fn decision_ended(
        &self,
        piece: &Piece,
        handed: Handed,
        end: DecisionEnd,
        document: Map<String, Value>,
    ) -> Result<(), StoreError> {
        let failed = match end {
            DecisionEnd::CarriedOut => Some(false),
            DecisionEnd::Refused => Some(true),
            _ => None,
        };
        let repeat = failed.map(|failed| Repeat { failed, ..handed.repeat });
        self.seal_decision(&handed.action, piece, end, repeat.as_ref(), document)
    }

    fn seal_decision(
        &self,
        action: &Action,
        piece: &Piece,
        end: DecisionEnd,
        repeat: Option<&Repeat>,
        document: Map<String, Value>,
    ) -> Result<(), StoreError> {
        self.actions().record(action, &sealing(end, action.claimed, named(piece, document)))?;
        self.finish_decision(action.run_id(), repeat)
    }

    /// A decision has no copies: what it did stands in Flow's own journal.
    fn finish_decision(&self, id: &RunId, repeat: Option<&Repeat>) -> Result<(), StoreError> {
        let again = || Ok::<_, StoreError>(self.actions().find(id)?.ok_or(StoreFault::StaleOwner)?.action);
        let action = again()?;
        if action.phase == Phase::Recorded {
            self.actions().checkpoint(&action, repeat)?;
        }
        let action = again()?;
        if action.phase == Phase::Checkpointed {
            self.actions().mark_projected(&action)?;
        }
        Ok(())
    }

    /// A decision that a server left half-way. Only one that was handed over is in doubt.
    pub(super) fn settle_decision(&self, action: &Action, receipt: Option<&ReceiptRead>) -> Result<(), StoreError> {
        if receipt.is_some() {
            return if action.phase == Phase::Projected { Ok(()) } else { self.finish_decision(action.run_id(), None) };
        }
        let open = matches!(action.phase, Phase::Waiting | Phase::Authorized);
        if self.is_elsewhere(action)? || (open && !self.actions().wait_is_over(action)?) {
            return Ok(());
        }
        let end = match action.phase {
            Phase::Waiting => DecisionEnd::Unanswered,
            _ if self.is_owner_alive(action)? => return Ok(()),
            Phase::Claimed => DecisionEnd::Uncertain,
            _ => DecisionEnd::NotSubmitted,
        };
        self.actions().record(action, &sealing(end, action.claimed, Map::new()))?;
        self.finish_decision(action.run_id(), None)
    }

    fn new_decision(&self, piece: &Piece, policy: &InForce) -> NewAction {
        NewAction {
            run_id: RunId::random(),
            tool: piece.tool,
            origin: piece.origin,
            policy_version: policy.version,
            args_digest: canonical::digest_of_any_size(self.store.key(), &piece.operation),
            conditions_digest: self.conditions_of_a_decision(policy),
            request_id: None,
            workflow: None,
            mode: self.mode(),
            attempt: None,
        }
    }

    fn conditions_of_a_decision(&self, policy: &InForce) -> String {
        policy.conditions(None, &sha256_hex(self.flow.facts().to_string().as_bytes()))
    }

    fn identity_of(&self, piece: &Piece) -> Identity {
        Identity { digest: self.keyed(&json!(piece.binding)), account: self.keyed(&json!(self.account())) }
    }

    fn repeat_of(&self, piece: &Piece, policy: &InForce) -> Repeat {
        let key = self.keyed(&json!([piece.repeats, self.conditions_of_a_decision(policy)]));
        Repeat { scope: self.keyed(&json!(self.account())), key, failed: true }
    }

    fn is_suppressed(&self, piece: &Piece, policy: &InForce) -> Result<bool, StoreError> {
        let RepeatRule::Suppress { after } = piece.tool.contract().repeat else { return Ok(false) };
        let repeat = self.repeat_of(piece, policy);
        Ok(self.actions().failed_before(&repeat.scope, &repeat.key)? >= after)
    }
}

impl From<&DecisionRequest> for Piece {
    fn from(request: &DecisionRequest) -> Self {
        let tool = tool_of(request.action);
        let operation =
            |key: &str| decision_operation(tool, request.attention_id.as_str(), &request.capability_digest, key);
        let named = [("attention_id", request.attention_id.as_str()), ("action", request.action.as_str())];
        Self {
            tool,
            origin: Origin::McpAgent,
            operation: operation(&request.idempotency_key),
            // The caller's own key makes a decision no other work.
            repeats: operation(""),
            binding: request.binding(),
            named: named.into_iter().map(|(key, value)| (key.to_owned(), value.into())).collect(),
        }
    }
}

const fn tool_of(action: Decided) -> Tool {
    match action {
        Decided::Continue => Tool::Continue,
        Decided::Skip => Tool::Skip,
        Decided::Reject => Tool::Reject,
        Decided::Teach => Tool::Teach,
        Decided::Escalate => Tool::Escalate,
    }
}

fn named(piece: &Piece, mut document: Map<String, Value>) -> Map<String, Value> {
    document.extend(piece.named.clone());
    document
}

fn sealing(end: DecisionEnd, started: bool, document: Map<String, Value>) -> Sealing {
    let (permission, executor_end) = match end {
        DecisionEnd::CarriedOut | DecisionEnd::Refused => (Permission::Allow, Some(ExecutorStatus::Completed)),
        DecisionEnd::Uncertain => (Permission::Allow, Some(ExecutorStatus::Incomplete)),
        DecisionEnd::NotSubmitted => (Permission::Allow, started.then_some(ExecutorStatus::Failed)),
        _ => (Permission::Deny, None),
    };
    Sealing {
        permission: Some(permission),
        result: SealedResult::Decision(end, document),
        code: None,
        executor_started: started && end != DecisionEnd::NotSubmitted,
        executor_end,
        started_at: None,
        evidence: Map::new(),
    }
}
