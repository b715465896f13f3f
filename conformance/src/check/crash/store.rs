//! The store and its copies, when all is over.

use std::path::Path;

use super::story::Story;
use crate::check::verdict::{Cite, Verdict};
use crate::crash::LedgerKind;
use crate::crash::window::Stage;
use crate::evidence::ledger::{LedgerRow, SeenLedger};
use crate::evidence::lifecycle::{Actions, SeenAction, SeenStore};

/// Every run has one receipt and its copies; every request to an executor has an end; Flow wasn't started without one.
pub fn settled(story: &Story<'_>, verdict: &mut Verdict) {
    let actions = match &story.seen.at_end {
        SeenStore::Read(actions) => actions,
        other => return verdict.fails("the store of actions at the end", format!("{other:?}"), []),
    };
    for run in actions.runs.iter().filter(|run| run.request_id.as_deref() == Some(&story.request_id)) {
        ended(run, verdict);
        copied(story, run, verdict);
    }
    counted(story, actions, verdict);
    for file in story.evidence.files.iter().filter(|file| is_fragment(&file.path)) {
        let cites = [Cite::File(file.path.clone())];
        verdict.fails("nothing half-written in a dispatch folder", file.path.display().to_string(), cites);
    }
}

fn is_fragment(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "tmp") && path.components().any(|part| part.as_os_str() == "dispatch")
}

/// The dead had come as far as the moment says, and what they had marked as copied was copied.
pub fn at_death(story: &Story<'_>, stage: Option<Stage>, verdict: &mut Verdict) {
    let mut left = story.seen.at_death.of_request(&story.request_id).peekable();
    if let Some(stage) = stage
        && !stage.phases().contains(&left.peek().map_or("", |run| run.phase.as_str()))
    {
        let actual = left.peek().map_or("no run", |run| run.phase.as_str());
        verdict.fails(format!("a run left as {:?}", stage.phases()), actual, []);
    }
    for run in left.filter(|run| run.phase == "projected" && run.recorded != run.reason) {
        let expected = format!("a record that says {:?}, as the store that it was copied from", run.reason);
        verdict.fails(expected, format!("{:?}", run.recorded), []);
    }
}

fn ended(run: &SeenAction, verdict: &mut Verdict) {
    if run.phase != "projected" || run.receipts != 1 {
        let actual = format!("{} is {} with {} receipts", run.run_id, run.phase, run.receipts);
        verdict.fails("every run projected, with one receipt", actual, []);
    }
}

fn copied(story: &Story<'_>, run: &SeenAction, verdict: &mut Verdict) {
    if run.recorded != run.reason {
        let name = format!("runs/{}.json", run.run_id);
        let record = story.evidence.files.iter().find(|file| file.path.ends_with(&name));
        let cites = record.map(|file| Cite::File(file.path.clone()));
        verdict.fails(format!("a record that says {:?}", run.reason), format!("{:?}", run.recorded), cites);
    }
    let ledger = story.seen.case.as_ref().map(|case| case.ledger).or(story.seen.kill.map(|kill| kill.drawn().ledger));
    if let (Some(attempt), Some(LedgerKind::Sqlite), SeenLedger::Rows(rows)) =
        (run.attempt, ledger, &story.evidence.ledger)
        && !(attempt == 1 && has_only_its_claim(story, rows))
        && !rows.iter().any(|row| row.run_id == run.run_id && row.outcome.is_some())
    {
        verdict.fails(format!("an outcome of {} in the ledger", run.run_id), format!("{rows:?}"), []);
    }
}

/// Its server died between the key's claim and its row: the claim is the authority, and holds no outcome.
fn has_only_its_claim(story: &Story<'_>, rows: &[LedgerRow]) -> bool {
    let between = story.seen.case.as_ref().is_none_or(|case| case.point.name() == "reserve.after_claim");
    between && rows.iter().all(|row| !row.key.ends_with(":1"))
}

fn counted(story: &Story<'_>, actions: &Actions, verdict: &mut Verdict) {
    if actions.open_executions > 0 {
        let actual = format!("{} without one", actions.open_executions);
        verdict.fails("every request to an executor has an end", actual, []);
    }
    if story.launches() > actions.starts {
        let actual = format!("{} starts of Flow", story.launches());
        verdict.fails(
            format!("no more starts than the {} that the store tells of", actions.starts),
            actual,
            story.cites(),
        );
    }
    let attempts = actions.runs.iter().filter(|run| run.request_id.as_deref() == Some(&story.request_id));
    let highest = attempts.clone().filter_map(|run| run.attempt).max().unwrap_or_default();
    let count = attempts.filter(|run| run.attempt.is_some()).count();
    if usize::try_from(highest).ok() != Some(count) {
        verdict.fails("attempts that count on from one", format!("{count} attempts, the highest {highest}"), []);
    }
}
