//! Values that only the judge may say: looked for in everything that leaves the agent and everything that it keeps.

use std::collections::BTreeSet;
use std::path::Path;

use super::verdict::{Check, Cite, Verdict};
use crate::evidence::files::SeenFile;
use crate::evidence::{Evidence, Seen, Way};
use crate::leak::oracle::{Hit, Looking, Oracle};
use crate::scenario::Action;
use crate::scenario::files::FileKind;

pub const CANARY: Check = Check {
    id: "no-value-leaks",
    sentence: "No value, label, path or secret is found on the wire, on stderr, on the command line's output or in a file \
        that the agent keeps, whatever its spelling.",
    judge: canary,
};

fn canary(evidence: &Evidence, verdict: Verdict) -> Verdict {
    let mut verdict = verdict.due(!evidence.canaries.is_empty() && !evidence.servers.is_empty());
    if let Some(wanted) = evidence.after.canaries
        && evidence.canaries.len() < wanted
    {
        verdict.fails(
            format!("at least {wanted} canaries"),
            format!("{} were handed out", evidence.canaries.len()),
            [],
        );
    }
    if evidence.canaries.is_empty() {
        return verdict;
    }
    let mut search = Search { oracle: Oracle::of(&evidence.canaries), verdict };
    let mut told: BTreeSet<&str> = BTreeSet::new();
    for (index, frame) in evidence.frames.iter().enumerate().filter(|(_, frame)| frame.way == Way::Received) {
        let mut hits = search.hits(frame.text.as_bytes(), Looking::ForAll);
        hits.retain(|hit| {
            let meant = evidence.after.told.iter().find(|name| **name == hit.canary);
            told.extend(meant.map(String::as_str));
            meant.is_none()
        });
        search.blame(hits, "on the wire", Cite::Frame(index));
    }
    for name in evidence.after.told.iter().filter(|name| !told.contains(name.as_str())) {
        search.verdict.fails(format!("the canary {name:?} in an answer, as it is meant to be"), "it is in none", []);
    }
    for server in &evidence.servers {
        let hits = search.hits(server.stderr.as_bytes(), Looking::ForAll);
        search.blame(hits, "on stderr", Cite::Server(server.name.clone()));
    }
    search.command_lines(evidence);
    search.operator(evidence);
    let edited = edited(evidence);
    for file in evidence.files.iter().filter(|file| kept_by_the_agent(file, &edited)) {
        search.file(file, &evidence.printed);
    }
    search.verdict
}

struct Search<'a> {
    oracle: Oracle<'a>,
    verdict: Verdict,
}

impl Search<'_> {
    fn hits(&mut self, bytes: &[u8], looking: Looking) -> BTreeSet<Hit> {
        self.verdict.saw();
        self.oracle.find(bytes, looking)
    }

    fn blame(&mut self, hits: BTreeSet<Hit>, place: &str, cite: Cite) {
        for Hit { canary, form } in hits {
            let expected = format!("the canary {canary:?} nowhere but in what the judge sent");
            self.verdict.fails(expected, format!("it is {place}, {form}"), [cite.clone()]);
        }
    }

    /// What the agent's commands print. The operator who typed a path may read it again.
    fn command_lines(&mut self, evidence: &Evidence) {
        for (index, step) in evidence.steps.iter().enumerate() {
            let (Action::Cli(_), Seen::Program { stdout, stderr, .. }) = (&step.action, &step.seen) else { continue };
            for (text, place) in [(stdout, "on a command's stdout"), (stderr, "on a command's stderr")] {
                for Hit { canary, form } in self.hits(text.as_bytes(), Looking::ButForPaths) {
                    let expected = format!("the canary {canary:?} nowhere but in what the judge sent");
                    self.verdict.fails_at(Some(index), expected, format!("it is {place}, {form}"), []);
                }
            }
        }
    }

    /// What an operator's commands say of every run when all is over.
    fn operator(&mut self, evidence: &Evidence) {
        for saw in &evidence.operator {
            for (text, place) in [(&saw.stdout, "stdout"), (&saw.stderr, "stderr")] {
                let hits = self.hits(text.as_bytes(), Looking::ForAll);
                self.blame(
                    hits,
                    &format!("on the {place} of {}", saw.words.join(" ")),
                    Cite::Server("operator".into()),
                );
            }
        }
    }

    fn file(&mut self, file: &SeenFile, printed: &BTreeSet<String>) {
        let cite = || Cite::File(file.path.clone());
        let name = file.path.to_string_lossy();
        let hits = self.hits(name.as_bytes(), Looking::ButForPaths);
        self.blame(hits, "in a file's name", cite());
        if file.is_cut() {
            self.verdict.blames(
                super::verdict::Blame::Harness,
                None,
                "files small enough to be searched whole",
                format!("{} has {} bytes", file.path.display(), file.bytes),
                [cite()],
            );
        }
        let starts_flow = is_in_dispatch(&file.path, &["intent.json"]);
        let diagnostics = is_in_dispatch(&file.path, &["stdout.log", "stderr.log"]);
        let looking =
            if starts_flow || diagnostics || is_ledger(&file.path) { Looking::ButForPaths } else { Looking::ForAll };
        let mut hits = self.hits(file.text.as_bytes(), looking);
        // docs/decisions/0019: what Flow printed is the operator's, and nothing else may be there.
        hits.retain(|hit| !(diagnostics && printed.contains(&hit.canary)));
        self.blame(hits, &format!("in {}", file.path.display()), cite());
    }
}

