//! Flow is started as often as the store says, and never without a committed dispatch.

use serde_json::Value;

use super::super::verdict::{Check, Cite, Verdict};
use super::{is_imported, rows, text};
use crate::evidence::Evidence;
use crate::evidence::actions::Tables;

pub const STARTS: Check = Check {
    id: "dispatched-starts",
    sentence: "Flow is started once at most for a committed and claimed dispatch, and never without one.",
    judge: starts,
};

fn starts(evidence: &Evidence, mut verdict: Verdict) -> Verdict {
    let Some(tables) = rows(evidence) else { return verdict };
    for (index, line) in evidence.journal.iter().enumerate().filter(|(_, line)| line.is_launch()) {
        // Runs of a sandbox, and those that a scenario starts by hand, aren't in this folder.
        let Some(action) = line.run_id().and_then(|run| of_run(tables, run)).filter(|action| !is_imported(action))
        else {
            continue;
        };
        verdict.saw();
        let id = text(action, "action_id").unwrap_or_default();
        let told = |name| {
            tables
                .events
                .iter()
                .filter(|event| text(event, "action_id") == Some(id) && text(event, "event") == Some(name))
                .count()
        };
        let begun = requests(tables, id).count();
        if told("action.dispatched") != 1 || told("action.claimed") != 1 || begun != 1 {
            let actual = format!(
                "{} dispatches, {} claims, {begun} requests",
                told("action.dispatched"),
                told("action.claimed")
            );
            verdict.fails("a start of Flow after one committed and claimed dispatch", actual, [Cite::Journal(index)]);
        }
    }
    let told_by_journal = |action: &&Value| text(action, "mode") != Some("sandbox") && !evidence.journal.is_empty();
    for action in tables.actions.iter().filter(told_by_journal).filter(|action| !is_imported(action)) {
        let (id, run) =
            (text(action, "action_id").unwrap_or_default(), text(action, "execution_id").unwrap_or_default());
        let completed = requests(tables, id).any(|row| text(row, "status") == Some("completed"));
        if !text(action, "tool").is_some_and(|tool| tool.starts_with("run_")) || !completed {
            continue;
        }
        verdict.saw();
        let launches = evidence.journal.iter().filter(|line| line.is_launch() && line.run_id() == Some(run)).count();
        if launches != 1 {
            verdict.fails(
                "one start of Flow behind a request that was completed",
                format!("{launches} starts of {run}"),
                [],
            );
        }
    }
    verdict
}

fn of_run<'t>(tables: &'t Tables, run: &str) -> Option<&'t Value> {
    tables.actions.iter().find(|action| text(action, "execution_id") == Some(run))
}

fn requests<'t>(tables: &'t Tables, action: &'t str) -> impl Iterator<Item = &'t Value> {
    tables
        .executor_requests
        .iter()
        .filter(move |row| text(row, "action_id") == Some(action) && text(row, "executor") == Some("flow"))
}

#[cfg(test)]
mod tests {
    use super::super::super::sample::{fails, holds, is_silent, saved};
    use super::super::sample::{change, with_store};
    use super::*;

    #[test]
    fn one_start_behind_one_dispatch_holds() {
        holds(&STARTS, &with_store());
        is_silent(&STARTS, &saved());
    }

    #[test]
    fn a_start_without_a_dispatch_and_a_completed_request_without_a_start_fail() {
        let without =
            |name: &'static str| change(move |tables| tables.events.retain(|event| text(event, "event") != Some(name)));
        fails(&STARTS, &without("action.dispatched"));
        fails(&STARTS, &without("action.claimed"));
        fails(&STARTS, &change(|tables| tables.executor_requests.clear()));
        let mut evidence = with_store();
        evidence.journal.retain(|line| !line.is_launch());
        fails(&STARTS, &evidence);
    }
}
