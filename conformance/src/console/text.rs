//! Failures and the summary, in words.

use super::style::Style;
use crate::requirement::{Catalogue, Matrix, State};
use crate::run::events::{Judged, Summary};

/// A failed scenario: its sentences, then each failure with what decided it.
pub fn failure(judged: &Judged, catalogue: &Catalogue, style: Style) -> String {
    let judgement = &judged.judgement;
    let mut text = format!("{} {} ({:.2} s)\n", style.bad("FAIL"), judgement.scenario, judgement.seconds);
    text.push_str(&format!("  {}\n", judgement.title));
    for requirement in judgement.proves.iter().filter_map(|id| catalogue.get(id)) {
        text.push_str(&style.faint(&format!("  {}: {}", requirement.id, requirement.sentence())));
        text.push('\n');
    }
    for (failure, told) in judgement.failures.iter().zip(&judged.told) {
        let action = told.action.as_deref().map(|action| format!(", {action}")).unwrap_or_default();
        text.push_str(&format!("\n  {}{action}, blame: {}\n", failure.check, failure.blame));
        text.push_str(&format!(
            "    Expected  {}\n    Actual    {}\n",
            indented(&failure.expected),
            indented(&failure.actual)
        ));
        for line in &told.lines {
            text.push_str(&style.faint(&format!("      {line}")));
            text.push('\n');
        }
    }
    text
}

/// Holes that are named in the summary; the matrix has them all.
const NAMED: usize = 20;

/// The last lines of a run: what passed, of how much, and what nobody tested.
pub fn summary(summary: &Summary, matrix: &Matrix, style: Style) -> String {
    let total = summary.passed + summary.failed + summary.unrun;
    let mut text = String::new();
    let holes: Vec<&str> = matrix.holes().map(|row| row.id.as_str()).collect();
    if summary.holes > 0 {
        let named = holes.iter().take(NAMED).copied().collect::<Vec<_>>().join("\n  ");
        text.push_str(&format!("Within reach, and proven by no scenario:\n  {named}\n"));
        if holes.len() > NAMED {
            text.push_str(&format!("  and {} more\n", holes.len() - NAMED));
        }
    }
    let verdict = match (summary.failed, summary.unrun + summary.holes) {
        (0, 0) => style.good("passed"),
        (0, _) => style.bad("incomplete"),
        _ => style.bad("failed"),
    };
    text.push_str(&format!("{verdict}: {} of {total} scenarios", summary.passed));
    if summary.failed > 0 {
        text.push_str(&format!(", {} failed", summary.failed));
    }
    if summary.unrun > 0 {
        text.push_str(&format!(", {} not run", summary.unrun));
    }
    if summary.unable > 0 {
        text.push_str(&style.bad(&format!(", {} could not run", summary.unable)));
    }
    if summary.unclaimed > 0 {
        text.push_str(&format!(", {} not claimed", summary.unclaimed));
    }
    text.push_str(&format!(" in {:.1} s\n", summary.seconds));
    text.push_str(&format!("requirements: {} of {} proven", summary.proven, summary.requirements));
    for (state, word) in [(State::Failed, "failed"), (State::NotRun, "not run"), (State::Untested, "untested")] {
        if matrix.count(state) > 0 {
            text.push_str(&format!(", {} {word}", matrix.count(state)));
        }
    }
    text.push_str(&format!(
        "; {} excluded, {} held by the project's own tests",
        matrix.count(State::Excluded),
        matrix.count(State::Checked)
    ));
    if summary.interrupted {
        text.push_str("\ninterrupted");
    }
    text
}

fn indented(text: &str) -> String {
    text.replace('\n', "\n              ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::events;
    use crate::run::events::Event;

    #[test]
    fn a_failure_and_the_summary_as_a_person_reads_them() {
        let catalogue = Catalogue::default();
        let mut text = String::new();
        for event in events() {
            match event {
                Event::Judged(judged) if !judged.judgement.passed() => {
                    text.push_str(&failure(&judged, &catalogue, Style::Plain));
                }
                Event::Finished(finished) => text.push_str(&summary(&finished.summary, &finished.matrix, Style::Plain)),
                _ => {}
            }
        }
        insta::assert_snapshot!(text);
    }
}