/// Not what the scenario planted or edited, not the operator's bundles, not Flow's own run folders and journals.
fn kept_by_the_agent(file: &SeenFile, edited: &BTreeSet<&str>) -> bool {
    let path = file.path.to_string_lossy();
    let in_store = path.contains("/openadapt-agent/");
    let flows_own = !in_store && (path.contains("/run-") || path.contains("/authoring/") || path.ends_with(".jsonl"));
    let operators = !in_store && (path.contains("/bundles/") || edited.contains(&*path));
    file.kind == Some(FileKind::File) && !file.planted && !flows_own && !operators
}

/// Files that the scenario itself wrote on its way.
fn edited(evidence: &Evidence) -> BTreeSet<&str> {
    let targets = evidence.steps.iter().filter_map(|step| match &step.action {
        Action::Edit(edit) => Some([Some(edit.edit.as_str()), edit.copy_to.as_deref()]),
        _ => None,
    });
    targets.flatten().flatten().collect()
}

/// Flow's own format: a ledger and each of its claims say where the ledger lies.
fn is_ledger(path: &Path) -> bool {
    let names = path.iter().skip_while(|part| *part != "openadapt-agent").nth(1);
    names.and_then(|name| name.to_str()).is_some_and(|name| name.trim_start_matches('.').starts_with("ledger.sqlite"))
}

