//! One world's evidence, held against the reference.

use serde_json::Value;

use super::case::{Case, Op, REQUESTS};
use super::reference::{State, Told};
use super::write::Written;
use crate::check::judge;
use crate::evidence::{Evidence, Seen};

/// What is wrong, and at which action.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    pub step: Option<usize>,
    pub said: String,
    /// What would have been right there.
    pub allowed: Vec<&'static str>,
}

/// The number of starts is the reference's to judge.
const OWN: &[&str] = &["launches", "after"];

pub fn held(case: &Case, written: &Written, evidence: &Evidence) -> Result<(), Fault> {
    let judgement = judge(evidence);
    if let Some(failure) = judgement.failures.iter().find(|failure| !OWN.contains(&failure.check.as_str())) {
        let said = format!("{}: expected {}, actual {}", failure.check, failure.expected, failure.actual);
        return Err(Fault { step: failure.step, said, allowed: Vec::new() });
    }
    let mut states = vec![State::first()];
    for (op, step) in &written.steps {
        states = walked(case, states, op, *step, evidence)?;
    }
    let launches = launches(evidence);
    if states.iter().any(|state| state.requests.iter().map(|request| request.launches).eq(launches)) {
        return Ok(());
    }
    let counts: Vec<Vec<u32>> =
        states.iter().map(|state| state.requests.iter().map(|request| request.launches).collect()).collect();
    Err(Fault {
        step: None,
        said: format!("starts of Flow by request: one of {counts:?}, actual {launches:?}"),
        allowed: Vec::new(),
    })
}

fn walked(case: &Case, states: Vec<State>, op: &Op, step: usize, evidence: &Evidence) -> Result<Vec<State>, Fault> {
    match *op {
        Op::Call { request, other, .. } => observed(states, step, evidence, |state| state.call(case, request, other)),
        Op::Storm { request } => stormed(case, states, request, step, evidence),
        // What stands of the run that was told; another attempt may stand for the request since.
        Op::Get { request, .. } => observed(states, step, evidence, |state| state.looked(request, false)),
        Op::Switch { off, all } => Ok(each(states, |state| vec![state.switch(off, all)])),
        Op::Kill { .. } => Ok(states),
        Op::KillCalling { request, .. } => Ok(each(states, |state| state.call_cut_short(case, request))),
        Op::KillKeeper { request } => Ok(each(states, |state| vec![state.keeper_is_gone(request)])),
        Op::Release { request } => Ok(each(states, |state| vec![state.release(request)])),
    }
}

fn each(states: Vec<State>, ways: impl Fn(State) -> Vec<State>) -> Vec<State> {
    let mut later: Vec<State> = Vec::new();
    for state in states.into_iter().flat_map(ways) {
        if !later.contains(&state) {
            later.push(state);
        }
    }
    later
}

/// Only the ways stand in which the answer may be what it was.
fn observed(
    states: Vec<State>,
    step: usize,
    evidence: &Evidence,
    ways: impl Fn(&State) -> Vec<(State, Told)>,
) -> Result<Vec<State>, Fault> {
    let heard = heard(evidence, step);
    let [(reason, replayed)] = &heard[..] else {
        return Err(Fault {
            step: Some(step),
            said: format!("one answer was expected, actual {heard:?}"),
            allowed: Vec::new(),
        });
    };
    let all: Vec<(State, Told)> = states.iter().flat_map(ways).collect();
    let fitting = all.iter().filter(|(_, told)| told.reason == reason && (told.replayed == *replayed));
    let later = each(fitting.map(|(state, _)| state.clone()).collect(), |state| vec![state]);
    if later.is_empty() {
        let mut allowed: Vec<&'static str> = all.iter().map(|(_, told)| told.reason).collect();
        allowed.sort_unstable();
        allowed.dedup();
        let said = format!(
            "expected one of {:?}, actual {reason}, replayed: {replayed}",
            all.iter().map(|(_, told)| told).collect::<Vec<_>>()
        );
        return Err(Fault { step: Some(step), said, allowed });
    }
    Ok(later)
}

/// Calls of one request at once: as if one had come after the other, in some order.
fn stormed(
    case: &Case,
    states: Vec<State>,
    request: usize,
    step: usize,
    evidence: &Evidence,
) -> Result<Vec<State>, Fault> {
    let heard = heard(evidence, step);
    let mut later = Vec::new();
    for state in &states {
        in_some_order(case, state, state, request, &heard, &mut later);
    }
    if later.is_empty() {
        let said = format!("four answers that fit in some order, actual {heard:?}");
        return Err(Fault { step: Some(step), said, allowed: Vec::new() });
    }
    Ok(each(later, |state| vec![state]))
}

fn in_some_order(
    case: &Case,
    before: &State,
    state: &State,
    request: usize,
    left: &[(String, bool)],
    ends: &mut Vec<State>,
) {
    if left.is_empty() {
        ends.push(state.clone());
        return;
    }
    let mut ways = state.call(case, request, false);
    // While a run of this storm goes on, others join it and are told how it ended, though it could be tried again then.
    let begun = state.requests[request].launches > before.requests[request].launches;
    ways.extend(state.looked(request, true).into_iter().filter(|_| begun));
    for (after, told) in ways {
        let fits = left.iter().position(|(reason, replayed)| told.reason == reason && told.replayed == *replayed);
        if let Some(at) = fits {
            let others = left.iter().enumerate().filter(|(index, _)| *index != at);
            let rest: Vec<_> = others.map(|(_, it)| it.clone()).collect();
            in_some_order(case, before, &after, request, &rest, ends);
        }
    }
}

/// Reason, and whether it was said to be an earlier call's.
fn heard(evidence: &Evidence, step: usize) -> Vec<(String, bool)> {
    let Some(Seen::Answers { exchanges, .. }) = evidence.steps.get(step).map(|step| &step.seen) else {
        return Vec::new();
    };
    let results = exchanges
        .iter()
        .filter_map(|index| evidence.exchanges.get(*index))
        .filter_map(|exchange| evidence.answer(exchange));
    results
        .map(|answer| {
            let text = |key: &str| answer.pointer(&format!("/result/structuredContent/{key}"));
            let reason = text("reason").and_then(Value::as_str).unwrap_or("no result").to_owned();
            (reason, text("replayed") == Some(&Value::Bool(true)))
        })
        .collect()
}

fn launches(evidence: &Evidence) -> [u32; REQUESTS] {
    let mut counts = [0; REQUESTS];
    for line in evidence.journal.iter().filter(|line| line.is_launch()) {
        let note = line.0.pointer("/params/note").and_then(Value::as_str).unwrap_or_default();
        for (request, count) in counts.iter_mut().enumerate() {
            let names = [format!("n{request}first"), format!("n{request}other")];
            if names.iter().any(|name| evidence.canaries.get(name).is_some_and(|canary| canary == note)) {
                *count += 1;
            }
        }
    }
    counts
}
