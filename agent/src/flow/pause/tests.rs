//! Real pauses (see `schemas/samples/README.md`), and each with one thing broken.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use super::*;

const OPEN: Pause = Pause::Open(PauseCategory::Disambiguation);

struct Paused(tempfile::TempDir);

impl Paused {
    /// A run directory like that sample, with the key's mode as Flow makes it.
    fn like(sample: &str) -> Self {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schemas/samples/flow-1.35.1").join(sample);
        let paused = Self(tempfile::tempdir().expect("a temporary folder"));
        for entry in fs::read_dir(source).expect("the sample is there").flatten().filter(|entry| entry.path().is_file())
        {
            fs::copy(entry.path(), paused.path(entry.file_name().to_str().expect("a plain name"))).expect("a copy");
        }
        let key = paused.path(".attended_capability.key");
        if key.exists() {
            fs::set_permissions(key, fs::Permissions::from_mode(0o600)).expect("a mode");
        }
        paused
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn edit(&self, name: &str, edit: impl Fn(&str) -> String) {
        let text = fs::read_to_string(self.path(name)).expect("text");
        let edited = edit(&text);
        assert_ne!(text, edited, "the edit changes something");
        fs::write(self.path(name), edited).expect("a written file");
    }

    fn pause(&self) -> Pause {
        read(&RunDir::open(self.0.path()))
    }
}

#[test]
fn the_category_and_the_state_of_real_pauses_are_read() {
    for (sample, pause) in [
        ("normal", Pause::None),
        ("after_continue", Pause::None),
        ("after_resume", Pause::None),
        ("duplicate_record", OPEN),
        ("after_teach_escalate", OPEN),
        ("after_approve", OPEN),
        ("after_reject", Pause::Rejected(PauseCategory::Disambiguation)),
        ("timeout_after_save", Pause::Open(PauseCategory::Postcondition)),
        ("false_saved_banner", Pause::Open(PauseCategory::Other)),
    ] {
        assert_eq!(Paused::like(sample).pause(), pause, "{sample}");
    }
}

#[test]
fn a_folder_that_is_not_there_has_no_pause_and_a_link_to_one_cannot_be_trusted() {
    let paused = Paused::like("duplicate_record");
    assert_eq!(read(&RunDir::open(&paused.path("nothing"))), Pause::None);
    symlink(paused.0.path(), paused.path("link")).expect("a link");
    assert_eq!(read(&RunDir::open(&paused.path("link"))), UNVERIFIED);
}

#[test]
fn whatever_is_changed_in_the_pause_makes_its_category_unknown() {
    for (from, to) in [
        ("\"disambiguation\"", "\"identity\""),
        ("\"step_index\": 0", "\"step_index\": 1"),
        ("604800.0", "604800"),
        ("\"pending\"", "\"done\""),
        ("{", "[{"),
        ("\"run_id\"", "\"run\""),
    ] {
        let paused = Paused::like("duplicate_record");
        paused.edit("pending_escalation.json", |text| text.replacen(from, to, 1));
        assert_eq!(paused.pause(), UNVERIFIED, "{from}");
    }
}

#[test]
fn a_rejection_that_cannot_be_verified_is_an_open_pause() {
    let paused = Paused::like("after_reject");
    fs::remove_file(paused.path("attended_capability.json")).expect("removed");
    assert_eq!(paused.pause(), UNVERIFIED);
}

#[test]
fn a_capability_that_does_not_verify_makes_the_category_unknown() {
    for (from, to) in [
        ("hmac-sha256:", "hmac-sha256:00"),
        ("\"signature\": \"hmac-sha256:", "\"signature\": \"sha256:"),
        ("\"reject\"", "\"continue\""),
        ("\"event_sequence\": 1", "\"event_sequence\": 2"),
        ("\"schema_version\": 3", "\"schema_version\": 1"),
    ] {
        let paused = Paused::like("duplicate_record");
        let last = |text: &str| text.rfind(from).map(|at| format!("{}{to}{}", &text[..at], &text[at + from.len()..]));
        paused.edit("attended_capability.json", |text| last(text).expect("it is there"));
        assert_eq!(paused.pause(), UNVERIFIED, "{from}");
    }
}

#[test]
fn a_key_that_is_missing_short_or_open_to_others_verifies_nothing() {
    let key = ".attended_capability.key";
    let paused = Paused::like("duplicate_record");
    fs::set_permissions(paused.path(key), fs::Permissions::from_mode(0o640)).expect("a mode");
    assert_eq!(paused.pause(), UNVERIFIED);
    fs::set_permissions(paused.path(key), fs::Permissions::from_mode(0o600)).expect("a mode");
    assert_eq!(paused.pause(), OPEN);
    fs::write(paused.path(key), [7; 31]).expect("a short key");
    assert_eq!(paused.pause(), UNVERIFIED);
    fs::remove_file(paused.path(key)).expect("removed");
    assert_eq!(paused.pause(), UNVERIFIED);
}

#[test]
fn an_encrypted_or_unreadable_pause_is_open() {
    let paused = Paused::like("duplicate_record");
    fs::rename(paused.path("pending_escalation.json"), paused.path("pending_escalation.json.enc")).expect("renamed");
    assert_eq!(paused.pause(), UNVERIFIED);
    fs::create_dir(paused.path("pending_escalation.json")).expect("a folder");
    assert_eq!(paused.pause(), UNVERIFIED);
}

#[test]
fn a_pause_of_another_run_is_not_this_capabilitys() {
    let paused = Paused::like("duplicate_record");
    let other = Paused::like("after_teach_escalate");
    fs::copy(other.path("pending_escalation.json"), paused.path("pending_escalation.json")).expect("a copy");
    assert_eq!(paused.pause(), UNVERIFIED);
}
