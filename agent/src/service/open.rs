//! Opening an attempt: decided, reserved, dispatched. What can't come so far is proven not to have started.
//! Source: lifecycle, *The one entry*, steps 4 to 9.

use std::collections::BTreeMap;
use std::path::Path;

use super::begin::{Admitted, Begun, Caller};
use super::core::Core;
use super::history::Ask;
use super::settle::Ending;
use super::watch::View;
use crate::contract::ids::RunId;
use crate::contract::reason::Reason;
use crate::contract::result::RunResult;
use crate::contract::sandbox::SandboxFacts;
use crate::flow::command::{FlowCommand, url_word};
use crate::lifecycle::StoreFault;
use crate::lifecycle::contracts::Tool;
use crate::lifecycle::crash::{Point, pass};
use crate::lifecycle::executor::StartToken;
use crate::lifecycle::machine::{Authorized, Ready, Started};
use crate::lifecycle::policy::InForce;
use crate::lifecycle::project::project_running;
use crate::lifecycle::store::{Dispatch, NewAction, Revalidation};
use crate::lifecycle::types::{Code, Origin, Permission};
use crate::runs::StoreError;
use crate::runs::dispatch::{Order, Origin as OrderOrigin};
use crate::runs::ledger::Reservation;
use crate::runs::lock::StripeGuard;
use crate::runs::record::AttemptOf;
use crate::runs::request_hash::{Attempt, Era, RequestHash};
use crate::workflows::Workflow;

/// What opening an attempt led to.
pub enum Opened {
    Begun(Begun),
    /// Another agent reserved the key at the same moment, for this run.
    Anothers(RunId),
}

/// What a run is dispatched with.
pub struct Scene<'a> {
    pub workflow: &'a Workflow,
    pub flow: &'a FlowCommand,
    pub bundle: &'a Path,
    pub params: &'a BTreeMap<String, String>,
    /// The app's address for this one run; else what the operator fixed.
    pub url: Option<&'a str>,
    pub sandbox: Option<SandboxFacts>,
    /// The operator's switches, as the decision knew them.
    pub control_seq: i64,
}

impl Core {
    pub(super) fn open_attempt(
        &self,
        held: &StripeGuard,
        ask: &Ask,
        attempt: Attempt,
        admitted: &Admitted<'_>,
        policy: &InForce,
        caller: &Caller,
    ) -> Result<Opened, StoreError> {
        let ledger_key = RequestHash::of(&ask.request_id).ledger_key(attempt, Era::Ours);
        let new = NewAction {
            run_id: RunId::random(),
            tool: Tool::RunWorkflow,
            origin: Origin::McpAgent,
            policy_version: policy.version,
            args_digest: admitted.args_digest.clone(),
            conditions_digest: self.conditions(admitted.workflow, policy),
            request_id: Some(ask.request_id.clone()),
            workflow: Some(ask.workflow.clone()),
            mode: ask.mode,
            attempt: Some(AttemptOf { attempt, ledger_key, fingerprint: ask.fingerprint.clone() }),
        };
        let authorized = match self.reviewer() {
            None => self.actions().prepare_allowed(&new)?,
            Some(reviewer) => match self.reviewed_first(held, reviewer, &new, admitted, caller)? {
                Ok(authorized) => authorized,
                Err(begun) => return Ok(Opened::Begun(begun)),
            },
        };
        self.reserve(held, authorized, admitted, policy)
    }

    fn reserve(
        &self,
        held: &StripeGuard,
        authorized: Authorized,
        admitted: &Admitted<'_>,
        policy: &InForce,
    ) -> Result<Opened, StoreError> {
        let unreserved = authorized.action().clone();
        let run_id = unreserved.run_id().clone();
        let Some(attempt) = &unreserved.attempt else { return Err(StoreFault::BindingMismatch.into()) };
        let not_reserved = || Ending { code: Some(Code::NotReserved), ..Ending::not_started(Reason::PlatformError) };
        match self.ledger()?.reserve(&attempt.ledger_key, &run_id) {
            Ok(Reservation::Reserved) => {}
            Ok(Reservation::Owned { run_id: owner }) if owner == run_id => {}
            Ok(Reservation::Owned { run_id: owner }) => {
                self.seal_and_tell(Some(held), &unreserved, not_reserved())?;
                return Ok(Opened::Anothers(owner));
            }
            Err(fault) => {
                tracing::warn!("an attempt couldn't be reserved, so nothing was started: {fault}");
                return self.close(Some(held), &unreserved, not_reserved()).map(Opened::Begun);
            }
        }
        let counted = pass(Point::ReserveAfterLedger).map_err(StoreFault::from);
        let reserved = match counted.and_then(|()| self.actions().reserve(authorized)) {
            Ok(reserved) => reserved,
            Err(fault) => {
                tracing::warn!("an attempt couldn't be counted, so nothing was started: {fault}");
                return self.close(Some(held), &unreserved, not_reserved()).map(Opened::Begun);
            }
        };
        if let Some(sandbox) = self.sandbox() {
            return self.cast(held, sandbox, reserved, &admitted.inputs, policy.control_seq).map(Opened::Begun);
        }
        let scene = Scene {
            workflow: admitted.workflow,
            flow: &self.flow,
            bundle: &admitted.workflow.bundle_dir,
            params: admitted.inputs.rendered(),
            url: None,
            sandbox: None,
            control_seq: policy.control_seq,
        };
        let dispatched = self.dispatch(Some(held), Ready::Attempt(reserved), &scene)?;
        Ok(Opened::Begun(match dispatched {
            Ok(token) => Begun::Dispatched(run_id, token),
            Err(result) => Begun::Answer(result),
        }))
    }

