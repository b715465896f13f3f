//! The sandbox's app: one run at a time.

use serde_json::Value;

use super::verdict::{Check, Cite, Verdict};
use crate::evidence::{Evidence, JournalLine};

pub const ONE_AT_A_TIME: Check = Check {
    id: "one-at-a-time",
    sentence: "Two runs of a sandbox never use one app at the same time.",
    judge: one_at_a_time,
};

fn one_at_a_time(evidence: &Evidence, mut verdict: Verdict) -> Verdict {
    let launches: Vec<(usize, &JournalLine, String)> = evidence
        .journal
        .iter()
        .enumerate()
        .filter(|(_, line)| line.is_launch())
        .filter_map(|(index, line)| Some((index, line, app(line)?)))
        .collect();
    for (index, line, app) in &launches {
        verdict.saw();
        let Some(end) = ended(evidence, *index, line) else { continue };
        let meanwhile = launches.iter().find(|(other, _, used)| (index + 1..end).contains(other) && used == app);
        if let Some((other, ..)) = meanwhile {
            let actual = format!("another run was started on {app} before this one had ended");
            verdict.fails("one run at a time on an app", actual, [Cite::Journal(*index), Cite::Journal(*other)]);
        }
    }
    verdict
}

/// The made-up app that a launch is sent to: an address of this computer with a case behind it.
fn app(line: &JournalLine) -> Option<String> {
    let words = line.0.get("argv")?.as_array()?;
    let url = words.iter().filter_map(Value::as_str).find_map(|word| word.strip_prefix("--url="))?;
    let (address, case) = url.strip_prefix("http://127.0.0.1:")?.split_once('/')?;
    case.starts_with('?').then(|| address.to_owned())
}

/// Where the journal says that this launch's process has ended. One that was killed says nothing.
fn ended(evidence: &Evidence, launch: usize, line: &JournalLine) -> Option<usize> {
    let exits = |other: &JournalLine| other.event() == "exit" && other.pid() == line.pid();
    let later = evidence.journal.iter().enumerate().skip(launch + 1);
    later.filter(|(_, other)| exits(other)).map(|(index, _)| index).next()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::sample::{fails, holds, is_silent, saved};
    use super::*;

    fn line(event: &str, pid: u32, port: u16) -> JournalLine {
        let url = format!("--url=http://127.0.0.1:{port}/?fault=ok#tasks");
        JournalLine(
            json!({"event": event, "pid": pid, "run_dir": format!("/w/runs/run-{pid}"), "argv": ["flow", "run", url]}),
        )
    }

    fn with(lines: Vec<JournalLine>) -> Evidence {
        Evidence { journal: lines, ..saved() }
    }

    #[test]
    fn one_after_the_other_holds_and_so_do_two_apps() {
        holds(
            &ONE_AT_A_TIME,
            &with(vec![line("launch", 1, 7), line("exit", 1, 7), line("launch", 2, 7), line("exit", 2, 7)]),
        );
        holds(&ONE_AT_A_TIME, &with(vec![line("launch", 1, 7), line("launch", 2, 8), line("exit", 1, 7)]));
    }

    #[test]
    fn a_start_before_the_end_of_another_fails_unless_nobody_saw_that_end() {
        let overlapping = vec![line("launch", 1, 7), line("launch", 2, 7), line("exit", 1, 7), line("exit", 2, 7)];
        assert_eq!(fails(&ONE_AT_A_TIME, &with(overlapping)).len(), 1);
        holds(&ONE_AT_A_TIME, &with(vec![line("launch", 1, 7), line("launch", 2, 7)]));
    }

    #[test]
    fn runs_on_workflows_of_an_operators_own_are_none_of_its_business() {
        let mut apart = line("launch", 1, 7);
        apart.0["argv"] = json!(["flow", "run", "--url=http://127.0.0.1:7/"]);
        let second = JournalLine(json!({"event": "launch", "pid": 2, "argv": ["--url=http://127.0.0.1:7/"]}));
        is_silent(&ONE_AT_A_TIME, &with(vec![apart, second]));
    }
}
