//! The closed words and ids of the lifecycle, and which of them may stand together. Source: lifecycle, *Types* and *Legal triples*.

use std::fmt;

use crate::contract::ids::RunId;
use crate::contract::outcome::{Outcome, closed_words};
use crate::contract::reason::Reason;

closed_words! {
    /// Whether this exact operation may begin under the authority of now.
    Permission {
        Allow = "allow",
        Ask = "ask",
        Deny = "deny",
    }
}

closed_words! {
    /// What is known of the execution itself.
    Execution {
        /// The executor was never started.
        NotStarted = "not_started",
        Succeeded = "succeeded",
        /// It was started, and proves that nothing was written.
        Failed = "failed",
        /// It may have been started, and its end isn't established.
        Unknown = "unknown",
    }
}

closed_words! {
    /// Where the result stands.
    Delivery {
        Pending = "pending",
        /// The receipt is committed; a file copy may still be missing.
        Recorded = "recorded",
        /// Every copy that anybody reads is there.
        Projected = "projected",
    }
}

closed_words! {
    /// How far an action has come.
    Phase {
        Prepared = "prepared",
        Waiting = "waiting",
        Authorized = "authorized",
        Reserved = "reserved",
        /// The intent is committed, and nobody has claimed it yet.
        Dispatched = "dispatched",
        /// Its keeper, or the bridge process, has it: it may be running.
        Claimed = "claimed",
        Recorded = "recorded",
        Checkpointed = "checkpointed",
        Projected = "projected",
    }
}

closed_words! {
    /// Through which door an action came in.
    Origin {
        McpAgent = "mcp_agent",
        Mailbox = "mailbox",
        LocalOperator = "local_operator",
    }
}

closed_words! {
    /// What an executor can change.
    EffectClass {
        Read = "read",
        LocalDurable = "local_durable",
        External = "external",
    }
}

closed_words! {
    /// Why, more precisely than the reason says. Source: lifecycle, K12.
    Code {
        /// An operator has switched runs off.
        RunsRevoked = "runs_revoked",
        /// An operator has switched this workflow off.
        WorkflowRevoked = "workflow_revoked",
        /// This account has no name, so nobody answers for the action.
        AuthorityMissing = "authority_missing",
        /// Policy, capability, bundle or configuration changed before the dispatch.
        PermissionStale = "permission_stale",
        /// What was approved and what was to be dispatched aren't the same.
        BindingMismatch = "binding_mismatch",
        ReviewRefused = "review_refused",
        ReviewTimedOut = "review_timed_out",
        ReviewCanceled = "review_canceled",
        ReviewCrashed = "review_crashed",
        ReviewMalformed = "review_malformed",
        ReviewTooLarge = "review_too_large",
        /// The reviewer's refusals ask for a person, and there is none to ask.
        FallbackUnavailable = "fallback_unavailable",
        FallbackDeclined = "fallback_declined",
        FallbackExpired = "fallback_expired",
        /// Its server was gone before anything was dispatched.
        NotDispatched = "not_dispatched",
        /// The intent was taken back before anybody claimed it.
        IntentRevoked = "intent_revoked",
        /// The attempt's key couldn't be reserved.
        NotReserved = "not_reserved",
        /// The result couldn't be written down; it is looked up again.
        RecordFailed = "record_failed",
        /// A receipt that doesn't hold against its digest.
        ReceiptCorrupt = "receipt_corrupt",
        /// The same operation failed before and nothing about it has changed.
        RepeatSuppressed = "repeat_suppressed",
        /// A person didn't say yes.
        NotConfirmed = "not_confirmed",
        /// The engine said no, and wrote nothing.
        ExecutorRefused = "executor_refused",
        /// The executor couldn't be reached, so nothing was handed over.
        ExecutorUnreachable = "executor_unreachable",
    }
}

