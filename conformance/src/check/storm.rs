//! After a storm: each line got exactly what was due, and the server neither grew nor spoke out of turn.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::verdict::{Check, Cite, Verdict};
use crate::evidence::{Evidence, Seen, Way};
use crate::scenario::Action;
use crate::scenario::action::{Storm, StormKind};
use crate::storm::{Due, shot};

pub const STORM: Check = Check {
    id: "storm",
    sentence: "Of a storm of broken frames, each with a readable id is answered once under it, each without one is told so once, \
        and no notification or reply is answered; memory stays bounded.",
    judge: storm,
};

/// What the server may have used at most, a debug build included.
const PEAK_KB: u64 = 120_000;

/// And where its answers aren't read: they would need more than this.
const UNREAD_PEAK_KB: u64 = 40_000;

fn storm(evidence: &Evidence, verdict: Verdict) -> Verdict {
    let storms = storms(evidence);
    let mut verdict = verdict.due(!storms.is_empty());
    for found in storms {
        verdict.saw();
        let mut answers: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let mut anonymous = Vec::new();
        for (index, frame) in evidence.frames.iter().enumerate().take(found.to).skip(found.from) {
            if frame.way == Way::Sent || frame.server != found.server {
                continue;
            }
            let message: Value = serde_json::from_str(&frame.text).unwrap_or_default();
            match message.get("id") {
                _ if message.get("method").is_some() => {}
                Some(id) => answers.entry(id.to_string()).or_default().push(index),
                None => anonymous.push(index),
            }
        }
        let mut nameless = 0;
        for number in 0..found.storm.storm {
            match shot(found.storm, number, found.modern).due {
                Due::Nothing => {}
                Due::Anonymous => nameless += 1,
                Due::Answer(id) => {
                    let count = answers.get(&id.to_string()).map_or(0, Vec::len);
                    // Where the storm was broken off, the stop says so.
                    if count != 1 && !(count == 0 && evidence.stopped.is_some()) {
                        let expected = format!("one answer to line {number} of seed {}", found.storm.seed);
                        verdict.fails(expected, format!("{count} under the id {}", short(&id)), []);
                    }
                }
            }
        }
        if anonymous.len() != nameless && evidence.stopped.is_none() {
            let cites = anonymous.iter().copied().map(Cite::Frame);
            let actual = format!("{} errors without an id", anonymous.len());
            verdict.fails(format!("{nameless} for the lines of seed {} without one", found.storm.seed), actual, cites);
        }
        let most = if found.storm.of == StormKind::Unread { UNREAD_PEAK_KB } else { PEAK_KB };
        if found.peak_kb.is_some_and(|peak| peak > most) {
            let actual = format!("it used {} kB", found.peak_kb.unwrap_or_default());
            verdict.fails(format!("no more than {most} kB of memory"), actual, [Cite::Server(found.server)]);
        }
    }
    verdict
}

/// The ids that the lines of storms ask under, by server.
pub fn ids(evidence: &Evidence) -> BTreeSet<(String, String)> {
    let ids_of = |found: Found<'_>| {
        let dues = (0..found.storm.storm).map(move |number| shot(found.storm, number, found.modern).due);
        dues.filter_map(move |due| match due {
            Due::Answer(id) => Some((found.server.clone(), id.to_string())),
            _ => None,
        })
        .collect::<Vec<_>>()
    };
    storms(evidence).into_iter().flat_map(ids_of).collect()
}

struct Found<'a> {
    storm: &'a Storm,
    from: usize,
    to: usize,
    server: String,
    modern: bool,
    peak_kb: Option<u64>,
}

fn storms(evidence: &Evidence) -> Vec<Found<'_>> {
    let found = evidence.steps.iter().filter_map(|step| match (&step.action, &step.seen) {
        (Action::Storm(storm), Seen::Storm { from, to, server, peak_kb }) => Some(Found {
            storm,
            from: *from,
            to: *to,
            server: server.clone(),
            modern: evidence.server(server).is_some_and(|server| server.modern),
            peak_kb: *peak_kb,
        }),
        _ => None,
    });
    found.collect()
}

fn short(id: &Value) -> String {
    let text = id.to_string();
    text.chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::sample::{fails, holds, receive, saved};
    use super::*;
    use crate::evidence::Step;

    const SHOTS: u64 = 400;

    /// A storm whose every line got what was due.
    fn weathered() -> Evidence {
        let mut evidence = saved();
        let from = evidence.frames.len();
        for number in 0..SHOTS {
            match crate::storm::shots::shot(5, number, false).due {
                Due::Nothing => {}
                Due::Anonymous => receive(&mut evidence, r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}}"#),
                Due::Answer(id) => {
                    let answer = json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32600, "message": "x"}});
                    receive(&mut evidence, &answer.to_string());
                }
            }
        }
        let action = serde_json::from_value(json!({"storm": SHOTS, "seed": 5})).unwrap();
        let seen = Seen::Storm { from, to: evidence.frames.len(), server: "s1".into(), peak_kb: Some(9_000) };
        evidence.steps.push(Step { action, seen });
        evidence
    }

    fn end(evidence: &mut Evidence) {
        let frames = evidence.frames.len();
        if let Some(Step { seen: Seen::Storm { to, .. }, .. }) = evidence.steps.last_mut() {
            *to = frames;
        }
    }

    #[test]
    fn what_got_its_due_holds() {
        holds(&STORM, &weathered());
    }

    #[test]
    fn an_answer_that_is_missing_or_came_twice_fails() {
        let mut twice = weathered();
        let last = twice.frames.last().unwrap().text.clone();
        receive(&mut twice, &last);
        end(&mut twice);
        fails(&STORM, &twice);
        let mut missing = weathered();
        missing.frames.pop();
        end(&mut missing);
        fails(&STORM, &missing);
    }

    #[test]
    fn an_error_without_an_id_that_no_line_called_for_fails() {
        let mut evidence = weathered();
        receive(&mut evidence, r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}}"#);
        end(&mut evidence);
        fails(&STORM, &evidence);
    }

    #[test]
    fn a_server_that_grew_fails() {
        let mut evidence = weathered();
        if let Some(Step { seen: Seen::Storm { peak_kb, .. }, .. }) = evidence.steps.last_mut() {
            *peak_kb = Some(2 * PEAK_KB);
        }
        fails(&STORM, &evidence);
    }
}
