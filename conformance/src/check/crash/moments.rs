//! What holds after any crash, whatever the moment.

use super::story::Story;
use crate::check::verdict::Verdict;
use crate::crash::point::Passes;
use crate::crash::{Again, Case, How, Victim};
use crate::evidence::Exit;

const ABORTED: Exit = Exit::Signal(6);
const KILLED: Exit = Exit::Signal(9);

/// Those died who were to die, and as they were to.
pub fn died(story: &Story<'_>, verdict: &mut Verdict) {
    let Some(case) = &story.seen.case else { return };
    let server = match (case.dies, case.point.passes()) {
        (Victim::Keeper, _) => None,
        (_, Passes::Keeper) => Some(KILLED),
        _ => Some(ABORTED),
    };
    let second = case.again.map(|Again { how, .. }| if how == How::After { ABORTED } else { KILLED });
    for (who, wanted, seen) in
        [("the server", server, story.seen.died), ("the recovering server", second, story.seen.died_again)]
    {
        if wanted != seen {
            verdict.fails(format!("{who}: {wanted:?}"), format!("{seen:?}"), []);
        }
    }
    let keeper_killed = story.seen.killed.iter().any(|who| who == "keeper");
    if keeper_killed != keeper_dies(case) {
        verdict.fails(format!("the keeper is killed: {}", keeper_dies(case)), format!("{keeper_killed}"), []);
    }
}

fn keeper_dies(case: &Case) -> bool {
    case.dies != Victim::Server
}

/// An answer that came before the crash is the answer after it.
pub fn same_as_before(story: &Story<'_>, verdict: &mut Verdict) {
    let Some(before) = &story.before else { return };
    for later in story.looks().filter(|look| look.run() == before.run()) {
        if later.lasting() != before.lasting() {
            let cites = [before.cites(), later.cites()].concat();
            verdict.fails(before.lasting().to_string(), later.lasting().to_string(), cites);
        }
    }
}

/// The same request again: replayed after an end that isn't proven to have written nothing, else begun anew, once, and to its end.
pub fn again(story: &Story<'_>, verdict: &mut Verdict) {
    let Some(resent) = &story.resent else {
        return verdict.fails("an answer to the same request", "none with a result", story.cites());
    };
    let last = story.looks().last();
    let anew = last.is_none_or(|look| look.word("outcome") == "running" || look.object["safe_to_retry"] == true);
    let started = story.launches() - story.launches_before_resend();
    if started != usize::from(anew) {
        verdict.fails(
            format!("{} starts for the request sent again", usize::from(anew)),
            started.to_string(),
            story.cites(),
        );
    }
    match last {
        Some(look) if !anew => {
            if !resent.is_replayed() || resent.lasting() != look.lasting() {
                let (expected, actual) = (look.lasting().to_string(), resent.object.to_string());
                verdict.fails(format!("sent again: replayed, {expected}"), actual, story.cites());
            }
        }
        _ => {
            story.must_tell(verdict, "sent again", resent, story.ending.told());
            if resent.is_replayed() {
                verdict.fails("sent again: a run of its own", "replayed", resent.cites());
            }
        }
    }
    let saved = story.saves();
    let most = story.saves_before_resend() + if anew { story.ending.saves() } else { 0 };
    if saved > most {
        verdict.fails(format!("at most {most} saves"), saved.to_string(), story.cites());
    }
}

/// Looks afterwards tell the same as those before, and as the answer to the request sent again.
pub fn stays(story: &Story<'_>, verdict: &mut Verdict) {
    for later in &story.after {
        let before = story.looks().chain(&story.resent).filter(|heard| heard.run() == later.run());
        for before in before.filter(|before| before.word("outcome") != "running") {
            if before.lasting() != later.lasting() {
                let cites = [before.cites(), later.cites()].concat();
                verdict.fails(before.lasting().to_string(), later.lasting().to_string(), cites);
            }
        }
    }
    for look in story.looks().filter(|look| !story.after.iter().any(|later| later.run() == look.run())) {
        verdict.fails(format!("run {} is known for ever", look.run()), "it is gone", look.cites());
    }
    for now in &story.meanwhile {
        let then = story.looks().find(|look| look.run() == now.run());
        if now.word("outcome") != "running" && then.is_some_and(|then| then.lasting() != now.lasting()) {
            let expected = "running, or what is told afterwards, while the keeper stands still";
            verdict.fails(expected, now.lasting().to_string(), now.cites());
        }
    }
}
