//! What is drawn: how Flow ends for each request, and what happens in which order.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

pub const REQUESTS: usize = 3;

#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    pub endings: [Ending; REQUESTS],
    pub ops: Vec<Op>,
}

/// How Flow ends for every launch of one request's work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Saved,
    /// Stopped before saving, for a person.
    Paused,
    InDoubt,
    /// Proven to have written nothing.
    Refused,
    /// Saves when it is let go.
    Held,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// run_workflow, waited for. `other`: with the inputs of other work.
    Call {
        server: usize,
        request: usize,
        other: bool,
    },
    /// Four of them at once, over both servers.
    Storm {
        request: usize,
    },
    Get {
        server: usize,
        request: usize,
    },
    /// An operator's switch, for all runs or for the workflow.
    Switch {
        off: bool,
        all: bool,
    },
    /// kill -9, and the same server again.
    Kill {
        server: usize,
    },
    /// The same while a call is on its way.
    KillCalling {
        server: usize,
        request: usize,
        after_us: u64,
    },
    /// kill -9 for the keeper of a run that Flow holds.
    KillKeeper {
        request: usize,
    },
    Release {
        request: usize,
    },
}

impl Ending {
    pub fn reason(self) -> &'static str {
        match self {
            Self::Saved | Self::Held => "saved_and_checked",
            Self::Paused => "record_not_confirmed",
            Self::InDoubt => "save_not_confirmed",
            Self::Refused => "not_ready_to_run",
        }
    }

    pub fn steps(self, hold: &str) -> Value {
        match self {
            Self::Saved => json!(["run_dir", {"gate": "admit"}, "effect", {"report": "verified"}]),
            Self::Paused => {
                json!(["run_dir", {"gate": "admit"}, {"report": "halted_before_effect"}, {"pause": {"category": "identity"}}])
            }
            Self::InDoubt => json!(["run_dir", {"gate": "admit"}, "effect", {"report": "reconciliation_required"}]),
            Self::Refused => json!([{"gate": {"refuse": ["Certification passed"]}}]),
            Self::Held => json!(["run_dir", {"gate": "admit"}, {"hold": hold}, "effect", {"report": "verified"}]),
        }
    }
}

pub fn cases() -> impl Strategy<Value = Case> {
    let ending = prop_oneof![
        Just(Ending::Saved),
        Just(Ending::Paused),
        Just(Ending::InDoubt),
        Just(Ending::Refused),
        Just(Ending::Held)
    ];
    ([ending.clone(), ending.clone(), ending], vec(op(), 1..14)).prop_map(|(endings, ops)| Case { endings, ops })
}

fn op() -> impl Strategy<Value = Op> {
    let (server, request) = (0..2_usize, 0..REQUESTS);
    prop_oneof![
        6 => (server.clone(), request.clone(), prop::bool::weighted(0.2))
            .prop_map(|(server, request, other)| Op::Call { server, request, other }),
        1 => request.clone().prop_map(|request| Op::Storm { request }),
        3 => (server.clone(), request.clone()).prop_map(|(server, request)| Op::Get { server, request }),
        2 => any::<(bool, bool)>().prop_map(|(off, all)| Op::Switch { off, all }),
        1 => server.clone().prop_map(|server| Op::Kill { server }),
        2 => (server, request.clone(), 0..60_000_u64)
            .prop_map(|(server, request, after_us)| Op::KillCalling { server, request, after_us }),
        1 => request.clone().prop_map(|request| Op::KillKeeper { request }),
        1 => request.prop_map(|request| Op::Release { request }),
    ]
}
