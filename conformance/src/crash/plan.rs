//! Which cases a campaign has.

use serde_json::json;

use super::case::{Again, Case, How, LedgerKind, Victim};
use super::ending::Ending;
use super::kill::Kill;
use super::point::Point;
use super::window::{exists, recovers_through};
use crate::scenario::Scenario;

/// The row that every case of a campaign proves; those of the fast slice name more.
const PROVES: &str = "LIFE-crash-every-point";
const PROVES_KILLS: &str = "LIFE-crash-any-moment";

/// Every moment × who dies × ending × ledger, each alone and with every second death in recovery: beside another server and not.
pub fn full() -> Vec<Case> {
    let mut cases = Vec::new();
    for point in Point::all() {
        for dies in Victim::ALL {
            for ending in Ending::ALL {
                for ledger in LedgerKind::ALL {
                    let first = Case { point, dies, ending, ledger, again: None };
                    let seconds = recovers_through(&first).into_iter();
                    let again = seconds.flat_map(|at| [How::After, How::During].map(|how| Some(Again { at, how })));
                    let all = [None].into_iter().chain(again).map(|again| Case { again, ..first.clone() });
                    cases.extend(all.filter(exists));
                }
            }
        }
    }
    cases
}

pub fn scenario_of(case: &Case) -> Option<Scenario> {
    serde_json::from_value(json!({
        "id": format!("crash/{case}"),
        "title": title(case),
        "proves": [PROVES],
        "crash": case,
    }))
    .ok()
}

pub fn scenario_of_kill(kill: Kill) -> Option<Scenario> {
    let drawn = kill.drawn();
    serde_json::from_value(json!({
        "id": format!("kill/{}-{:05}/{}/{}/{}", kill.seed, kill.number, drawn.dies.name(), drawn.ending.name(), drawn.ledger.name()),
        "title": format!("{} killed at event {} of a run", drawn.dies.name(), drawn.event),
        "proves": [PROVES_KILLS],
        "kill": kill,
    }))
    .ok()
}

/// A run that nobody disturbs: the moment never comes.
pub fn undisturbed() -> Kill {
    Kill { seed: 0, number: 0, of: u64::MAX }
}

fn title(case: &Case) -> String {
    let who = match case.dies {
        Victim::Server => "the server dies",
        Victim::Keeper => "the keeper dies",
        Victim::Both => "server and keeper die",
    };
    let again = case.again.map(|again| format!(", and recovery dies at {}", again.at.name())).unwrap_or_default();
    format!("At {} {who} ({}, {}){again}", case.point.name(), case.ending.name(), case.ledger.name())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_moment_of_a_run_is_in_the_full_campaign_with_every_ending_and_ledger() {
        let cases = full();
        let points: BTreeSet<&str> = cases.iter().map(|case| case.point.name()).collect();
        let missing: Vec<&str> = Point::all().map(Point::name).filter(|name| !points.contains(name)).collect();
        assert_eq!(missing, ["recover.each"], "it is a moment of recovery alone");
        let again: BTreeSet<&str> = cases.iter().filter_map(|case| Some(case.again?.at.name())).collect();
        assert_eq!(again.len(), 13, "{again:?}");
        let first = cases.iter().filter(|case| case.again.is_none()).count();
        assert!(cases.iter().all(|case| scenario_of(case).is_some()));
        assert!(first > 250 && cases.len() > 10 * first, "{first} of {}", cases.len());
    }
}
