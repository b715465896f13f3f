//! The heart: what a result says about a save, held against the saves in the journal.

use serde_json::Value;

use super::verdict::{Check, Cite, Verdict};
use crate::evidence::{Evidence, Exchange};
use crate::scenario::Action;

pub const TRUTH: Check = Check {
    id: "save-truth",
    sentence: "done is said only of a save that happened; no, and safe to retry, only where none did.",
    judge: truth,
};

/// One answer's claim about a save.
struct Claim<'e> {
    exchange: &'e Exchange,
    frame: usize,
    /// How much of the journal stood when the answer came.
    journal: usize,
    object: Value,
}

fn truth(evidence: &Evidence, verdict: Verdict) -> Verdict {
    let asked = evidence.steps.iter().any(|step| match &step.action {
        Action::Call(call) => {
            let tool = call.call.as_deref();
            let answered = call.wanted.expect.is_some() && call.name.is_none();
            let tells_of_a_save = |tool: &str| {
                matches!(tool, "run_workflow" | "get_run" | "get_run_report") || super::results::is_older_run_tool(tool)
            };
            tool.is_some_and(tells_of_a_save) && answered
        }
        _ => false,
    });
    let mut verdict = verdict.due(asked && evidence.stopped.is_none());
    for (exchange, object) in evidence.tool_results() {
        let (Some(frame), Some(_)) = (exchange.answer, object.get("record_changed")) else { continue };
        let journal = evidence.frames.get(frame).map_or(0, |frame| frame.journal);
        verdict.saw();
        judge(evidence, &mut verdict, &Claim { exchange, frame, journal, object });
    }
    verdict
}

fn judge(evidence: &Evidence, verdict: &mut Verdict, claim: &Claim<'_>) {
    if claim.object.pointer("/sandbox/engine").and_then(Value::as_str) == Some("simulated") {
        // Nothing is written by a simulation, and its result says so: nothing was even started for it.
        simulation(evidence, verdict, claim);
        return;
    }
    let word = |key: &str| claim.object.get(key).and_then(Value::as_str).unwrap_or_default();
    if evidence.real_flow {
        // The clinic is the only witness then, and its own check hears it; without one nothing may be called saved.
        let cites = [Cite::Frame(claim.exchange.request), Cite::Frame(claim.frame)];
        if evidence.clinic.is_none() && (word("outcome") == "done" || word("record_changed") == "yes") {
            verdict.fails_at(claim.exchange.step, "done only of a save that was witnessed", "no clinic ran", cites);
        }
        return;
    }
    let (outcome, changed, run) = (word("outcome"), word("record_changed"), word("run_id"));
    let effects = effects_of(evidence, |line_run| line_run == run);
    let before: Vec<usize> = effects.iter().copied().filter(|line| *line < claim.journal).collect();
    let cites = |lines: &[usize]| {
        let launches =
            evidence.journal.iter().enumerate().filter(|(_, line)| line.is_launch() && line.run_id() == Some(run));
        let lines = lines.iter().copied().chain(launches.map(|(index, _)| index)).map(Cite::Journal);
        [Cite::Frame(claim.exchange.request), Cite::Frame(claim.frame)].into_iter().chain(lines).collect::<Vec<_>>()
    };
    let step = claim.exchange.step;

    if (outcome == "done") != (changed == "yes") {
        let actual = format!("outcome {outcome:?} with record_changed {changed:?}");
        verdict.fails_at(step, "done exactly with record_changed yes", actual, cites(&[]));
    }
    if (outcome == "done" || changed == "yes") && before.is_empty() {
        verdict.fails_at(
            step,
            "done only of a save that happened",
            "the journal shows no save of this run",
            cites(&[]),
        );
    }
    // A person may let a reviewed run go on later: that save comes after the answer, and makes no lie of it.
    let bound = if outcome == "needs_review" { &before } else { &effects };
    if changed == "no" && !bound.is_empty() {
        verdict.fails_at(step, "\"no\" only where nothing was saved", saves(bound.len()), cites(bound));
    }
    let retryable = claim.object.get("safe_to_retry") == Some(&Value::Bool(true));
    if retryable && changed != "no" && !effects.is_empty() {
        verdict.fails_at(step, "safe to retry only where nothing was saved", saves(effects.len()), cites(&effects));
    }
    if retryable && !BEFORE_THE_GATE.contains(&word("reason")) {
        let earlier = earlier_effects(evidence, word("request_id"), run);
        if !earlier.is_empty() {
            let actual = format!("{} in an earlier attempt", saves(earlier.len()));
            verdict.fails_at(step, "safe to retry only where no earlier attempt saved", actual, cites(&earlier));
        }
    }
}

