//! An attempt that a reviewer looks at first, and the person who is asked when it has refused too often.
//! Source: lifecycle, parts B and D.

use serde_json::json;

use super::begin::{Admitted, Begun, Caller};
use super::core::Core;
use super::settle::Ending;
use crate::bridge::host::{Form, FormOutcome};
use crate::contract::outcome::Mode;
use crate::contract::reason::Reason;
use crate::lifecycle::StoreFault;
use crate::lifecycle::canonical;
use crate::lifecycle::crash::{Point, pass};
use crate::lifecycle::machine::{Authorized, Prepared, Waiting};
use crate::lifecycle::review::{Reviewer, Trigger, Verdict};
use crate::lifecycle::store::{Action, Identity, Kept, NewAction, Why};
use crate::lifecycle::types::{Code, Permission};
use crate::runs::StoreError;
use crate::runs::key::Sealed;
use crate::runs::lock::StripeGuard;

const QUESTION: &str =
    "The reviewer on this computer has refused this run. Run it all the same? What it enters is checked as always.";
const TICK: &str = "Run it all the same";

type Decided = Result<Authorized, Begun>;

impl Core {
    /// `Err` where the call ends here: refused, or a person is asked.
    pub(super) fn reviewed_first(
        &self,
        held: &StripeGuard,
        reviewer: &dyn Reviewer,
        new: &NewAction,
        admitted: &Admitted<'_>,
        caller: &Caller,
    ) -> Result<Decided, StoreError> {
        let identity = self.identity(new)?;
        if let Some(action) = self.actions().approved(&identity)? {
            // Approved before, and never dispatched: its server was gone too soon.
            if !is_bound(&action, new) {
                let action = self.actions().take(&action)?;
                return self.denied(held, &action, Code::BindingMismatch);
            }
            return Ok(Ok(self.actions().resumed(&action)?));
        }
        if let Some(waiting) = self.actions().waiting(&identity)? {
            return self.answered(held, waiting, new, &identity, caller);
        }
        if caller.answer.is_some() {
            let prepared = self.actions().prepare(new)?;
            return self.denied(held, prepared.action(), Code::FallbackExpired);
        }
        let prepared = self.actions().prepare(new)?;
        let epoch = self.epoch(new)?;
        let operation_id = self.keyed(&json!([epoch, new.request_id, new.args_digest, new.conditions_digest]));
        let kept = match self.actions().verdict(&operation_id)? {
            Some(kept) => kept,
            None => {
                pass(Point::ReviewBefore).map_err(StoreFault::from)?;
                self.actions().review_begins(prepared.action())?;
                let context = json!({
                    "workflow": admitted.workflow.name(),
                    "purpose": admitted.workflow.card.purpose,
                    "mode": self.mode().as_str(),
                });
                let verdict = reviewer.review(&admitted.operation, &context, &caller.canceled);
                // A verdict under another policy than the one of now is none.
                let verdict = match self.in_force()?.version == new.policy_version {
                    true => verdict,
                    false => Verdict::None(Code::PermissionStale),
                };
                match self.actions().review_ended(&prepared, &operation_id, &epoch, verdict)? {
                    Some(kept) => kept,
                    None => return self.without_verdict(held, &prepared, verdict),
                }
            }
        };
        self.judged(held, prepared, kept, &identity, &epoch, caller)
    }

    fn judged(
        &self,
        held: &StripeGuard,
        prepared: Prepared,
        kept: Kept,
        identity: &Identity,
        epoch: &str,
        caller: &Caller,
    ) -> Result<Decided, StoreError> {
        if caller.canceled.is_set() {
            return self.without_verdict(held, &prepared, Verdict::None(Code::ReviewCanceled));
        }
        match kept {
            Kept { allowed: true, .. } => Ok(Ok(self.actions().authorize(prepared)?)),
            Kept { fallback: None, .. } => self.denied(held, prepared.action(), Code::ReviewRefused),
            Kept { fallback: Some(trigger), .. } if self.can_ask(caller) => {
                self.ask_a_person(prepared, trigger, identity, epoch)
            }
            Kept { fallback: Some(_), .. } => self.denied(held, prepared.action(), Code::FallbackUnavailable),
        }
    }

    fn ask_a_person(
        &self,
        prepared: Prepared,
        trigger: Trigger,
        identity: &Identity,
        epoch: &str,
    ) -> Result<Decided, StoreError> {
        let waiting = self.actions().open_wait(prepared, identity, Why::Refusals(trigger), epoch)?;
        Ok(Err(Begun::Ask(Box::new(form(&waiting, identity)))))
    }