macro_rules! opaque_ids {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal),+ $(,)?) => {
        $($(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub struct $name(String);

        impl $name {
            pub fn random() -> Self {
                Self(format!("{}{}", $prefix, &uuid::Uuid::new_v4().simple().to_string()[..24]))
            }

            /// As the store has it.
            pub fn stored(text: String) -> Self {
                Self(text)
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        })+
    };
}

opaque_ids! {
    /// One action, from its preparation to its last projection.
    ActionId = "act-",
    /// One call of a tool.
    CallId = "call-",
    /// One request to an executor.
    ExecutorRequestId = "exec-",
    /// One question to a person.
    WaitId = "wait-",
}

/// What every decision, wait, receipt and recovery step of an action carries, unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    pub action_id: ActionId,
    pub execution_id: RunId,
    pub call_id: CallId,
    pub policy_version: i64,
    pub args_digest: String,
}

/// Permission, execution and delivery of one action at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Triple {
    pub permission: Option<Permission>,
    pub execution: Option<Execution>,
    pub delivery: Delivery,
}

impl Triple {
    /// The legal set; the store's own check says the same a second time.
    pub const fn is_legal(self) -> bool {
        match (self.permission, self.execution, self.delivery) {
            (None | Some(Permission::Ask | Permission::Allow), None, Delivery::Pending) => true,
            (None | Some(Permission::Deny), Some(Execution::NotStarted), delivery) => {
                !matches!(delivery, Delivery::Pending)
            }
            (Some(Permission::Allow), Some(_), delivery) => !matches!(delivery, Delivery::Pending),
            _ => false,
        }
    }
}

impl Phase {
    pub const fn delivery(self) -> Delivery {
        match self {
            Self::Recorded | Self::Checkpointed => Delivery::Recorded,
            Self::Projected => Delivery::Projected,
            _ => Delivery::Pending,
        }
    }
}

impl Execution {
    /// What a terminal reason says of the execution. `started` is the host's own evidence, never a text.
    pub const fn of(reason: Reason, started: bool) -> Self {
        match (reason.outcome(), started) {
            (Outcome::Done, _) => Self::Succeeded,
            (Outcome::NotSureIfSaved | Outcome::Running, _) => Self::Unknown,
            (Outcome::NeedsReview, _) | (Outcome::DidNotRun, true) => Self::Failed,
            (Outcome::DidNotRun, false) => Self::NotStarted,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::outcome::RecordChanged;

    fn every<T: Copy>(words: &[T]) -> impl Iterator<Item = Option<T>> {
        [None].into_iter().chain(words.iter().copied().map(Some))
    }

    #[test]
    fn the_legal_triples_are_those_of_the_table_and_no_others() {
        let mut legal = Vec::new();
        for permission in every(Permission::ALL) {
            for execution in every(Execution::ALL) {
                for delivery in Delivery::ALL.iter().copied() {
                    if (Triple { permission, execution, delivery }).is_legal() {
                        let words = (permission.map(Permission::as_str), execution.map(Execution::as_str));
                        legal.push((words.0.unwrap_or("-"), words.1.unwrap_or("-"), delivery.as_str()));
                    }
                }
            }
        }
        let mut table = vec![("-", "-", "pending"), ("allow", "-", "pending"), ("ask", "-", "pending")];
        for delivery in ["recorded", "projected"] {
            table.extend([("-", "not_started", delivery), ("deny", "not_started", delivery)]);
            table.extend(
                ["not_started", "succeeded", "failed", "unknown"].map(|execution| ("allow", execution, delivery)),
            );
        }
        legal.sort_unstable();
        table.sort_unstable();
        assert_eq!(legal, table);
    }

    /// lifecycle 2.3: the invariants against the contract's own table.
    #[test]
    fn the_execution_of_every_reason_agrees_with_what_the_contract_says_of_the_record() {
        for reason in Reason::ALL.iter().copied().filter(|reason| reason.is_terminal()) {
            for started in [false, true] {
                let execution = Execution::of(reason, started);
                assert_eq!(execution == Execution::Succeeded, reason.outcome() == Outcome::Done, "{reason:?}");
                assert_eq!(execution == Execution::Unknown, reason.outcome() == Outcome::NotSureIfSaved, "{reason:?}");
                if reason.row().record_changed == RecordChanged::No {
                    assert!(matches!(execution, Execution::NotStarted | Execution::Failed), "{reason:?}");
                }
                if execution == Execution::NotStarted {
                    assert!(!started, "{reason:?}");
                }
            }
        }
    }
}
