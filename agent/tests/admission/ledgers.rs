//! The frame of a release ledger, its history, and how its bytes are read.

use openadapt_agent::admission::Reason;
use openadapt_agent::admission::status::Verification;
use serde_json::{Value, json};

use crate::forge::{Forge, hash_row};
use crate::world::{World, bytes, judged};

/// One thing that is changed, by its name.
type Change<T> = (&'static str, fn(&mut T));

fn changed(change: impl FnOnce(&mut Value)) -> Result<(), Reason> {
    let forge = Forge::new();
    let mut ledger = forge.ledger();
    change(&mut ledger);
    World::of(forge.root()).verdict(&ledger, Some(&forge.pack()))
}

fn of_bytes(bytes: &[u8]) -> Result<(), Reason> {
    let forge = Forge::new();
    World::of(forge.root()).look(bytes, None, Some(&crate::world::bytes(&forge.pack()))).verdict
}

#[test]
fn the_frame_is_closed_and_constant() {
    let malformed: [Change<Value>; 14] = [
        ("another key", |ledger| ledger["more"] = json!(1)),
        ("a key less", |ledger| drop(ledger.as_object_mut().unwrap().remove("policy_revision"))),
        ("a fallback", |ledger| ledger["derivation"]["fallback_to_older_release"] = json!(true)),
        ("another derivation", |ledger| ledger["derivation"]["mode"] = json!("static")),
        ("a true number", |ledger| ledger["policy_revision"] = json!(true)),
        ("no revision", |ledger| ledger["policy_revision"] = json!(0)),
        ("another source", |ledger| ledger["source"]["repository"] = json!("else/where")),
        ("another commit", |ledger| ledger["source"]["source_commit"] = json!("b".repeat(40))),
        ("a file less", |ledger| drop(ledger["source"]["files"].as_object_mut().unwrap().remove("validator"))),
        ("a file elsewhere", |ledger| ledger["source"]["files"]["policy"]["url"] = json!("https://example.org/")),
        ("six targets", |ledger| drop(ledger["targets"].as_array_mut().unwrap().pop())),
        ("eight targets", |ledger| {
            let one = ledger["targets"][3].clone();
            ledger["targets"].as_array_mut().unwrap().push(one);
        }),
        ("a target twice", |ledger| ledger["targets"][6] = ledger["targets"][5].clone()),
        ("a target of no known name", |ledger| ledger["targets"][6]["id"] = json!("other")),
    ];
    for (what, change) in malformed {
        assert_eq!(changed(change), Err(Reason::LedgerMalformed), "{what}");
    }
    assert_eq!(changed(|_| {}), Ok(()));
    let schema = |ledger: &mut Value| ledger["schema_version"] = json!("openadapt.public-production-lifecycle/v2");
    assert_eq!(changed(schema), Err(Reason::LedgerSchemaUnsupported));
}

#[test]
fn a_header_says_what_its_target_always_says() {
    for (key, value) in [
        ("release_kind", json!("package")),
        ("required_claim_scope", json!("production_agent")),
        ("source_repository", json!("OpenAdaptAI/openadapt-flow")),
        ("required_artifact_kinds", json!(["wheel"])),
    ] {
        let verdict = changed(|ledger| ledger["targets"][0][key] = value);
        assert_eq!(verdict, Err(Reason::TargetContractMismatch), "{key}");
    }
}

fn two_rows() -> Forge {
    let mut forge = Forge::new();
    let mut second = forge.latest().clone();
    second["release_identity"]["sequence"] = json!(2);
    forge.rows.push(second);
    forge.linked()
}

#[test]
fn a_chain_of_two_is_judged_by_its_last() {
    assert_eq!(judged(&two_rows()), Ok(()));
    let mut expired = two_rows();
    expired.rows[1]["expires_at"] = json!("2026-10-15T08:00:00Z");
    assert_eq!(judged(&expired.linked()), Err(Reason::AdmissionExpired));
    let mut only_old_pack = two_rows();
    let old = Forge::new();
    only_old_pack.rows[1]["evidence_class"] = json!("private-customer");
    let only_old_pack = only_old_pack.linked();
    let world = World::of(only_old_pack.root());
    assert_eq!(world.verdict(&only_old_pack.ledger(), Some(&old.pack())), Err(Reason::SignatureUnavailable));
}

#[test]
fn a_history_counts_from_one_and_names_what_came_before() {
    let broken: [Change<Value>; 4] = [
        ("a gap", |rows| rows[1]["release_identity"]["sequence"] = json!(3)),
        ("a wrong predecessor", |rows| {
            rows[1]["release_identity"]["previous_admission_sha256"] = json!(format!("sha256:{}", "0".repeat(64)));
        }),
        ("no predecessor", |rows| rows[1]["release_identity"]["previous_admission_sha256"] = Value::Null),
        ("the wrong order", |rows| rows.as_array_mut().unwrap().reverse()),
    ];
    for (what, change) in broken {
        let forge = two_rows();
        let mut ledger = forge.ledger();
        change(&mut ledger["targets"][0]["admission_history"]);
        ledger["targets"][0]["latest_admission"] = ledger["targets"][0]["admission_history"][1].clone();
        let verdict = World::of(forge.root()).verdict(&ledger, Some(&forge.pack()));
        assert_eq!(verdict, Err(Reason::HistoryBroken), "{what}");
    }
}

#[test]
fn the_latest_is_the_last_of_the_history() {
    let forge = two_rows();
    let verdict = |change: fn(&mut Value)| {
        let mut ledger = forge.ledger();
        change(&mut ledger["targets"][0]);
        World::of(forge.root()).verdict(&ledger, Some(&forge.pack()))
    };
    assert_eq!(verdict(|target| target["latest_admission"] = Value::Null), Err(Reason::LatestMismatch));
    let first = |target: &mut Value| target["latest_admission"] = target["admission_history"][0].clone();
    assert_eq!(verdict(first), Err(Reason::LatestMismatch));
    assert_eq!(verdict(|target| target["admission_history"] = json!([])), Err(Reason::LatestMismatch));
    let none = |target: &mut Value| {
        target["latest_admission"] = Value::Null;
        target["admission_history"] = json!([]);
    };
    assert_eq!(verdict(none), Err(Reason::NoAdmission));
}

#[test]
fn a_row_of_an_older_schema_is_unsupported_and_not_read() {
    let mut forge = Forge::new();
    forge.rows[0]["schema_version"] = json!("openadapt.qualification-release/v1");
    hash_row(&mut forge.rows[0]);
    assert_eq!(judged(&forge), Err(Reason::AdmissionSchemaUnsupported));
}

#[test]
fn bytes_that_two_readers_could_read_differently_are_not_read() {
    let good = String::from_utf8(bytes(&Forge::new().ledger())).unwrap();
    let sequence = r#""sequence":1"#;
    assert!(good.contains(sequence));
    for (what, text) in [
        ("a key twice", good.replacen("{", r#"{"policy_revision":7,"#, 1)),
        ("a float", good.replace(sequence, r#""sequence":1.0"#)),
        ("an exponent", good.replace(sequence, r#""sequence":1e0"#)),
        ("a mark", format!("\u{feff}{good}")),
        ("more behind it", format!("{good}x")),
        ("a second document", format!("{good}{good}")),
        ("no number", good.replace(sequence, r#""sequence":NaN"#)),
        ("depth", "[".repeat(10_000) + &"]".repeat(10_000)),
        ("nothing", String::new()),
        ("half of it", good[..good.len() / 2].to_owned()),
    ] {
        assert_eq!(of_bytes(text.as_bytes()), Err(Reason::LedgerNotJson), "{what}");
    }
    let as_bool = good.replace(sequence, r#""sequence":true"#);
    assert_eq!(of_bytes(as_bool.as_bytes()), Err(Reason::LedgerMalformed));
    assert_eq!(of_bytes(good.as_bytes()), Ok(()));
    assert_eq!(of_bytes(format!("{good}\n").as_bytes()), Ok(()));
}

#[test]
fn a_ledger_over_its_size_is_not_read() {
    let mut ledger = bytes(&Forge::new().ledger());
    ledger.resize(2 << 20, b' ');
    assert_eq!(of_bytes(&ledger), Ok(()));
    ledger.push(b' ');
    assert_eq!(of_bytes(&ledger), Err(Reason::LedgerTooLarge));
}

#[test]
fn what_is_no_regular_file_is_unavailable_and_nobody_waits_for_it() {
    let world = World::of(Forge::new().root());
    let pipe = world.path("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0).unwrap();
    std::os::unix::fs::symlink(world.path("b"), world.path("a")).unwrap();
    std::os::unix::fs::symlink(world.path("a"), world.path("b")).unwrap();
    for place in [pipe, world.path("a"), world.path("nothing"), world.folder.path().to_owned()] {
        let status = world.look_at(&place, None, None);
        assert_eq!((status.verdict, status.verification), (Err(Reason::LedgerUnavailable), Verification::None));
        assert!(status.targets.iter().all(|(_, verdict)| *verdict == Err(Reason::LedgerUnavailable)));
    }
}