    /// A person is being asked already: this is their answer, or the question is put again.
    fn answered(
        &self,
        held: &StripeGuard,
        waiting: Waiting,
        new: &NewAction,
        identity: &Identity,
        caller: &Caller,
    ) -> Result<Decided, StoreError> {
        let Some(answer) = &caller.answer else {
            return Ok(Err(Begun::Ask(Box::new(form(&waiting, identity)))));
        };
        let given = if answer.binding == identity.digest { answer.given } else { FormOutcome::Unanswered };
        let waiting = Waiting::of(self.actions().take(waiting.action())?);
        match given {
            FormOutcome::Confirmed if !is_bound(waiting.action(), new) => {
                let action = self.actions().decline(waiting, false)?;
                self.denied(held, &action, Code::BindingMismatch)
            }
            FormOutcome::Confirmed => Ok(Ok(self.actions().approve(waiting)?)),
            FormOutcome::Declined | FormOutcome::NotConfirmed => {
                let action = self.actions().decline(waiting, false)?;
                let ending = Ending {
                    code: Some(Code::FallbackDeclined),
                    permission: Some(Permission::Deny),
                    ..Ending::not_started(Reason::StoppedByPerson)
                };
                self.close(Some(held), &action, ending).map(Err)
            }
            FormOutcome::Cancelled | FormOutcome::Unanswered => {
                let action = self.actions().decline(waiting, true)?;
                self.denied(held, &action, Code::FallbackExpired)
            }
        }
    }

    fn denied(&self, held: &StripeGuard, action: &Action, code: Code) -> Result<Decided, StoreError> {
        let ending = Ending {
            code: Some(code),
            permission: Some(Permission::Deny),
            ..Ending::not_started(Reason::PolicyRefused)
        };
        self.close(Some(held), action, ending).map(Err)
    }

    /// Executes nothing and counts nothing. A call that was given up says so.
    fn without_verdict(
        &self,
        held: &StripeGuard,
        prepared: &Prepared,
        verdict: Verdict,
    ) -> Result<Decided, StoreError> {
        match verdict {
            Verdict::None(code @ Code::ReviewCanceled) => {
                let ending = Ending { code: Some(code), permission: None, ..Ending::not_started(Reason::Canceled) };
                self.close(Some(held), prepared.action(), ending).map(Err)
            }
            Verdict::None(code) => self.denied(held, prepared.action(), code),
            Verdict::Allow | Verdict::Refuse => self.denied(held, prepared.action(), Code::ReviewRefused),
        }
    }

    /// Interactive: attended, a client that shows forms, and an account that somebody answers for.
    fn can_ask(&self, caller: &Caller) -> bool {
        self.mode() == Mode::Attended && caller.shows_forms && self.account().is_some()
    }

    /// The refusals of one store, one account, one policy version and mode are counted together.
    fn epoch(&self, new: &NewAction) -> Result<String, StoreError> {
        let store = self.actions().store_id()?;
        Ok(self.keyed(&json!([store, self.account(), new.policy_version, self.mode().as_str()])))
    }

    fn identity(&self, new: &NewAction) -> Result<Identity, StoreError> {
        let what = json!([new.tool.as_str(), new.request_id, new.args_digest, new.conditions_digest]);
        Ok(Identity { digest: self.keyed(&what), account: self.keyed(&json!(self.account())) })
    }

    pub(super) fn keyed(&self, facts: &serde_json::Value) -> String {
        self.store.key().digest(Sealed::Account, canonical::open_digest(facts).as_bytes())
    }
}

/// What was asked about is what is called now. Source: lifecycle, A02.
fn is_bound(action: &Action, new: &NewAction) -> bool {
    let binding = &action.binding;
    (&binding.args_digest, binding.policy_version, &action.conditions_digest, &action.request_id)
        == (&new.args_digest, new.policy_version, &new.conditions_digest, &new.request_id)
}

fn form(waiting: &Waiting, identity: &Identity) -> Form {
    let action = waiting.action();
    let workflow = action.workflow.as_ref().map(|name| format!(", workflow {name}")).unwrap_or_default();
    Form {
        message: format!("{QUESTION} Run {}{workflow}.", action.run_id()),
        field_title: TICK,
        binding: identity.digest.clone(),
    }
}
