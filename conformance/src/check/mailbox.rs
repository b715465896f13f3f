//! The mailbox: claimed once, asked as agreed, its lease told to nobody, and no command of it carried out twice.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::verdict::{Check, Cite, Verdict};
use crate::evidence::{Evidence, JournalLine, Seen};

pub const MAILBOX: Check = Check {
    id: "mailbox",
    sentence: "A mailbox is claimed once and asked as agreed; its words stand nowhere; each command of it is carried out once at most.",
    judge,
};

/// How the words begin that nobody may see.
const SECRETS: [&str; 2] = ["oals_", "oab_"];

fn judge(evidence: &Evidence, mut verdict: Verdict) -> Verdict {
    let lines: Vec<(usize, &JournalLine)> =
        evidence.journal.iter().enumerate().filter(|(_, line)| line.event() == "mailbox").collect();
    let mut claims = 0;
    for (at, line) in &lines {
        verdict.saw();
        let call = line.name().unwrap_or_default();
        let holds = |key: &str| line.0.get(key) == Some(&Value::Bool(true));
        if call == "claim" {
            claims += 1;
        }
        let right = if call == "claim" { holds("anonymous") } else { holds("authorized") };
        if !right {
            verdict.fails(
                format!("{call} with the lease, and the claim without"),
                "another word, or none",
                [Cite::Journal(*at)],
            );
        }
        let asked = line.text("asked").unwrap_or_default();
        if !(asked.starts_with("POST /j/") && asked.ends_with(&format!("/runner/{call} HTTP/1.1"))) {
            verdict.fails("a POST to the pack's runner", asked, [Cite::Journal(*at)]);
        }
        if call == "poll" && line.0.get("sent") != Some(&json!({ "wait_seconds": 0, "lease_seconds": 900 })) {
            verdict.fails("a poll that doesn't wait", line.0.to_string(), [Cite::Journal(*at)]);
        }
    }
    if claims > 1 {
        verdict.fails("one claim", format!("{claims} of them"), []);
    }
    if !lines.is_empty() {
        once(evidence, &lines, &mut verdict);
        for (place, text) in told(evidence) {
            if let Some(secret) = SECRETS.iter().find(|secret| text.contains(**secret)) {
                verdict.fails(format!("nothing that begins with {secret} in {place}"), "there is", []);
            }
        }
    }
    verdict
}

/// As many distinct commands for a tool as steps of the session, or more.
fn once(evidence: &Evidence, lines: &[(usize, &JournalLine)], verdict: &mut Verdict) {
    let mut handed: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (_, line) in lines {
        let word = |key| line.0.pointer(key).and_then(Value::as_str);
        if let (Some(tool), Some(id)) = (word("/handed/tool"), word("/handed/command_id")) {
            handed.entry(tool).or_default().insert(id);
        }
    }
    let mut done: BTreeMap<&str, usize> = BTreeMap::new();
    for line in evidence.journal.iter().filter(|line| line.event() == "authoring") {
        let tool = line.text("op").and_then(|op| op.strip_prefix("authoring.")).unwrap_or_default();
        // What a person typed is taken in the course of the pause.
        if !matches!(tool, "open" | "continue_input") {
            *done.entry(tool).or_default() += 1;
        }
    }
    for (tool, times) in done {
        let asked = handed.get(tool).map_or(0, BTreeSet::len);
        if times > asked {
            verdict.fails(format!("{tool} at most {asked} times, once for each command"), format!("{times} times"), []);
        }
    }
}

/// Everything that somebody could read afterwards.
fn told(evidence: &Evidence) -> Vec<(String, &str)> {
    let servers = evidence.servers.iter().map(|server| (format!("stderr of {}", server.name), server.stderr.as_str()));
    let files = evidence
        .files
        .iter()
        .filter(|file| !file.planted)
        .map(|file| (file.path.display().to_string(), file.text.as_str()));
    let programs = evidence.steps.iter().filter_map(|step| match &step.seen {
        Seen::Program { stdout, stderr, .. } => {
            Some([stdout, stderr].map(|text| ("what a command printed".to_owned(), text.as_str())))
        }
        _ => None,
    });
    servers.chain(files).chain(programs.flatten()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::sample::{fails, file, holds, is_silent, saved};
    use super::*;

    fn line(call: &str, more: Value) -> JournalLine {
        let anonymous = call == "claim";
        let mut line = json!({"event": "mailbox", "name": call, "asked": format!("POST /j/p.x/runner/{call} HTTP/1.1"), "anonymous": anonymous,
            "authorized": !anonymous, "sent": {"wait_seconds": 0, "lease_seconds": 900}});
        crate::run::bundle::merge_patch(&mut line, &more);
        JournalLine(line)
    }

    fn with(lines: Vec<JournalLine>) -> Evidence {
        let mut evidence = saved();
        evidence.journal.extend(lines);
        evidence
    }

    #[test]
    fn a_world_without_a_mailbox_has_nothing_to_look_at_and_a_sound_one_holds() {
        is_silent(&MAILBOX, &saved());
        holds(&MAILBOX, &with(vec![line("claim", json!({})), line("poll", json!({}))]));
    }

    #[test]
    fn each_wrong_call_fails() {
        for wrong in [
            vec![line("claim", json!({"anonymous": false}))],
            vec![line("claim", json!({})), line("claim", json!({}))],
            vec![line("poll", json!({"authorized": false}))],
            vec![line("poll", json!({"sent": {"wait_seconds": 20}}))],
            vec![line("poll", json!({"asked": "GET /j/p.x/runner/poll HTTP/1.1"}))],
        ] {
            fails(&MAILBOX, &with(wrong));
        }
    }

    #[test]
    fn a_command_that_is_carried_out_twice_and_a_word_that_stands_somewhere_fail() {
        let click = || JournalLine(json!({"event": "authoring", "op": "authoring.click", "done": true}));
        let handed = || line("poll", json!({"handed": {"tool": "click", "command_id": "c1"}}));
        holds(&MAILBOX, &with(vec![handed(), click()]));
        fails(&MAILBOX, &with(vec![handed(), click(), handed(), click()]));
        let mut evidence = with(vec![line("claim", json!({}))]);
        evidence.files.push(file("/w/runs/openadapt-agent/x", "oals_0123"));
        fails(&MAILBOX, &evidence);
    }
}
