//! What happened when in one scenario: lines on the pipes, Flow, the app and files, on one clock.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::excerpt::{cut, shown, told_briefly};
use crate::evidence::{Evidence, Way};
use crate::leak::Oracle;
use crate::run::events::{Lane, Moment};
use crate::scenario::files::FileKind;

/// Longer texts are cut.
const LONGEST: usize = 280;
/// More files than these are counted, not named.
const FILES: usize = 24;

/// In the order of time. A canary in it is masked: a report is read by more people than the scenario's world.
pub fn of(evidence: &Evidence) -> Vec<Moment> {
    let oracle = Oracle::of(&evidence.canaries);
    let world = evidence.files.first().map(|root| root.path.clone()).unwrap_or_default();
    let mut moments = frames(evidence);
    moments.extend(flow(evidence));
    moments.extend(app(evidence));
    moments.extend(files(evidence, &world));
    for moment in &mut moments {
        moment.text = cut(&oracle.mask(&without(&moment.text, &world)), LONGEST);
    }
    moments.sort_by_key(|moment| moment.at_us);
    moments
}

fn frames(evidence: &Evidence) -> Vec<Moment> {
    let told = evidence.frames.iter().map(|frame| Moment {
        at_us: frame.at_us,
        lane: if frame.way == Way::Sent { Lane::Client } else { Lane::Agent },
        text: match evidence.servers.len() {
            1 => shown(&frame.text),
            _ => format!("{}: {}", frame.server, shown(&frame.text)),
        },
    });
    told.collect()
}

/// The stand-in's journal; for the real Flow, which has none, what its keeper wrote down of its start and its end.
fn flow(evidence: &Evidence) -> Vec<Moment> {
    let journal = evidence.journal.iter().filter_map(|line| {
        Some(Moment { at_us: since(evidence, line.text("at")?), lane: Lane::Flow, text: told_briefly(line) })
    });
    let journalled: Vec<Moment> = journal.collect();
    if !journalled.is_empty() {
        return journalled;
    }
    let exits = evidence.files.iter().filter(|file| file.path.ends_with("exit.json"));
    let kept = exits.filter_map(|file| file.json()).flat_map(|facts| {
        let text = |key: &str| facts.get(key).and_then(Value::as_str).map(str::to_owned);
        let run = text("run_id").unwrap_or_default();
        let ended = match (&facts["code"], &facts["signal"]) {
            (Value::Null, signal) => format!("ended by signal {signal} {run}"),
            (code, _) => format!("ended with code {code} {run}"),
        };
        [(text("started_at"), format!("started {run}")), (text("ended_at"), ended)]
    });
    kept.filter_map(|(at, text)| Some(Moment { at_us: since(evidence, &at?), lane: Lane::Flow, text })).collect()
}

fn app(evidence: &Evidence) -> Vec<Moment> {
    let lines = evidence.clinic.iter().flat_map(|clinic| &clinic.journal).filter_map(|line| {
        let at = line.get("at").and_then(Value::as_str)?;
        let own = line.as_object()?.iter().filter(|(key, value)| {
            !["at", "seq", "pid", "event", "url"].contains(&key.as_str())
                && !value.is_null()
                && **value != serde_json::json!([])
        });
        let facts: Vec<String> = own.map(|(key, value)| format!("{key}={value}")).collect();
        let event = line.get("event").and_then(Value::as_str).unwrap_or_default();
        Some(Moment {
            at_us: since(evidence, at),
            lane: Lane::App,
            text: format!("{event} {}", facts.join(" ")).trim_end().to_owned(),
        })
    });
    lines.collect()
}