fn simulation(evidence: &Evidence, verdict: &mut Verdict, claim: &Claim<'_>) {
    let run = claim.object.get("run_id").and_then(Value::as_str);
    let lines = evidence.journal.iter().enumerate().filter(|(_, line)| run.is_some() && line.run_id() == run);
    let lines: Vec<_> = lines.map(|(index, _)| Cite::Journal(index)).collect();
    if !lines.is_empty() {
        let cites = [Cite::Frame(claim.exchange.request), Cite::Frame(claim.frame)].into_iter().chain(lines);
        verdict.fails_at(
            claim.exchange.step,
            "nothing is started for a simulated run",
            "the journal knows this run",
            cites.collect::<Vec<_>>(),
        );
    }
}

/// Reasons that are found before it is known which request this is: they say nothing about earlier attempts.
const BEFORE_THE_GATE: &[&str] = &["invalid_input", "unknown_workflow", "workflow_unavailable", "runs_disabled"];

/// Saves of other runs under the same request that stood before this run began: before its start or, where Flow was never started
/// for it, before the answer of the call that made it. A run that only get_run told of was there before this world.
fn earlier_effects(evidence: &Evidence, request: &str, run: &str) -> Vec<usize> {
    let launched = evidence.journal.iter().position(|line| line.is_launch() && line.run_id() == Some(run));
    let told = || {
        let mut answers = evidence.tool_results();
        let made = answers.find(|(exchange, object)| {
            exchange.tool.as_deref() == Some("run_workflow")
                && object.get("run_id").and_then(Value::as_str) == Some(run)
        });
        made.and_then(|(exchange, _)| evidence.frames.get(exchange.answer?)).map_or(0, |frame| frame.journal)
    };
    let began = launched.unwrap_or_else(told);
    let runs = runs_of(evidence, request);
    let mut effects = effects_of(evidence, |other| other != run && runs.iter().any(|known| known == other));
    effects.retain(|line| *line < began);
    effects
}

fn saves(count: usize) -> String {
    format!("the journal shows {count} save{}", if count == 1 { "" } else { "s" })
}

fn effects_of(evidence: &Evidence, of: impl Fn(&str) -> bool) -> Vec<usize> {
    let effects = evidence.journal.iter().enumerate().filter(|(_, line)| line.is_effect());
    effects.filter(|(_, line)| line.run_id().is_some_and(&of)).map(|(index, _)| index).collect()
}

/// The runs that answers named under one request id.
pub fn runs_of(evidence: &Evidence, request: &str) -> Vec<String> {
    let mut runs: Vec<String> = evidence
        .tool_results()
        .filter(|(_, object)| object.get("request_id").and_then(Value::as_str) == Some(request))
        .filter_map(|(_, object)| object.get("run_id").and_then(Value::as_str).map(str::to_owned))
        .collect();
    runs.sort_unstable();
    runs.dedup();
    runs
}

#[cfg(test)]
mod tests {
    use super::super::sample::{call_again, fails, holds, launch_line, saved, set_result};
    use super::*;
    use serde_json::json;

    #[test]
    fn a_done_with_a_save_before_it_holds() {
        holds(&TRUTH, &saved());
    }

    #[test]
    fn a_done_without_a_save_fails() {
        let mut evidence = saved();
        evidence.journal.retain(|line| !line.is_effect());
        assert!(fails(&TRUTH, &evidence)[0].actual.contains("no save"));
    }

    #[test]
    fn a_done_before_its_save_fails() {
        let mut evidence = saved();
        let frame = evidence.exchanges[2].answer.unwrap();
        evidence.frames[frame].journal = 1;
        fails(&TRUTH, &evidence);
    }

    #[test]
    fn the_save_of_another_run_is_no_save_of_this_one() {
        let mut evidence = saved();
        for line in evidence.journal.iter_mut().filter(|line| line.is_effect()) {
            line.0["run_dir"] = "/w/runs/run-other".into();
        }
        fails(&TRUTH, &evidence);
    }

