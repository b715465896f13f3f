//! The reference: what may be answered, and what stands afterwards. Where a kill leaves open what was done, all of it stands until an
//! answer says which.

use super::case::{Case, Ending, REQUESTS};

/// As many attempts as one request has. Source: *Requests, retries, and records*.
const ATTEMPTS: u32 = 5;

/// One of the ways in which everything may stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    pub requests: [Request; REQUESTS],
    all_off: bool,
    workflow_off: bool,
    released: [bool; REQUESTS],
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Request {
    /// Of the first attempt: the inputs of other work, or not.
    work: Option<bool>,
    attempts: u32,
    /// Of the latest attempt.
    stands: Standing,
    /// Flow was started so often.
    pub launches: u32,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Standing {
    #[default]
    Nothing,
    Running,
    Over(&'static str),
}

/// What a caller is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Told {
    pub reason: &'static str,
    /// Of an earlier call's run.
    pub replayed: bool,
}

const RUNNING: &str = "running";
const INTERRUPTED: &str = "interrupted";
/// Nothing was started; the attempt counts all the same.
const NOT_STARTED: &str = "platform_error";

impl State {
    pub fn first() -> Self {
        Self { requests: Default::default(), all_off: false, workflow_off: false, released: [false; REQUESTS] }
    }

    pub fn switch(mut self, off: bool, all: bool) -> Self {
        *(if all { &mut self.all_off } else { &mut self.workflow_off }) = off;
        self
    }

    pub fn release(mut self, request: usize) -> Self {
        self.released[request] = true;
        self
    }

    pub fn is_held(&self, request: usize) -> bool {
        self.requests[request].stands == Standing::Running && !self.released[request]
    }

    /// Its keeper is gone, and nothing says how it ended.
    pub fn keeper_is_gone(mut self, request: usize) -> Self {
        if self.is_held(request) {
            self.requests[request].stands = Standing::Over(INTERRUPTED);
        }
        self
    }

    /// Every way in which a call may go, with what is told.
    pub fn call(&self, case: &Case, request: usize, other: bool) -> Vec<(Self, Told)> {
        let known = self.requests[request];
        let told = |reason, replayed| Told { reason, replayed };
        let same = known.work == Some(other);
        let retryable = matches!(known.stands, Standing::Over(reason) if allows_another(reason));
        if self.all_off || self.workflow_off {
            // A refusal may not be heard as one of earlier work that may have saved.
            return if same && !retryable {
                self.looked(request, true)
            } else {
                vec![(self.clone(), told("runs_disabled", false))]
            };
        }
        match known.stands {
            Standing::Nothing => self.begun(case, request, other),
            _ if !same => vec![(self.clone(), told("request_id_conflict", false))],
            Standing::Over(_) if retryable && known.attempts >= ATTEMPTS => {
                vec![(self.clone(), told("retry_limit", false))]
            }
            Standing::Over(_) if retryable => self.begun(case, request, other),
            Standing::Running | Standing::Over(_) => self.looked(request, true),
        }
    }

    /// The run of the latest attempt, looked at. A run that was let go ends when it ends.
    pub fn looked(&self, request: usize, replayed: bool) -> Vec<(Self, Told)> {
        let told = |reason| Told { reason, replayed };
        match self.requests[request].stands {
            Standing::Nothing => Vec::new(),
            Standing::Over(reason) => vec![(self.clone(), told(reason))],
            Standing::Running if !self.released[request] => vec![(self.clone(), told(RUNNING))],
            Standing::Running => {
                let mut over = self.clone();
                over.requests[request].stands = Standing::Over(Ending::Held.reason());
                vec![(self.clone(), told(RUNNING)), (over.clone(), told(Ending::Held.reason()))]
            }
        }
    }

    /// What may stand when the server was killed somewhere in a call: nothing of it, an attempt without a start, or all of it.
    pub fn call_cut_short(&self, case: &Case, request: usize) -> Vec<Self> {
        let mut states = vec![self.clone()];
        for (after, told) in self.call(case, request, false) {
            if after.requests[request].attempts > self.requests[request].attempts {
                let mut unstarted = self.clone();
                unstarted.requests[request].work = Some(false);
                unstarted.requests[request].attempts += 1;
                unstarted.requests[request].stands = Standing::Over(NOT_STARTED);
                states.push(unstarted);
            }
            let _not_heard = told;
            states.push(after);
        }
        states.dedup();
        states
    }

    fn begun(&self, case: &Case, request: usize, other: bool) -> Vec<(Self, Told)> {
        let ending = case.endings[request];
        let mut after = self.clone();
        let counted = &mut after.requests[request];
        counted.work.get_or_insert(other);
        counted.attempts += 1;
        counted.launches += 1;
        counted.stands = if ending == Ending::Held { Standing::Running } else { Standing::Over(ending.reason()) };
        after.looked(request, false)
    }
}

/// What proves that nothing was written may be tried once more. Source: contract, *Reasons*.
fn allows_another(reason: &str) -> bool {
    matches!(reason, "not_ready_to_run" | "platform_error" | "runs_disabled" | "policy_refused" | "canceled")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(ending: Ending) -> Case {
        Case { endings: [ending; REQUESTS], ops: Vec::new() }
    }

    fn only(ways: Vec<(State, Told)>) -> (State, Told) {
        assert_eq!(ways.len(), 1, "{ways:?}");
        ways[0].clone()
    }

    #[test]
    fn what_saved_is_replayed_and_other_work_is_a_conflict() {
        let case = case(Ending::Saved);
        let (state, told) = only(State::first().call(&case, 0, false));
        assert_eq!(told, Told { reason: "saved_and_checked", replayed: false });
        let (state, told) = only(state.call(&case, 0, false));
        assert!(told.replayed && state.requests[0].launches == 1);
        assert_eq!(only(state.call(&case, 0, true)).1.reason, "request_id_conflict");
    }

    #[test]
    fn what_wrote_nothing_is_tried_five_times() {
        let case = case(Ending::Refused);
        let mut state = State::first();
        for _ in 0..ATTEMPTS {
            let (after, told) = only(state.call(&case, 1, false));
            assert_eq!(told, Told { reason: "not_ready_to_run", replayed: false });
            state = after;
        }
        assert_eq!(only(state.call(&case, 1, false)).1.reason, "retry_limit");
    }

    #[test]
    fn a_switch_refuses_new_work_and_hides_nothing_of_the_old() {
        let case = case(Ending::InDoubt);
        let (state, _) = only(State::first().call(&case, 0, false));
        let off = state.switch(true, true);
        assert_eq!(only(off.call(&case, 0, false)).1, Told { reason: "save_not_confirmed", replayed: true });
        assert_eq!(only(off.call(&case, 1, false)).1.reason, "runs_disabled");
    }

    #[test]
    fn a_run_that_lost_its_keeper_is_interrupted_for_ever() {
        let case = case(Ending::Held);
        let (state, told) = only(State::first().call(&case, 2, false));
        assert_eq!(told.reason, RUNNING);
        let state = state.keeper_is_gone(2).release(2);
        assert_eq!(only(state.call(&case, 2, false)).1, Told { reason: INTERRUPTED, replayed: true });
    }

    #[test]
    fn a_call_that_was_cut_short_leaves_three_ways_open() {
        let ways = State::first().call_cut_short(&case(Ending::Saved), 0);
        let launches: Vec<u32> = ways.iter().map(|state| state.requests[0].launches).collect();
        assert_eq!(launches, [0, 0, 1]);
    }
}
