//! Flow is started as often as it may be, and never after a save.

use std::collections::BTreeSet;

use serde_json::Value;

use super::truth::runs_of;
use super::verdict::{Check, Cite, Verdict};
use crate::evidence::{Evidence, JournalLine};

pub const AT_MOST_ONCE: Check = Check {
    id: "at-most-once",
    sentence: "One run is started once, and a request isn't started again after a start that saved.",
    judge: at_most_once,
};

pub const LAUNCHES: Check = Check {
    id: "launches",
    sentence: "Flow is started no more often than distinct requests were sent.",
    judge: launches,
};

fn at_most_once(evidence: &Evidence, mut verdict: Verdict) -> Verdict {
    verdict.saw();
    let launches: Vec<(usize, &JournalLine)> =
        evidence.journal.iter().enumerate().filter(|(_, line)| line.is_launch()).collect();
    let runs: BTreeSet<&str> = launches.iter().filter_map(|(_, line)| line.run_id()).collect();
    for run in runs {
        let of_run: Vec<Cite> = of(&launches, &[run]).map(|(index, _)| Cite::Journal(index)).collect();
        if of_run.len() > 1 {
            verdict.fails("one start of a run", format!("{} starts of {run}", of_run.len()), of_run);
        }
    }
    for request in requests(evidence) {
        let runs = runs_of(evidence, &request);
        let runs: Vec<&str> = runs.iter().map(String::as_str).collect();
        let saved = evidence
            .journal
            .iter()
            .enumerate()
            .find(|(_, line)| line.is_effect() && line.run_id().is_some_and(|run| runs.contains(&run)));
        let Some((save, saving)) = saved else { continue };
        let again = of(&launches, &runs).find(|(index, line)| *index > save && line.run_id() != saving.run_id());
        if let Some((index, _)) = again {
            let cites = [Cite::Journal(save), Cite::Journal(index)];
            verdict.fails("no start after a save under the same request", "Flow was started again", cites);
        }
    }
    verdict
}

fn launches(evidence: &Evidence, mut verdict: Verdict) -> Verdict {
    verdict.saw();
    // What a crash allows is counted by its own check.
    if evidence.after.launches.is_some() || evidence.crash.is_some() {
        return verdict;
    }
    let allowed = requests(evidence).len();
    let found: Vec<Cite> = evidence
        .journal
        .iter()
        .enumerate()
        .filter(|(_, line)| line.is_launch())
        .map(|(index, _)| Cite::Journal(index))
        .collect();
    if found.len() > allowed {
        verdict.fails(format!("at most {allowed} starts of Flow"), format!("{} starts", found.len()), found);
    }
    verdict
}

/// The distinct request ids that the judge sent.
fn requests(evidence: &Evidence) -> BTreeSet<String> {
    evidence
        .exchanges
        .iter()
        .filter(|exchange| exchange.tool.is_some())
        .filter_map(|exchange| exchange.arguments.get("request_id").and_then(Value::as_str))
        .map(str::to_owned)
        .collect()
}

fn of<'e>(
    launches: &'e [(usize, &'e JournalLine)],
    runs: &'e [&str],
) -> impl Iterator<Item = (usize, &'e JournalLine)> + 'e {
    launches.iter().copied().filter(|(_, line)| line.run_id().is_some_and(|run| runs.contains(&run)))
}

#[cfg(test)]
mod tests {
    use super::super::sample::{call_again, fails, holds, launch_line, saved};
    use super::*;

    #[test]
    fn one_start_for_one_request_holds() {
        holds(&AT_MOST_ONCE, &saved());
        holds(&LAUNCHES, &saved());
    }

    #[test]
    fn a_second_start_of_the_same_run_fails_both() {
        let mut evidence = saved();
        let launch = evidence.journal[0].clone();
        evidence.journal.push(launch);
        fails(&AT_MOST_ONCE, &evidence);
        fails(&LAUNCHES, &evidence);
    }

    #[test]
    fn a_new_attempt_after_a_save_fails() {
        let mut evidence = saved();
        call_again(&mut evidence, "run-second");
        evidence.journal.push(launch_line("run-second"));
        assert!(fails(&AT_MOST_ONCE, &evidence)[0].expected.contains("after a save"));
    }

    #[test]
    fn a_new_attempt_without_a_save_before_it_holds() {
        let mut evidence = saved();
        evidence.journal.retain(|line| !line.is_effect());
        call_again(&mut evidence, "run-second");
        evidence.journal.push(launch_line("run-second"));
        holds(&AT_MOST_ONCE, &evidence);
    }

    #[test]
    fn an_exact_count_of_the_scenario_takes_the_place_of_the_bound() {
        let mut evidence = saved();
        evidence.after.launches = Some(2);
        evidence.journal.push(launch_line("run-second"));
        holds(&LAUNCHES, &evidence);
    }
}
