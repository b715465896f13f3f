//! A step that was done is never done again.

use std::collections::BTreeMap;

use super::super::verdict::{Check, Cite, Verdict};
use crate::evidence::{Evidence, JournalLine};

pub const ONCE: Check = Check {
    id: "actuated-once",
    sentence: "In a run that a person let go on, no save is made twice, and one pause is gone on from once.",
    judge,
};

fn judge(evidence: &Evidence, mut verdict: Verdict) -> Verdict {
    let goes_on =
        |line: &&JournalLine| line.event() == "decision" && matches!(line.text("action"), Some("continue" | "skip"));
    let mut runs: Vec<&str> = evidence.journal.iter().filter(goes_on).filter_map(JournalLine::run_id).collect();
    runs.sort_unstable();
    runs.dedup();
    for run in runs {
        verdict.saw();
        let saves = lines_by(evidence, run, |line| line.is_effect().then(|| line.text("label").unwrap_or_default()));
        for (label, lines) in saves.into_iter().filter(|(_, lines)| lines.len() > 1) {
            let actual = format!("{} saves {label:?}", lines.len());
            verdict.fails("each save of a continued run once", actual, lines.into_iter().map(Cite::Journal));
        }
        let went_on = lines_by(evidence, run, |line| {
            let done = matches!(line.text("status"), Some("completed" | "halted"));
            (goes_on(&line) && done).then(|| line.text("capability_digest")).flatten()
        });
        for (_, lines) in went_on.into_iter().filter(|(_, lines)| lines.len() > 1) {
            let actual = format!("{} continuations", lines.len());
            verdict.fails("a pause is gone on from once", actual, lines.into_iter().map(Cite::Journal));
        }
    }
    verdict
}

fn lines_by<'e>(
    evidence: &'e Evidence,
    run: &str,
    of: impl Fn(&'e JournalLine) -> Option<&'e str>,
) -> BTreeMap<&'e str, Vec<usize>> {
    let mut found: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, line) in evidence.journal.iter().enumerate().filter(|(_, line)| line.run_id() == Some(run)) {
        if let Some(name) = of(line) {
            found.entry(name).or_default().push(at);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::super::sample::{fails, holds};
    use super::super::sample::{continued, decision};
    use super::*;

    #[test]
    fn a_continued_run_that_saves_once_holds() {
        holds(&ONCE, &continued());
    }

    #[test]
    fn a_save_that_is_made_again_fails_and_so_does_a_second_continuation() {
        let mut evidence = continued();
        let save = evidence.journal.iter().find(|line| line.is_effect()).unwrap().clone();
        evidence.journal.push(save);
        assert!(fails(&ONCE, &evidence)[0].actual.contains("2 saves"));

        let mut evidence = continued();
        let mut second = decision("completed");
        second.0["action"] = "continue".into();
        evidence.journal.push(second);
        assert!(fails(&ONCE, &evidence)[0].actual.contains("continuations"));
    }
}