fn is_in_dispatch(path: &Path, names: &[&str]) -> bool {
    let named = path.file_name().and_then(|name| name.to_str()).is_some_and(|name| names.contains(&name));
    named && path.to_string_lossy().contains("/openadapt-agent/dispatch/")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::super::sample::{fails, file, holds, receive, saved};
    use super::*;
    use crate::evidence::{Exit, OperatorSaw, Step};
    use crate::leak::Marks;
    use crate::leak::forms::forms;
    use crate::leak::marks::PATH;

    const STORE: &str = "/w/runs/openadapt-agent";

    /// One canary for each source that the design names.
    const SOURCES: [&str; 14] = [
        "input",
        "recorded",
        "label",
        "intent",
        "screen",
        "folder",
        "exception",
        "stdout",
        "stderr",
        "environment",
        "card",
        "workflow",
        "key",
        "request",
    ];

    fn planted() -> Evidence {
        let mut marks = Marks::random();
        for source in SOURCES {
            marks.canary(source);
        }
        Evidence { canaries: marks.handed_out().clone(), ..saved() }
    }

    /// A place that is searched, and how a text gets there.
    type Place = (&'static str, fn(&mut Evidence, &str));

    fn places() -> Vec<Place> {
        fn keep(evidence: &mut Evidence, name: &str, text: &str) {
            evidence.files.push(file(&format!("{STORE}/{name}"), text));
        }
        vec![
            ("the wire", |evidence, text| {
                receive(evidence, &format!(r#"{{"jsonrpc":"2.0","method":"x","params":"{text}"}}"#));
            }),
            ("stderr", |evidence, text| evidence.servers[0].stderr = format!("WARN {text}")),
            ("a command's stdout", |evidence, text| command(evidence, text, "")),
            ("a command's stderr", |evidence, text| command(evidence, "", text)),
            ("what an operator is told", |evidence, text| {
                let words = ["runs", "show"].map(str::to_owned).to_vec();
                let (exit, stderr) = (Exit::Code(0), String::new());
                evidence.operator.push(OperatorSaw { words, run: None, exit, stdout: text.to_owned(), stderr });
            }),
            ("the store of actions", |evidence, text| keep(evidence, "lifecycle.sqlite", text)),
            ("its log", |evidence, text| keep(evidence, "lifecycle.sqlite-wal", text)),
            ("a record", |evidence, text| keep(evidence, "runs/run-1.json", text)),
            ("the index", |evidence, text| keep(evidence, "requests/00.json", text)),
            ("the ledger", |evidence, text| keep(evidence, "ledger.sqlite", text)),
            ("its write-ahead log", |evidence, text| keep(evidence, "ledger.sqlite-wal", text)),
            ("a claim file", |evidence, text| keep(evidence, "claims/00", text)),
            ("what starts Flow", |evidence, text| keep(evidence, "dispatch/run-1/intent.json", text)),
            ("how Flow ended", |evidence, text| keep(evidence, "dispatch/run-1/exit.json", text)),
            ("the diagnostics", |evidence, text| keep(evidence, "dispatch/run-1/stdout.log", text)),
            ("a file elsewhere", |evidence, text| evidence.files.push(file("/w/home/.cache/openadapt", text))),
        ]
    }

    fn command(evidence: &mut Evidence, stdout: &str, stderr: &str) {
        let action = serde_json::from_value(json!({"cli": ["serve"]})).unwrap();
        let seen = Seen::Program { exit: Exit::Code(2), stdout: stdout.into(), stderr: stderr.into() };
        evidence.steps.push(Step { action, seen });
    }

    #[test]
    fn a_canary_that_is_only_sent_holds() {
        holds(&CANARY, &saved());
        holds(&CANARY, &planted());
    }

    /// Each source in each place, and over all of them every spelling many times; the oracle's own test has every one.
    #[test]
    fn each_source_is_found_in_each_place_however_it_is_spelled() {
        let honest = planted();
        let mut turn = 0;
        for (place, put) in places() {
            for source in SOURCES {
                let spelled = forms(&honest.canaries[source]);
                let (form, bytes) = spelled[turn % spelled.len()].clone();
                turn += 1;
                let mut evidence = honest.clone();
                put(&mut evidence, &String::from_utf8(bytes).unwrap());
                let failures = fails(&CANARY, &evidence);
                let told = |failure: &super::super::verdict::Failure| {
                    failure.expected.contains(&format!("{source:?}")) && failure.actual.contains(&form.to_string())
                };
                assert!(failures.iter().any(told), "{source} in {place}, {form}: {failures:?}");
            }
        }
        assert!(turn > 150);
    }

    #[test]
    fn a_file_that_is_named_by_a_value_fails() {
        let mut evidence = planted();
        let name = format!("{STORE}/runs/{}.json", evidence.canaries["request"]);
        evidence.files.push(file(&name, "{}"));
        fails(&CANARY, &evidence);
    }

    #[test]
    fn a_path_may_stand_where_flow_needs_it_and_nowhere_else() {
        let evidence = planted();
        let path = format!("/tmp/{}/bundles", evidence.canaries[PATH]);
        for (place, put) in places() {
            let mut evidence = evidence.clone();
            put(&mut evidence, &path);
            let typed = place.starts_with("a command");
            let by_design = ["what starts Flow", "the diagnostics", "the ledger", "its write-ahead log"];
            if typed || by_design.contains(&place) {
                holds(&CANARY, &evidence);
            } else {
                assert_eq!(fails(&CANARY, &evidence).len(), 1, "{place}");
            }
        }
    }

    #[test]
    fn flows_own_folder_may_hold_anything_and_the_diagnostics_what_flow_printed() {
        let mut evidence = planted();
        let printed = evidence.canaries["exception"].clone();
        evidence.files.push(file("/w/runs/run-1/report.json", &printed));
        evidence.files.push(file("/w/runs/authoring/bundle/workflow.json", &printed));
        holds(&CANARY, &evidence);
        evidence.files.push(file(&format!("{STORE}/dispatch/run-1/stderr.log"), &printed));
        fails(&CANARY, &evidence);
        evidence.printed = BTreeSet::from(["exception".to_owned()]);
        holds(&CANARY, &evidence);
        evidence.files.push(file(&format!("{STORE}/dispatch/run-1/claim.json"), &printed));
        fails(&CANARY, &evidence);
    }

    #[test]
    fn a_file_that_was_not_searched_whole_is_a_fault_of_the_judge() {
        let mut evidence = planted();
        evidence.files.push(SeenFile { bytes: 1 << 30, ..file(&format!("{STORE}/big"), "x") });
        fails(&CANARY, &evidence);
    }

    #[test]
    fn what_is_meant_to_be_told_must_be_told_and_only_on_the_wire() {
        let mut evidence = planted();
        evidence.after.told = vec!["label".into()];
        fails(&CANARY, &evidence);
        let label = evidence.canaries["label"].clone();
        receive(&mut evidence, &format!(r#"{{"jsonrpc":"2.0","method":"x","params":"{label}"}}"#));
        holds(&CANARY, &evidence);
        evidence.servers[0].stderr = label;
        fails(&CANARY, &evidence);
    }

    #[test]
    fn a_world_with_fewer_canaries_than_it_says_fails() {
        let mut evidence = planted();
        evidence.after.canaries = Some(SOURCES.len());
        holds(&CANARY, &evidence);
        evidence.after.canaries = Some(99);
        fails(&CANARY, &evidence);
    }

    #[test]
    fn a_world_without_a_canary_has_nothing_to_find() {
        let evidence = Evidence { canaries: BTreeMap::new(), ..saved() };
        assert_eq!((CANARY.judge)(&evidence, Verdict::of(CANARY.id)).finish(), (Vec::new(), 0));
    }
}
