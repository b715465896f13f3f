//! Six Flows, each broken in one way: each gets a red certificate, red at the row that is about it.

#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use conformance::report::jsonl;
use conformance::requirement::State;
use conformance::run::events::Event;

const SAVED: &str = r#"
id = "broken/saved"
title = "A save is in the clinic, and done"
proves = ["PAR-standard-verified"]
[world]
engine = "any"
clinic = true
[flow]
steps = [{ gate = "admit" }, "run_dir", { effect = { label = "save", to = "$clinic" } }, { report = "verified" }]
[[do]]
call = "run_workflow"
args = { workflow = "triage", request_id = "$rid", inputs = { note = "$canary:note" } }
expect = { outcome = "done" }
capture = { run = "/run_id" }
[after]
clinic = { records = [{ note = "$canary:note" }] }
"#;

const KEPT: &str = r#"
id = "broken/kept"
title = "What was reserved stays reserved, with its outcome"
proves = ["LEDG-attempt-key"]
[world]
engine = "any"
[flow]
steps = [{ gate = "admit" }, "run_dir", { report = "rejected_policy" }]
[[do]]
call = "run_workflow"
args = { workflow = "triage", request_id = "$rid", inputs = { note = "$canary:note" } }
capture = { run = "/run_id" }
[after]
ledger = [{ key = "$sha256:rid:1", run_id = "$run", outcome = "REJECTED_POLICY" }]
"#;

const HALTED: &str = r#"
id = "broken/halted"
title = "A halt leaves a pause that a person can decide about"
proves = ["PAR-attention-is-flows-own"]
[world]
engine = "any"
[flow]
steps = [{ gate = "admit" }, "run_dir", { report = "halted_before_effect" }, { pause = { category = "disambiguation" } }]
[[do]]
call = "run_workflow"
args = { workflow = "triage", request_id = "$rid", inputs = { note = "$canary:note" } }
expect = { outcome = "needs_review" }
capture = { run = "/run_id", item = "/needs_attention_id" }
[[do]]
call = "get_attention_item"
args = { attention_id = "$item" }
expect = { status = "pending", capability = { allowed_actions = { contains = "reject" } } }
"#;

const ENDED: &str = r#"
id = "broken/ended"
title = "The process of a halted run ends as its report says"
proves = ["KEEP-leaves-exit-facts"]
[world]
engine = "any"
[flow]
steps = [{ gate = "admit" }, "run_dir", { report = "failed_platform" }]
[[do]]
call = "run_workflow"
args = { workflow = "triage", request_id = "$rid", inputs = { note = "$canary:note" } }
capture = { run = "/run_id" }
[[do]]
file = "$dispatch:run/exit.json"
expect = { end = "exited", code = 1 }
"#;

const DOUBT: &str = r#"
id = "broken/in-doubt"
title = "A save that nobody confirmed is in doubt"
proves = ["PAR-standard-in-doubt"]
[world]
engine = "any"
clinic = true
[flow]
steps = [{ gate = "admit" }, "run_dir", { effect = { label = "save", to = "$clinic" } }, { report = "reconciliation_required" }]
[[do]]
call = "run_workflow"
args = { workflow = "triage", request_id = "$rid", inputs = { note = "$canary:note" } }
expect = { outcome = "not_sure_if_saved", record_changed = "unknown" }
"#;

const CONTINUED: &str = r#"
id = "broken/continued"
title = "Continue saves once"
proves = ["ATT-continue-never-again"]
[world]
mode = "attended"
capabilities = { elicitation = {} }
forms = "accept"
engine = "any"
clinic = true
serve = ["--config", "$world/deployment.yaml"]
files = [{ path = "$world/deployment.yaml", text = "backend: {}" }]
[flow]
steps = ["run_dir", { report = "failed_platform" }, { pause = { category = "halt" } }]
bridge = { live = true, on = { continue = [{ effect = { label = "save", to = "$clinic" } }, { report = "verified" }] } }
[[do]]
call = "run_workflow"
args = { workflow = "triage", request_id = "$rid", inputs = { note = "$canary:note" } }
expect = { outcome = "needs_review" }
capture = { run = "/run_id", item = "/needs_attention_id" }
[[do]]
call = "get_attention_item"
args = { attention_id = "$item" }
capture = { digest = "/capability/digest" }
[[do]]
call = "continue_attention"
args = { attention_id = "$item", capability_digest = "$digest", idempotency_key = "key-$rid", human_completed = true }
expect = { status = "completed", success = true }
[after]
clinic = { records = [{ note = "$canary:note" }] }
"#;

/// How a Flow is broken, and the rows that must be red for it: no other.
const BROKEN: [(&str, &[&str]); 7] = [
    ("in-no-way", &[]),
    ("exits-0-on-a-halt", &["KEEP-leaves-exit-facts"]),
    ("verified-without-a-write", VERIFIED_WITHOUT),
    ("lies-about-the-outcome", &["PAR-standard-in-doubt"]),
    ("wrong-hmac", &["PAR-attention-is-flows-own", "ATT-continue-never-again"]),
    ("second-actuation", &["ATT-continue-never-again"]),
    ("forgets-the-ledger", &["LEDG-attempt-key"]),
];

