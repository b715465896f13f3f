use proptest::prelude::*;

use super::super::key::{PrivateKey, tests::PRIVATE};
use super::super::render::render;
use super::super::sample::{Sample, sample};
use super::*;

fn private() -> PrivateKey {
    PrivateKey::parse(PRIVATE).unwrap()
}

fn written(sample: &Sample, key: Option<&PrivateKey>) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    sample.write(folder.path(), key);
    folder
}

fn verified(sample: &Sample, folder: &Path, known: &Known) -> Result<Verified, Rejection> {
    verify(folder, &sample.set, sample.measure(), known)
}

fn rejected(sample: &Sample, folder: &Path, known: &Known) -> Rejection {
    verified(sample, folder, known).expect_err("it was accepted")
}

/// Somebody who makes every digest anew, which an unsigned certificate can't keep anybody from.
fn restate(folder: &Path) {
    let text = fs::read_to_string(folder.join(STATEMENT)).unwrap();
    let payload = serde_json::from_str::<Envelope>(&text).unwrap().payload().unwrap();
    let mut statement: Value = serde_json::from_slice(&payload).unwrap();
    let entries = statement["predicate"]["configuration"].as_array_mut().unwrap();
    for entry in entries {
        let path = folder.join(entry["name"].as_str().unwrap());
        if let Ok(bytes) = fs::read(path) {
            entry["digest"]["sha256"] = sha256(&bytes).into();
        }
    }
    let again = Envelope::around((serde_json::to_string_pretty(&statement).unwrap() + "\n").as_bytes(), None);
    fs::write(folder.join(STATEMENT), again.to_json()).unwrap();
}

#[test]
fn what_was_written_is_verified_signed_or_not() {
    let sample = sample();
    let folder = written(&sample, None);
    let unsigned = verified(&sample, folder.path(), &Known::default()).unwrap();
    assert_eq!((unsigned.signed_by.len(), unsigned.rendered.finished.summary.passed), (0, 3));
    let key = private();
    let folder = written(&sample, Some(&key));
    let known = Known { key: Some(key.public()), ..Known::default() };
    assert_eq!(verified(&sample, folder.path(), &known).unwrap().signed_by, [key.public().id()]);
}

#[test]
fn an_edited_byte_is_rejected() {
    let sample = sample();
    for name in ["index.html", "junit.xml", "README.md", "badge.svg", "matrix.md"] {
        let folder = written(&sample, None);
        let mut bytes = fs::read(folder.path().join(name)).unwrap();
        bytes[40] ^= 1;
        fs::write(folder.path().join(name), bytes).unwrap();
        let rejection = rejected(&sample, folder.path(), &Known::default());
        assert!(rejection.said.starts_with(&format!("{name} was changed")), "{rejection}");
        // Even with every digest made anew it isn't what the evidence says.
        restate(folder.path());
        let rejection = rejected(&sample, folder.path(), &Known::default());
        assert!(rejection.said.contains("judged again"), "{name}: {rejection}");
    }
}

#[test]
fn a_verdict_that_was_edited_along_with_all_its_digests_is_rejected() {
    let mut sample = sample();
    // A done without a save, called passed.
    sample.stored.evidence[0].journal.retain(|line| !line.is_effect());
    let honest = render(&sample.stored, sample.measure()).unwrap();
    assert_eq!(honest.finished.summary.failed, 1);
    let lie = super::super::sample::sample();
    let folder = written(&lie, None);
    fs::write(folder.path().join(EVIDENCE), sample.stored.to_jsonl().unwrap()).unwrap();
    restate(folder.path());
    let rejection = rejected(&sample, folder.path(), &Known::default());
    assert!(rejection.said.contains("judged again"), "{rejection}");
}

#[test]
fn expectations_that_were_weakened_in_the_evidence_are_rejected() {
    let mut sample = sample();
    let weaker = serde_json::json!({"call": "run_workflow", "args": {}, "expect": {}});
    sample.stored.evidence[0].steps[0].action = serde_json::from_value(weaker).unwrap();
    let folder = written(&sample, None);
    let rejection = rejected(&sample, folder.path(), &Known::default());
    assert!(rejection.said.contains("isn't of the scenario that was frozen"), "{rejection}");
}

