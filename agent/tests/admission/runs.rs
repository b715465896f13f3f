//! Which runs are started at all: a governed one only with an active admission of exactly its bundle.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use openadapt_agent::admission::RunRule;
use openadapt_agent::admission::run_rule::Unready;
use openadapt_agent::admission::watermark::Keeping;
use openadapt_agent::contract::failed_check::FailedCheck;
use openadapt_agent::contract::reason::Reason;
use openadapt_agent::flow::command::FlowSettings;
use serde_json::{Value, json};

use crate::forge::{Forge, canonical, sha256};

/// One thing that is changed, by its name.
type Change<T> = (&'static str, fn(&mut T));

const SEALED: &str = include_str!("../../src/workflows/testing/sealed_workflow.json");
const SEALED_DIGEST: &str = "sha256:9318c182665846957a97b5f18b9cd87f92cb9fbe12c8941dff87dc5d3d14f179";
/// Long ago: the rule reads the clock of this computer.
const THEN: &str = "2020-01-01T00:00:00Z";

struct Host {
    folder: tempfile::TempDir,
    forge: Forge,
    /// The digest that Flow told of an encrypted bundle.
    listed: Option<String>,
}

impl Host {
    /// A sealed bundle, and an authority file that admits it.
    fn new() -> Self {
        let mut forge = Forge::new();
        for document in [&mut forge.admission, &mut forge.receipt] {
            document["bundle_sha256"] = SEALED_DIGEST.into();
            document["issued_at"] = THEN.into();
            document["not_before"] = THEN.into();
        }
        for document in [&mut forge.authority, &mut forge.revocation] {
            document["observed_at"] = THEN.into();
            document["not_before"] = THEN.into();
        }
        let host = Self { folder: tempfile::tempdir().unwrap(), forge: forge.linked(), listed: None };
        std::fs::create_dir_all(host.path("bundle/templates")).unwrap();
        std::fs::write(host.path("bundle/workflow.json"), SEALED).unwrap();
        std::fs::write(host.path("bundle/templates/step_000.png"), "not really a picture").unwrap();
        host.write_authority(&host.forge.authority_file());
        host
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write_authority(&self, file: &Value) {
        std::fs::write(self.path("authority.json"), canonical(file)).unwrap();
        std::fs::set_permissions(self.path("authority.json"), Permissions::from_mode(0o600)).unwrap();
    }

    fn asked(&self, words: &[&str]) -> Option<Unready> {
        let extra = words.iter().map(|word| (*word).to_owned()).collect();
        let settings = FlowSettings { extra, ..FlowSettings::default() };
        let keeping = Keeping::beside(&self.path("runs"));
        RunRule::new(&settings, Some(self.forge.root()), keeping, None)
            .refuses(&self.path("bundle"), self.listed.as_deref())
    }

    fn governed(&self) -> Option<FailedCheck> {
        let authority = format!("--qualification-authority-file={}", self.path("authority.json").display());
        let unready = self.asked(&["--profile=standard", &authority])?;
        assert_eq!(unready.reason, Reason::NotReadyToRun);
        let [check] = unready.failed_checks[..] else { panic!("one check: {unready:?}") };
        Some(check)
    }
}

const INVALID: Option<FailedCheck> = Some(FailedCheck::ReadinessTestInvalid);

#[test]
fn a_governed_run_starts_with_an_admission_of_exactly_its_bundle() {
    let host = Host::new();
    assert_eq!(host.governed(), None);
    std::fs::write(host.path("bundle/templates/step_000.png"), "another picture").unwrap();
    assert_eq!(host.governed(), INVALID);
    let mut host = Host::new();
    for document in [&mut host.forge.admission, &mut host.forge.receipt] {
        document["bundle_sha256"] = sha256(b"another bundle").into();
    }
    host.forge = host.forge.clone().linked();
    host.write_authority(&host.forge.authority_file());
    assert_eq!(host.governed(), INVALID);
}

#[test]
fn a_governed_run_without_an_admission_has_no_readiness_test() {
    let host = Host::new();
    let none = Some(Unready { reason: Reason::NotReadyToRun, failed_checks: vec![FailedCheck::NoReadinessTest] });
    assert_eq!(host.asked(&["--profile=standard"]), none);
    assert_eq!(host.asked(&["--profile", "regulated"]), none);
    assert_eq!(host.asked(&["--profile=standard", "--qualification-authority-file=/nowhere/at/all"]), none);
}

#[test]
fn a_demo_needs_none_and_neither_does_a_run_without_a_profile() {
    let host = Host::new();
    assert_eq!(host.asked(&["--profile=demo"]), None);
    assert_eq!(host.asked(&[]), None);
    assert_eq!(host.asked(&["--profile=demo", "--qualification-authority-file=/nowhere/at/all"]), None);
}

#[test]
fn a_file_that_others_may_read_or_that_is_a_link_admits_nothing() {
    let host = Host::new();
    let file = host.path("authority.json");
    for mode in [0o644, 0o640, 0o700, 0o400] {
        std::fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
        assert_eq!(host.governed(), INVALID, "{mode:o}");
    }
    std::fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    assert_eq!(host.governed(), None);
    std::fs::rename(&file, host.path("real.json")).unwrap();
    std::os::unix::fs::symlink(host.path("real.json"), &file).unwrap();
    assert_eq!(host.governed(), INVALID);
}

#[test]
fn whatever_is_wrong_with_the_file_it_admits_nothing() {
    let changes: [Change<Value>; 8] = [
        ("an older file", |file| file["schema_version"] = json!("openadapt.production-qualification-authority/v1")),
        ("another member", |file| file["more"] = json!(1)),
        ("another digest", |file| file["qualification_admission_sha256"] = json!("0".repeat(64))),
        ("a prefixed digest", |file| {
            let digest = file["qualification_admission_sha256"].as_str().unwrap();
            file["qualification_admission_sha256"] = json!(format!("sha256:{digest}"));
        }),
        ("another registry", |file| file["qualification_signer_registry"]["revision"] = json!(2)),
        ("another decision", |file| file["decision_receipt"]["bundle_version"] = json!("3.2.2")),
        ("no state", |file| file["revocation_state"] = json!({})),
        ("a changed state", |file| file["revocation_state"]["revision"] = json!(2)),
    ];
    for (what, change) in changes {
        let host = Host::new();
        let mut file = host.forge.authority_file();
        change(&mut file);
        host.write_authority(&file);
        assert_eq!(host.governed(), INVALID, "{what}");
    }
    let host = Host::new();
    std::fs::write(host.path("authority.json"), "{}{}").unwrap();
    assert_eq!(host.governed(), INVALID);
}

#[test]
fn what_was_seen_revoked_admits_nothing_even_with_the_file_from_before() {
    let host = Host::new();
    assert_eq!(host.governed(), None);
    let id = host.forge.admission["admission_id_sha256"].as_str().unwrap();
    let mut revoking = host.forge.clone().revoking(&[("qualification-admission", id)]);
    revoking.revocation["observed_at"] = json!("2020-01-02T00:00:00Z");
    revoking.revocation["not_before"] = json!("2020-01-02T00:00:00Z");
    revoking.resign_revocation();
    host.write_authority(&revoking.authority_file());
    assert_eq!(host.governed(), INVALID);
}

#[test]
fn a_revocation_of_something_else_is_remembered() {
    let host = Host::new();
    let mut other = host.forge.clone().revoking(&[("qualification-admission", &sha256(b"something else"))]);
    other.revocation["observed_at"] = json!("2020-01-02T00:00:00Z");
    other.revocation["not_before"] = json!("2020-01-02T00:00:00Z");
    other.resign_revocation();
    host.write_authority(&other.authority_file());
    assert_eq!(host.governed(), None);
    host.write_authority(&host.forge.authority_file());
    assert_eq!(host.governed(), INVALID, "the state from before");
}

#[test]
fn a_bundle_on_data_of_real_people_rests_on_no_synthetic_evidence() {
    let host = Host::new();
    let text = SEALED.replace("\"contains_phi\": false", "\"contains_phi\": true");
    let text = if text == SEALED { SEALED.replacen('{', "{\"contains_phi\": true,", 1) } else { text };
    std::fs::write(host.path("bundle/workflow.json"), text).unwrap();
    assert_eq!(host.governed(), INVALID);
}

#[test]
fn an_encrypted_bundle_is_the_one_that_flow_told_of_and_may_hold_data_of_real_people() {
    let mut host = Host::new();
    std::fs::write(host.path("bundle/workflow.json.enc"), "{}").unwrap();
    assert_eq!(host.governed(), INVALID, "the plain file beside it isn't what would run");
    host.listed = Some(SEALED_DIGEST.trim_start_matches("sha256:").to_owned());
    assert_eq!(host.governed(), INVALID, "synthetic evidence");
    for document in [&mut host.forge.admission, &mut host.forge.receipt] {
        document["evidence_class"] = json!("private-customer");
    }
    host.forge = host.forge.clone().linked();
    host.write_authority(&host.forge.authority_file());
    assert_eq!(host.governed(), None);
    host.listed = Some("0".repeat(64));
    assert_eq!(host.governed(), INVALID, "another bundle");
}
