//! The few lines of evidence that decided a failure, as a person reads them.

use crate::check::verdict::{Cite, Failure, Judgement};
use crate::evidence::{Evidence, JournalLine, Way};
use crate::leak::Oracle;
use crate::run::events::{Judged, Told};

/// Longer lines are cut.
const LONGEST: usize = 600;
const MOST: usize = 12;

/// A report is read by more people than the scenario's world: a canary in it is masked.
pub fn judged(evidence: &Evidence, judgement: &Judgement) -> Judged {
    let mut judged = Judged { judgement: judgement.clone(), told: Vec::new(), timeline: Vec::new() };
    if judgement.failures.is_empty() {
        return judged;
    }
    let oracle = Oracle::of(&evidence.canaries);
    judged.told = judgement.failures.iter().map(|failure| tell(evidence, failure)).collect();
    for told in &mut judged.told {
        let texts = told.action.iter_mut().chain(&mut told.lines);
        texts.for_each(|text| *text = oracle.mask(text));
    }
    for failure in &mut judged.judgement.failures {
        failure.expected = oracle.mask(&failure.expected);
        failure.actual = oracle.mask(&failure.actual);
        for cite in &mut failure.cites {
            if let Cite::File(path) = cite {
                *path = oracle.mask(&path.to_string_lossy()).into();
            }
        }
    }
    judged
}

fn tell(evidence: &Evidence, failure: &Failure) -> Told {
    let action = failure.step.map(|step| {
        let headline = evidence.steps.get(step).map(|step| step.action.headline());
        format!("action {}: {}", step + 1, headline.unwrap_or_else(|| "not done".into()))
    });
    let mut lines: Vec<String> = failure.cites.iter().take(MOST).flat_map(|cite| line(evidence, cite)).collect();
    if failure.cites.len() > MOST {
        lines.push(format!("… and {} more", failure.cites.len() - MOST));
    }
    Told { action, lines }
}

fn line(evidence: &Evidence, cite: &Cite) -> Option<String> {
    match cite {
        Cite::Frame(index) => {
            let frame = evidence.frames.get(*index)?;
            let arrow = if frame.way == Way::Sent { "→" } else { "←" };
            Some(format!("{:>9.3} ms {arrow} {} {}", ms(frame.at_us), frame.server, cut(&shown(&frame.text), LONGEST)))
        }
        Cite::Journal(index) => {
            Some(format!("journal {index} {}", cut(&told_briefly(evidence.journal.get(*index)?), LONGEST)))
        }
        Cite::File(path) => {
            let file = evidence.files.iter().find(|file| file.path == *path);
            let facts =
                file.map(|file| format!("{:04o}, {} bytes {}", file.mode, file.bytes, cut(&file.text, LONGEST)));
            Some(format!("file {} {}", path.display(), facts.unwrap_or_else(|| "isn't there".into())))
        }
        Cite::Server(name) => {
            let server = evidence.server(name)?;
            let exit = server.exit.map_or_else(|| "runs".into(), |exit| exit.to_string());
            Some(format!("server {name}: {exit}; stderr: {}", cut(server.stderr.trim_end(), LONGEST)))
        }
    }
}

/// A journal line without what rarely decides anything.
pub fn told_briefly(line: &JournalLine) -> String {
    const LEFT_OUT: &[&str] = &[
        "at",
        "ppid",
        "pgid",
        "sid",
        "argv",
        "run_dir",
        "params_path",
        "bundle",
        "launch",
        "run_id",
        "sha256",
        "run_id_sha256",
    ];
    let run = line.run_id().unwrap_or("no run");
    let kept = line
        .0
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(key, _)| !LEFT_OUT.contains(&key.as_str()) && *key != "event");
    let facts: Vec<String> = kept.map(|(key, value)| format!("{key}={value}")).collect();
    format!("{} {run} {}", line.event(), facts.join(" "))
}

/// A tool's result without its text, which says the same again.
pub fn shown(text: &str) -> String {
    let message: Option<serde_json::Value> = serde_json::from_str(text).ok();
    let structured = message.as_ref().and_then(|message| message.pointer("/result/structuredContent"));
    match (&message, structured) {
        (Some(message), Some(structured)) => format!("id {} {structured}", message["id"]),
        _ => text.to_owned(),
    }
}

fn ms(at_us: u64) -> f64 {
    std::time::Duration::from_micros(at_us).as_secs_f64() * 1000.0
}

pub fn cut(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
        None => text.to_owned(),
    }
}
