//! What is told after a crash, held against the tables of lifecycle 2.11 and 2.12 and against what the dead left in the store.

mod moments;
mod store;
mod story;

use super::verdict::{Check, Verdict};
use crate::crash::Victim;
use crate::crash::ending::{Ending, INTERRUPTED, NOT_STARTED, Told};
use crate::crash::window::{Found, Window};
use crate::evidence::Evidence;
use crate::evidence::crash::CrashSeen;
use crate::evidence::lifecycle::SeenAction;
use story::Story;

pub const CRASH: Check = Check {
    id: "crash",
    sentence: "After a crash the first look, the same request again, the starts and the saves are those of the moment; nothing known is lost, nothing is stuck, nothing is told twice in two ways.",
    judge: crash,
};

fn crash(evidence: &Evidence, verdict: Verdict) -> Verdict {
    let Some(seen) = &evidence.crash else { return verdict };
    let mut verdict = verdict.due(evidence.stopped.is_none());
    if evidence.stopped.is_some() {
        return verdict;
    }
    let Some(story) = Story::of(evidence, seen) else { return verdict };
    verdict.saw();
    moments::died(&story, &mut verdict);
    let window = seen.case.as_ref().and_then(Window::of);
    let survived = seen.case.as_ref().is_some_and(|case| case.dies == Victim::Keeper);
    store::at_death(&story, window.as_ref().filter(|_| !survived).map(|window| window.stage), &mut verdict);
    if let Some(window) = &window {
        table(&story, window, &mut verdict);
    }
    if !window.is_some_and(|window| window.found == Found::Waiting) {
        by_state(&story, &mut verdict);
    }
    moments::same_as_before(&story, &mut verdict);
    moments::again(&story, &mut verdict);
    moments::stays(&story, &mut verdict);
    store::settled(&story, &mut verdict);
    verdict
}

/// The row of the specification's table.
fn table(story: &Story<'_>, window: &Window, verdict: &mut Verdict) {
    let runs = story.looks().count();
    if (window.found == Found::Nothing) != (runs == 0) {
        verdict.fails(format!("first look: {:?}", window.found), format!("{runs} looks at runs"), []);
    }
    for look in story.looks() {
        match window.told(story.ending) {
            Some(told) => story.must_tell(verdict, "first look", look, told),
            None => story.must_wait(verdict, look),
        }
    }
    let (launches, saves) = (story.launches_before_resend(), story.saves_before_resend());
    if !window.launches.contains(&launches) {
        verdict.fails(
            format!("{:?} starts of Flow before it is sent again", window.launches),
            launches.to_string(),
            [],
        );
    }
    if !window.saves.contains(&saves) {
        verdict.fails(format!("{:?} saves before it is sent again", window.saves), saves.to_string(), []);
    }
    if window.begins_anew(story.ending) && window.found != Found::Waiting {
        let expected = if window.counted { 2 } else { 1 };
        let attempt = story.resent.as_ref().and_then(|resent| resent.attempt());
        if attempt != Some(expected) {
            verdict.fails(format!("sent again: attempt {expected}"), format!("{attempt:?}"), story.cites());
        }
    }
}

/// The rows of 2.12: what was found at recovery says what is told.
fn by_state(story: &Story<'_>, verdict: &mut Verdict) {
    for look in story.looks() {
        let Some(left) = story.left_behind(look.run()) else { continue };
        match expected(left, story.ending) {
            Expected::Told(told) => story.must_tell(verdict, &format!("found {}", left.phase), look, told),
            Expected::Reason(reason) => story.must_keep(verdict, look, reason),
        }
    }
}

enum Expected<'s> {
    Told(Told),
    /// The receipt that was committed.
    Reason(&'s str),
}

fn expected(left: &SeenAction, ending: Ending) -> Expected<'_> {
    match (&left.reason, left.facts, left.claimed) {
        (Some(reason), _, _) => Expected::Reason(reason),
        (None, true, true) => Expected::Told(ending.told()),
        (None, false, true) => Expected::Told(INTERRUPTED),
        (None, _, false) => Expected::Told(NOT_STARTED),
    }
}

impl CrashSeen {
    /// How Flow would have ended.
    pub fn ending(&self) -> Ending {
        let drawn = self.kill.map(|kill| kill.drawn().ending);
        self.case.as_ref().map(|case| case.ending).or(drawn).unwrap_or_default()
    }
}