    /// Everything is looked at once more, and the intent is committed. What can't be committed, or handed to a keeper, is proven not to
    /// have started: its result is the inner error.
    pub(super) fn dispatch(
        &self,
        held: Option<&StripeGuard>,
        ready: Ready,
        scene: &Scene<'_>,
    ) -> Result<Result<StartToken, Box<RunResult>>, StoreError> {
        let action = ready.action().clone();
        let sealed = |action, ending| Ok(Err(Box::new(self.seal_and_tell(held, action, ending)?)));
        let stale = |code| Ending {
            code: Some(code),
            permission: Some(Permission::Deny),
            ..Ending::not_started(Reason::PolicyRefused)
        };
        if scene.workflow.recheck().is_err() {
            return sealed(&action, stale(Code::PermissionStale));
        }
        let conditions = self.conditions(scene.workflow, &*self.in_force()?);
        let still = Revalidation { control_seq: scene.control_seq, conditions_digest: &conditions };
        match self.actions().commit_dispatch(ready, still) {
            Ok(Dispatch::Started(started)) => self.hand_over(held, *started, scene),
            Ok(Dispatch::Stale(code)) => sealed(&action, stale(code)),
            Err(fault) => {
                tracing::warn!("a run couldn't be dispatched, so nothing was started: {fault}");
                let ending = Ending { code: Some(Code::IntentRevoked), ..Ending::not_started(Reason::PlatformError) };
                match self.actions().find(action.run_id())? {
                    Some(known) if !known.action.dispatched => sealed(&known.action, ending),
                    // Committed after all: nobody was told the token, so nobody can claim it.
                    _ => self.take_back(held, action.run_id()).map(Err),
                }
            }
        }
    }

    fn hand_over(
        &self,
        held: Option<&StripeGuard>,
        started: Started,
        scene: &Scene<'_>,
    ) -> Result<Result<StartToken, Box<RunResult>>, StoreError> {
        let (action, token) = started.into_parts();
        let (dispatch, run_id) = (self.store.dispatch(), action.run_id().clone());
        let run_dir = self.store.root().run_dir(&run_id);
        let params_file = dispatch.params_file(&run_id);
        let order = Order {
            argv: match scene.url {
                None => scene.flow.for_run(scene.bundle, &run_dir, &params_file),
                Some(_) => {
                    scene.flow.for_run_elsewhere(scene.bundle, &run_dir, &params_file, dispatch.placeholder(&run_id))
                }
            },
            run_dir,
            time_limit_ms: u64::try_from(self.timeout.as_millis()).unwrap_or(u64::MAX),
            of: OrderOrigin {
                request_id: action.request_id.clone(),
                workflow: action.workflow.clone(),
                mode: action.mode,
                started_at: action.started_at.clone(),
                attempt: action.attempt.clone(),
                sandbox: scene.sandbox,
            },
            run_id: run_id.clone(),
        };
        let params = serde_json::to_vec(scene.params).unwrap_or_default();
        let ordered = dispatch.order(order, self.store.server_id(), &token, Some(&params)).map_err(StoreError::from);
        let ordered = ordered.and_then(|_| match scene.url {
            Some(url) => Ok(dispatch.put_private_word(&run_id, &url_word(url))?),
            None => Ok(()),
        });
        if let Err(fault) = ordered {
            tracing::warn!("a run couldn't be handed to a keeper, so nothing was started: {fault}");
            return self.take_back(held, &run_id).map(Err);
        }
        if let Err(fault) = project_running(&self.store, &action) {
            tracing::warn!("a record of a run that has begun couldn't be written; it is written when it ends: {fault}");
        }
        Ok(Ok(token))
    }

    fn take_back(&self, held: Option<&StripeGuard>, run_id: &RunId) -> Result<Box<RunResult>, StoreError> {
        self.revoke_unclaimed(held, run_id)?;
        match self.settle(held, run_id)? {
            View::Ended(result) => Ok(Box::new(RunResult::clone(&result))),
            _ => Ok(Box::new(self.unfinished(run_id))),
        }
    }
}