/// What was written while the world lived, newest last; pictures and the like are counted.
fn files(evidence: &Evidence, world: &Path) -> Vec<Moment> {
    let clock = &evidence.clock;
    let mut written: Vec<(u64, &PathBuf, String)> = evidence
        .files
        .iter()
        .filter(|file| file.kind == Some(FileKind::File) && !file.planted)
        .filter_map(|file| {
            let at = clock.written_us.get(&file.path)?.checked_sub(clock.began_us)?;
            Some((at, &file.path, format!("{:04o}, {} bytes", file.mode, file.bytes)))
        })
        .collect();
    written.sort();
    let more = written.len().saturating_sub(FILES);
    let last = written.last().map(|(at, ..)| *at);
    let mut moments: Vec<Moment> = written
        .into_iter()
        .take(FILES)
        .map(|(at_us, path, facts)| {
            let path = path.strip_prefix(world).unwrap_or(path);
            Moment { at_us, lane: Lane::File, text: format!("{} ({facts})", path.display()) }
        })
        .collect();
    if let Some(at_us) = last.filter(|_| more > 0) {
        moments.push(Moment { at_us, lane: Lane::File, text: format!("and {more} more files") });
    }
    moments
}

/// A time of day on the clock of the frames.
fn since(evidence: &Evidence, at: &str) -> u64 {
    let at: Option<jiff::Timestamp> = at.parse().ok();
    let micros = at.and_then(|at| u64::try_from(at.as_microsecond()).ok()).unwrap_or_default();
    micros.saturating_sub(evidence.clock.began_us)
}

fn without(text: &str, world: &Path) -> String {
    match world.to_str().filter(|world| world.len() > 1) {
        Some(world) => text.replace(world, "$world"),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use super::*;
    use crate::check::sample::{file, folder, saved};
    use crate::evidence::ClinicSeen;

    fn witnessed() -> Evidence {
        let mut evidence = saved();
        evidence.clock.began_us = 1_000_000;
        for (index, frame) in evidence.frames.iter_mut().enumerate() {
            frame.at_us = 100 * index as u64;
        }
        evidence.journal.truncate(1);
        evidence.journal[0].0["at"] = json!("1970-01-01T00:00:01.000250Z");
        let stored = json!({"seq": 2, "at": "1970-01-01T00:00:01.000350Z", "event": "stored", "effect": "inserted"});
        evidence.clinic = Some(ClinicSeen { journal: vec![stored], ..ClinicSeen::default() });
        let record = "/w/runs/record.json";
        evidence.files = vec![folder("/w"), file(record, "{}")];
        evidence.clock.written_us.insert(Path::new(record).into(), 1_000_450);
        evidence
    }

    #[test]
    fn everything_stands_on_one_clock_in_its_lane() {
        let lanes: Vec<(u64, Lane)> = of(&witnessed()).iter().map(|moment| (moment.at_us, moment.lane)).collect();
        use Lane::{Agent, App, Client, File, Flow};
        let expected = [
            (0, Client),
            (100, Agent),
            (200, Client),
            (250, Flow),
            (300, Agent),
            (350, App),
            (400, Client),
            (450, File),
            (500, Agent),
        ];
        assert_eq!(lanes, expected);
    }

    #[test]
    fn neither_a_value_nor_the_worlds_folder_is_shown() {
        let mut evidence = witnessed();
        let note = evidence.canaries["note"].clone();
        evidence.frames[5].text = format!("/w/{note}");
        let told = of(&evidence);
        assert!(told.iter().any(|moment| moment.text == "$world/⟨canary⟩"), "{told:?}");
        assert!(!format!("{told:?}").contains(&note));
    }

    #[test]
    fn a_real_flow_is_seen_by_what_its_keeper_wrote_down() {
        let mut evidence = witnessed();
        evidence.journal.clear();
        let exit = json!({"run_id": "run-1", "code": 1, "signal": null, "started_at": "1970-01-01T00:00:01.000010Z", "ended_at": "1970-01-01T00:00:01.000020Z"});
        evidence.files.push(file("/w/runs/openadapt-agent/dispatch/run-1/exit.json", &exit.to_string()));
        let told: Vec<String> =
            of(&evidence).into_iter().filter(|moment| moment.lane == Lane::Flow).map(|moment| moment.text).collect();
        assert_eq!(told, ["started run-1", "ended with code 1 run-1"]);
    }
}