#[test]
fn a_removed_case_is_rejected() {
    let mut sample = sample();
    sample.stored.evidence.remove(1);
    let folder = written(&sample, None);
    let rejection = rejected(&sample, folder.path(), &Known::default());
    assert!(rejection.said.contains("1 of 3 scenarios of the frozen list have no evidence"), "{rejection}");
}

#[test]
fn a_shorter_list_is_not_the_frozen_one() {
    let sample = sample();
    let folder = written(&sample, None);
    let mut shorter = sample.set.clone();
    shorter.scenarios.pop();
    let rejection = verify(folder.path(), &shorter, sample.measure(), &Known::default()).unwrap_err();
    assert!(rejection.said.contains("it was judged with the list"), "{rejection}");
}

#[test]
fn a_swapped_program_is_rejected() {
    let mut sample = sample();
    let folder = written(&sample, None);
    let other = sha256(b"another program");
    for known in [
        Known { flow_sha256: Some(other.clone()), ..Known::default() },
        Known { agent_sha256: Some(other.clone()), ..Known::default() },
    ] {
        let rejection = rejected(&sample, folder.path(), &known);
        assert!(rejection.said.contains("the one that was named has"), "{rejection}");
    }
    // The evidence of one program under the statement about another.
    sample.stored.header.flow.sha256 = other;
    fs::write(folder.path().join(EVIDENCE), sample.stored.to_jsonl().unwrap()).unwrap();
    let rejection = rejected(&sample, folder.path(), &Known::default());
    assert!(rejection.said.starts_with("the statement is about openadapt-flow"), "{rejection}");
}

#[test]
fn a_missing_footer_is_rejected() {
    let sample = sample();
    for (name, word) in [(REPORT, "cut off"), (EVIDENCE, "last line is missing")] {
        let folder = written(&sample, None);
        let text = fs::read_to_string(folder.path().join(name)).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        fs::write(folder.path().join(name), lines[..lines.len() - 1].join("\n") + "\n").unwrap();
        let rejection = rejected(&sample, folder.path(), &Known::default());
        assert!(rejection.said.starts_with(name) && rejection.said.contains(word), "{rejection}");
    }
}

#[test]
fn a_wrong_key_is_rejected_and_so_is_none_where_one_was_named() {
    let sample = sample();
    let other = PrivateKey::of([9; 32]);
    let folder = written(&sample, Some(&other));
    let known = Known { key: Some(private().public()), ..Known::default() };
    assert!(rejected(&sample, folder.path(), &known).said.starts_with("it is signed by another key"));
    let folder = written(&sample, None);
    assert!(rejected(&sample, folder.path(), &known).said.starts_with("it is unsigned"));
}

#[test]
fn a_file_that_nobody_stated_is_rejected() {
    let sample = sample();
    let folder = written(&sample, None);
    fs::write(folder.path().join("more.html"), "x").unwrap();
    assert!(rejected(&sample, folder.path(), &Known::default()).said.contains("was put into the folder"));
}

#[test]
fn a_case_that_was_not_run_is_failed_and_never_passed_over() {
    let mut sample = sample();
    sample.stored.evidence.truncate(1);
    let rendered = render(&sample.stored, sample.measure()).unwrap();
    assert_eq!((rendered.finished.summary.unrun, rendered.finished.summary.passed), (2, 1));
    assert!(rendered.statement.contains("\"FAILED\"") && rendered.statement.contains("\"two\""));
    let html = &rendered.files.iter().find(|(name, _)| name == "index.html").unwrap().1;
    assert!(html.contains("never run"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_bit_of_a_signed_certificate_can_be_flipped(file in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), bit in 0u8..8) {
        thread_local! {
            static WRITTEN: (Sample, tempfile::TempDir) = {
                let sample = sample();
                let folder = written(&sample, Some(&private()));
                (sample, folder)
            };
        }
        WRITTEN.with(|(sample, folder)| {
            let mut names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
            names.sort();
            let path = &names[file.index(names.len())];
            let whole = fs::read(path).unwrap();
            let mut flipped = whole.clone();
            flipped[at.index(whole.len())] ^= 1 << bit;
            fs::write(path, flipped).unwrap();
            let known = Known { key: Some(private().public()), ..Known::default() };
            let outcome = verified(sample, folder.path(), &known);
            fs::write(path, whole).unwrap();
            prop_assert!(outcome.is_err(), "{} at {:?}", path.display(), at);
            Ok(())
        })?;
    }
}
