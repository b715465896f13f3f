//! The bridge process: one for each server, begun only when it is needed.

use super::super::verdict::{Check, Cite, Verdict};
use super::attended_calls;
use crate::evidence::{Evidence, JournalLine};
use crate::scenario::Action;

pub const BRIDGE: Check = Check {
    id: "one-bridge",
    sentence: "A server starts one bridge, not before it is needed, and another one only after the first was lost.",
    judge,
};

fn judge(evidence: &Evidence, mut verdict: Verdict) -> Verdict {
    let starts: Vec<usize> = lines(evidence, |line| line.event() == "bridge" && line.text("op") == Some("start"));
    if attended_calls(evidence).next().is_some() || !starts.is_empty() {
        verdict.saw();
    }
    let lost = lines(evidence, |line| {
        let hangs = line.event() == "held" && line.name() == Some("hang");
        hangs || matches!(line.event(), "crash" | "garbage")
    });
    let killed = evidence.steps.iter().filter(|step| matches!(&step.action, Action::Signal(_))).count();
    // What a person asks on the command line, and what the judge asks itself, a bridge is asked too.
    let looked = evidence.steps.iter().filter(|step| match &step.action {
        Action::Cli(cli) => asks_a_bridge(&cli.cli),
        Action::Ask(_) => true,
        _ => false,
    });
    let allowed = evidence.servers.len() + lost.len() + killed + looked.count();
    if starts.len() > allowed {
        let actual = format!("{} starts", starts.len());
        verdict.fails(format!("at most {allowed} starts of a bridge"), actual, starts.into_iter().map(Cite::Journal));
    }
    verdict
}

/// `doctor`, and whatever records.
fn asks_a_bridge(words: &[String]) -> bool {
    words.first().is_some_and(|word| word == "doctor" || word == "authoring")
        || words.iter().any(|word| word == "--authoring")
}

fn lines(evidence: &Evidence, is: impl Fn(&JournalLine) -> bool) -> Vec<usize> {
    evidence.journal.iter().enumerate().filter(|(_, line)| is(line)).map(|(at, _)| at).collect()
}

#[cfg(test)]
mod tests {
    use super::super::super::sample::{fails, holds};
    use super::super::sample::decided;
    use super::*;
    use serde_json::json;

    fn start() -> JournalLine {
        JournalLine(json!({"event": "bridge", "op": "start", "run_dir": null}))
    }

    #[test]
    fn one_start_for_a_server_holds_and_a_second_one_only_after_a_loss() {
        let mut evidence = decided();
        evidence.journal.push(start());
        holds(&BRIDGE, &evidence);
        evidence.journal.push(start());
        assert!(fails(&BRIDGE, &evidence)[0].actual.contains("2 starts"));
        evidence.journal.push(JournalLine(json!({"event": "crash", "at_point": "after"})));
        holds(&BRIDGE, &evidence);
    }
}
