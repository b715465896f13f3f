//! The order of a decision: the item is resolved, its capability compared, the action allowed, a person asked; and then all of
//! it again, here and in Flow's bridge, before anything is submitted. Source: *Needs Attention*.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use super::copy;
use super::decision::{self, DecisionStatus};
use super::operator::Operator;
use super::queue::{AttentionQueue, Resolved};
use super::request::DecisionRequest;
use crate::flow::bridge::FlowBridge;
use crate::flow::bridge::protocol::{ActRequest, Acted, FlowDecision};
use crate::lifecycle::executor::StartToken;
use crate::lifecycle::sealed::DecisionEnd;
use serde_json::{Map, Value};

/// Takes decisions of persons to Flow.
pub struct DecisionDesk {
    queue: Arc<AttentionQueue>,
    bridge: FlowBridge,
    operator: Operator,
    runs_dir: PathBuf,
    live: bool,
}

/// A decision ends here, with a fixed sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped(pub &'static str);

impl DecisionDesk {
    /// With `wants_live` the bridge is started now, and asked whether it can go on in the app.
    pub fn new(
        queue: Arc<AttentionQueue>,
        bridge: FlowBridge,
        operator: Operator,
        runs_dir: PathBuf,
        wants_live: bool,
    ) -> Self {
        let live = wants_live && is_live(&bridge);
        Self { queue, bridge, operator, runs_dir, live }
    }

    /// A live executor was ready when the server started.
    pub fn is_live(&self) -> bool {
        self.live
    }

    /// Everything that can be known before a person is asked.
    pub fn resolve(&self, request: &DecisionRequest) -> Result<Resolved, Stopped> {
        let found = self.queue.resolve(&request.attention_id).map_err(|fault| unreadable(&fault))?;
        let resolved = found.ok_or(Stopped(copy::UNKNOWN_ITEM))?;
        let capability = resolved.item.capability.as_ref();
        let current = capability.filter(|capability| capability.digest == request.capability_digest);
        match current {
            None => Err(Stopped(copy::STALE)),
            Some(capability) if !capability.allows(request.action.allowed_as()) => Err(Stopped(copy::NOT_ALLOWED)),
            Some(_) => Ok(resolved),
        }
    }

    /// Everything that a person has confirmed, looked at once more, here and by Flow, before it is handed over.
    pub fn look_again(&self, request: &DecisionRequest) -> Result<(), Stopped> {
        self.resolve(request)?;
        let seen = self.bridge.attention_item(&self.runs_dir, request.attention_id.as_str());
        let offered = match seen {
            Err(fault) => return Err(not_submitted(&fault)),
            Ok(item) => item.is_some_and(|item| item.offers(&request.capability_digest, request.action.as_str())),
        };
        if offered { Ok(()) } else { Err(Stopped(copy::CHANGED_MEANWHILE)) }
    }

    /// Hands a decision to Flow, once: with the token of its committed dispatch, which nothing else makes.
    pub fn submit(&self, request: &DecisionRequest, _: StartToken) -> Submitted {
        let acted = self.bridge.act(
            &self.runs_dir,
            &ActRequest {
                attention_id: request.attention_id.as_str(),
                capability_digest: &request.capability_digest,
                idempotency_key: &request.idempotency_key,
                action: request.action.as_str(),
                disposition: request.action.disposition(),
                operator: self.operator.as_str(),
            },
        );
        let (end, answer) = match acted {
            Ok(Acted::Decided(flow)) => match decision::decided(request, &flow) {
                Some(told) => (end_of(&flow), Ok(told)),
                None => (DecisionEnd::Uncertain, Err(Stopped(copy::FAILED))),
            },
            Ok(Acted::Refused) => (DecisionEnd::Refused, Ok(decision::refused(request))),
            Ok(Acted::Failed) => (DecisionEnd::Uncertain, Err(Stopped(copy::FAILED))),
            Err(fault) => (DecisionEnd::NotSubmitted, Err(not_submitted(&fault))),
        };
        Submitted { end, answer }
    }
}

/// What handing a decision over came to, and what is told of it.
pub struct Submitted {
    pub end: DecisionEnd,
    pub answer: Result<Map<String, Value>, Stopped>,
}

/// Flow's own word for where its decision stands.
fn end_of(flow: &FlowDecision) -> DecisionEnd {
    match DecisionStatus::parse(&flow.status) {
        Some(DecisionStatus::Refused) => DecisionEnd::Refused,
        Some(DecisionStatus::Prepared | DecisionStatus::DeliveryStarted | DecisionStatus::DeliveryUncertain) | None => {
            DecisionEnd::Uncertain
        }
        Some(_) => DecisionEnd::CarriedOut,
    }
}

fn is_live(bridge: &FlowBridge) -> bool {
    match bridge.hello() {
        Ok(hello) => hello.live,
        Err(fault) => {
            tracing::warn!("nothing can be continued or skipped: {fault}");
            false
        }
    }
}

fn not_submitted(fault: &crate::flow::bridge::BridgeFault) -> Stopped {
    tracing::warn!("a decision wasn't submitted: {fault}");
    Stopped(copy::NOT_SUBMITTED)
}

fn unreadable(fault: &io::Error) -> Stopped {
    tracing::warn!("the attention queue can't be read: {fault}");
    Stopped(copy::QUEUE_UNREADABLE)
}