    #[test]
    fn a_no_with_a_save_fails_even_if_the_save_came_later() {
        let mut evidence = saved();
        set_result(&mut evidence, "outcome", json!("did_not_run"));
        set_result(&mut evidence, "record_changed", json!("no"));
        fails(&TRUTH, &evidence);
        let frame = evidence.exchanges[2].answer.unwrap();
        evidence.frames[frame].journal = 0;
        fails(&TRUTH, &evidence);
    }

    #[test]
    fn a_reviewed_run_may_save_after_the_answer_but_not_before() {
        let mut evidence = saved();
        set_result(&mut evidence, "outcome", json!("needs_review"));
        set_result(&mut evidence, "record_changed", json!("no"));
        fails(&TRUTH, &evidence);
        let frame = evidence.exchanges[2].answer.unwrap();
        evidence.frames[frame].journal = 0;
        holds(&TRUTH, &evidence);
    }

    /// The saved run, and a second attempt of the same request that says it may be retried.
    fn retried(reason: &str) -> Evidence {
        let mut evidence = saved();
        call_again(&mut evidence, "run-second");
        let frame = evidence.exchanges[3].answer.unwrap();
        let mut answer = evidence.message(frame).unwrap();
        let changes =
            json!({"outcome": "did_not_run", "record_changed": "no", "safe_to_retry": true, "reason": reason});
        crate::run::bundle::merge_patch(&mut answer["result"]["structuredContent"], &changes);
        evidence.frames[frame].text = answer.to_string();
        evidence
    }

    #[test]
    fn safe_to_retry_fails_when_an_earlier_attempt_saved() {
        assert!(fails(&TRUTH, &retried("platform_error"))[0].actual.contains("earlier attempt"));
    }

    #[test]
    fn safe_to_retry_fails_where_the_run_saved_whatever_else_is_said() {
        let mut evidence = saved();
        set_result(&mut evidence, "outcome", json!("not_sure_if_saved"));
        set_result(&mut evidence, "record_changed", json!("unknown"));
        holds(&TRUTH, &evidence);
        set_result(&mut evidence, "safe_to_retry", json!(true));
        fails(&TRUTH, &evidence);
    }

    #[test]
    fn a_run_that_was_there_before_this_world_has_no_earlier_attempt_in_it() {
        let mut evidence = retried("platform_error");
        evidence.exchanges[3].tool = Some("get_run".into());
        holds(&TRUTH, &evidence);
    }

    #[test]
    fn safe_to_retry_holds_where_the_save_came_with_a_later_attempt() {
        let mut evidence = retried("platform_error");
        evidence.journal.insert(0, launch_line("run-second"));
        holds(&TRUTH, &evidence);
    }

    #[test]
    fn a_refusal_before_the_gate_says_nothing_about_earlier_attempts() {
        holds(&TRUTH, &retried("invalid_input"));
    }

    #[test]
    fn a_simulated_run_is_known_to_nobody_but_the_agent() {
        let mut evidence = saved();
        set_result(&mut evidence, "sandbox", json!({"case": "normal", "engine": "simulated"}));
        assert!(fails(&TRUTH, &evidence)[0].expected.contains("simulated"));
        evidence.journal.clear();
        holds(&TRUTH, &evidence);
    }

    #[test]
    fn a_done_of_the_real_flow_without_a_witness_fails() {
        let mut evidence = saved();
        evidence.real_flow = true;
        fails(&TRUTH, &evidence);
        evidence.clinic = Some(crate::evidence::ClinicSeen::default());
        holds(&TRUTH, &evidence);
    }

    #[test]
    fn an_unknown_claims_nothing() {
        let mut evidence = saved();
        set_result(&mut evidence, "outcome", json!("not_sure_if_saved"));
        set_result(&mut evidence, "record_changed", json!("unknown"));
        evidence.journal.clear();
        holds(&TRUTH, &evidence);
    }

    #[test]
    fn a_run_that_was_asked_for_and_never_answered_fails() {
        let mut evidence = saved();
        evidence.exchanges[2].answer = None;
        assert!(fails(&TRUTH, &evidence)[0].actual.contains("observed nothing"));
    }
}