/// Nothing that this Flow says depends on what it did.
const VERIFIED_WITHOUT: &[&str] = &[
    "PAR-standard-verified",
    "LEDG-attempt-key",
    "PAR-attention-is-flows-own",
    "KEEP-leaves-exit-facts",
    "PAR-standard-in-doubt",
    "ATT-continue-never-again",
];

fn beside(name: &str) -> PathBuf {
    let judge = Path::new(env!("CARGO_BIN_EXE_conformance"));
    let path = judge.with_file_name(name);
    assert!(path.is_file(), "{name} isn't built: `cargo build --workspace` builds it");
    path
}

fn conformance(words: &[&str]) -> (i32, String) {
    // Nothing is built within a test: the workspace's tests have built all programs.
    let Output { status, stdout, stderr } =
        Command::new(env!("CARGO_BIN_EXE_conformance")).args(words).env_remove("CARGO").output().unwrap();
    let said = [stdout, stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    (status.code().unwrap(), said)
}

struct Room(tempfile::TempDir);

impl Room {
    fn new() -> Self {
        let room = Self(tempfile::tempdir().unwrap());
        let bodies = [SAVED, KEPT, HALTED, ENDED, DOUBT, CONTINUED];
        fs::create_dir(room.0.path().join("bodies")).unwrap();
        for (at, body) in bodies.iter().enumerate() {
            fs::write(room.0.path().join(format!("bodies/{at}.toml")), body).unwrap();
        }
        let (exit, list) = conformance(&["freeze", "--name", "broken", "--scenarios", &room.path("bodies")]);
        assert_eq!(exit, 0, "{list}");
        fs::write(room.0.path().join("set.json"), list).unwrap();
        room
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    fn certify(&self, flow: &str, out: &str) -> (i32, String) {
        let agent = beside("openadapt-agent").display().to_string();
        let (bodies, set, out) = (self.path("bodies"), self.path("set.json"), self.path(out));
        conformance(&[
            "certify",
            "--flow",
            flow,
            "--agent",
            &agent,
            "--scenarios",
            &bodies,
            "--set",
            &set,
            "--out",
            &out,
        ])
    }

    fn verify(&self, out: &str, more: &[&str]) -> (i32, String) {
        let (bodies, set, out) = (self.path("bodies"), self.path("set.json"), self.path(out));
        conformance(&[&["verify", &out, "--scenarios", &bodies, "--set", &set], more].concat())
    }

    fn red(&self, out: &str) -> BTreeSet<String> {
        let events = jsonl::read(&self.0.path().join(out).join("report.jsonl")).unwrap();
        let Some(Event::Finished(finished)) = events.last() else { panic!("no end") };
        let rows = finished.matrix.rows.iter().filter(|row| row.state != State::Proven);
        rows.map(|row| row.id.to_string()).collect()
    }
}

fn broken(how: &str) -> String {
    let program = beside("examples/broken_flow").display().to_string();
    format!("{program} {how} {}", beside("flow-fake").display())
}

#[test]
fn each_broken_flow_is_red_at_its_own_row_and_its_certificate_holds_together() {
    let room = Room::new();
    for (how, rows) in BROKEN {
        let (exit, said) = room.certify(&broken(how), how);
        let expected: BTreeSet<String> = rows.iter().map(|row| (*row).to_owned()).collect();
        assert_eq!(room.red(how), expected, "{how}: {said}");
        assert_eq!(exit, if rows.is_empty() { 0 } else { 100 }, "{how}: {said}");
        assert!(said.contains("neither an admission nor a Seal"), "{said}");
        assert_eq!(room.verify(how, &[]).0, exit, "{how} isn't judged the same again");
    }
    let (exit, said) = room.verify("in-no-way", &["--flow", &beside("mockmed").display().to_string()]);
    assert_eq!(exit, 96, "{said}");
    let (exit, said) = room.verify("in-no-way", &["--flow", &beside("flow-fake").display().to_string()]);
    assert_eq!(exit, 102, "{said}");
    assert!(said.contains("the one that was named has") && said.contains("hint: "), "{said}");
}

#[test]
fn what_is_no_flow_gets_a_sentence_and_no_certificate() {
    let room = Room::new();
    for (flow, why) in [
        ("/no/such/program", "can't be started"),
        (&*beside("mockmed").display().to_string(), "isn't openadapt-flow"),
        ("/bin/echo openadapt-flow", "isn't openadapt-flow"),
    ] {
        let (exit, said) = room.certify(flow, "none");
        assert_eq!(exit, 96, "{flow}: {said}");
        assert!(said.contains(why) && said.contains("hint: "), "{flow}: {said}");
        assert!(!Path::new(&room.path("none")).exists());
    }
}

#[test]
fn a_certificate_that_was_edited_is_bad_evidence_with_a_sentence_and_a_hint() {
    let room = Room::new();
    let (exit, said) = room.certify(&broken("in-no-way"), "honest");
    assert_eq!(exit, 0, "{said}");
    let page = room.0.path().join("honest/index.html");
    let text = fs::read_to_string(&page).unwrap();
    fs::write(&page, text.replacen("passed", "passes", 1)).unwrap();
    let (exit, said) = room.verify("honest", &[]);
    assert_eq!(exit, 102, "{said}");
    assert!(said.contains("index.html was changed") && said.contains("hint: "), "{said}");
}
